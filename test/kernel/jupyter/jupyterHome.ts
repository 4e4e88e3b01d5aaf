import assert from 'node:assert/strict';
import { join } from 'node:path';
import { snapshotVariable } from '#processes/startSnapshot.ts';
import { shareKernelSnapshot } from '../../harness/kernelSnapshot.ts';
import { tempFolder } from '../../harness/temp.ts';
import { cliEntry, command, sampleCatalog } from '../support.ts';

/** A separate Jupyter with our kernel installed. This Jupyter neither reads nor writes files of the user. */
export type JupyterHome = { home: string; env: Record<string, string>; said: string };

/** Returns the environment that makes the folder the home of a Jupyter and of our kernels. */
export const jupyterFolders = (home: string) => ({
  HOME: home,
  XDG_DATA_HOME: join(home, 'data'),
  JUPYTER_DATA_DIR: join(home, 'jupyter'),
  JUPYTER_RUNTIME_DIR: join(home, 'run'),
  JUPYTER_CONFIG_DIR: join(home, 'config'),
  IPYTHONDIR: join(home, 'ipython'),
});

/**
 * @param hasSnapshot whether its kernels start from a snapshot, with a relay; without one, they open their own sockets
 */
export async function installedKernel({ hasSnapshot = true } = {}): Promise<JupyterHome> {
  const home = tempFolder();
  const env = {
    ...jupyterFolders(home),
    ...(hasSnapshot ? shareKernelSnapshot(join(home, 'cache')) : { [snapshotVariable]: 'off' }),
    PYTHONDONTWRITEBYTECODE: '1',
    LANCE_CATALOG: await sampleCatalog(),
  };
  const { code, stdout, stderr } = await command(process.execPath, [cliEntry, 'kernel', 'install'], { env });
  assert.equal(code, 0, stderr);
  return { home, env, said: stdout };
}
