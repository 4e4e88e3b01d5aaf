import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inRoot } from '../../../scripts/paths.ts';
import { type Need, run } from './installing.ts';

/** The packages of each client of the server that runs in Python. Each has an environment in `.toolchain`. */
const clients = {
  pylance: ['pylance==14.0.2', 'lance-namespace==0.13.0', 'lance-namespace-urllib3-client==0.13.0', 'pyarrow==26.0.1'],
  daft: ['daft==0.7.26', 'daft-lance==0.6.0', 'pandas==3.1.1'],
  lanceRay: ['ray[data]==2.60.0', 'lance-ray==0.5.0'],
} as const;

export type PythonClient = keyof typeof clients;

const folderOf = (client: PythonClient): string => inRoot(`.toolchain/client-${client}`);

/** Returns the Python of a client. */
export const clientPython = (client: PythonClient): string => join(folderOf(client), 'bin/python');

function environment(client: PythonClient, download: number, disk: number): Need {
  const folder = folderOf(client);
  const stamp = join(folder, 'installed');
  const wanted = clients[client].join('\n');
  return {
    title: `${clients[client].join(', ')} (.toolchain/client-${client})`,
    download,
    disk,
    isThere: () => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted,
    install: async (say) => {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(dirname(folder), { recursive: true });
      say(`  installing ${clients[client].join(', ')} …`);
      run('python3', ['-m', 'venv', folder]);
      const options = ['--quiet', '--disable-pip-version-check'];
      run(clientPython(client), ['-m', 'pip', 'install', ...options, ...clients[client]]);
      writeFileSync(stamp, wanted);
    },
  };
}

export const pythonClientNeeds: readonly Need[] = [
  environment('pylance', 110, 400),
  environment('daft', 250, 900),
  environment('lanceRay', 250, 900),
];
