import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endGroup, trackProcessGroup } from '../../../scripts/processes.ts';
import { tail } from '../../../scripts/workbench/server.ts';
import { python } from '../../harness/needs/python.ts';
import { sleep } from '../support.ts';
import type { JupyterHome } from './jupyterHome.ts';

/** A JupyterLab of its own, which a browser on this machine reaches. */
export type JupyterLab = {
  /** The folder of notebooks it shows. */
  readonly folder: string;
  /** The address of a notebook in `folder`, with what lets a browser in. */
  address(notebook: string): string;
  stop(): Promise<void>;
};

/** Seconds until a server that does not listen is an error; a cold start reads ten thousand files of Python. */
const startLimit = 90;

// What would ask the network, or a person who did not come for it.
const calm = {
  '@jupyterlab/apputils-extension:notification': { fetchNews: 'false', checkForUpdates: false },
  '@jupyterlab/docmanager-extension:plugin': { autosave: false },
};

/** Starts JupyterLab where the kernel is installed. Its port is free, its token new, and both are in nobody's argv. */
export async function startJupyterLab({ home, env }: JupyterHome): Promise<JupyterLab> {
  const folder = join(home, 'notebooks');
  const config = join(home, 'config');
  for (const each of [folder, join(config, 'labconfig')]) mkdirSync(each, { recursive: true });
  const settings = {
    ServerApp: { ip: '127.0.0.1', port: 18888, port_retries: 1000, open_browser: false, root_dir: folder },
    LabApp: { extension_manager: 'readonly' },
  };
  writeFileSync(join(config, 'jupyter_server_config.json'), JSON.stringify(settings));
  writeFileSync(join(config, 'labconfig/default_setting_overrides.json'), JSON.stringify(calm));
  const token = randomBytes(16).toString('hex');
  const log = join(home, 'jupyterlab.log');
  const file = openSync(log, 'w');
  const child = spawn(python(), ['-m', 'jupyterlab', ...(process.getuid?.() === 0 ? ['--allow-root'] : [])], {
    env: { ...process.env, ...env, JUPYTER_TOKEN: token },
    stdio: ['ignore', file, file],
    detached: true,
    cwd: folder,
  });
  closeSync(file);
  trackProcessGroup(child);
  let end: string | undefined;
  child.once('exit', (code, signal) => (end = `it ended with ${code ?? signal}`));
  child.once('error', (error) => (end = error.message));
  // SIGTERM makes it end its kernels, each of which leads a group of its own.
  const stop = () => endGroup(child, 20_000);
  for (const deadline = Date.now() + startLimit * 1000; ; await sleep(100)) {
    const root = addressIn(env['JUPYTER_RUNTIME_DIR'] ?? '');
    if (root !== undefined)
      return { folder, address: (notebook) => `${root}lab/tree/${notebook}?reset&token=${token}`, stop };
    if (end !== undefined || Date.now() > deadline) {
      await stop();
      throw new Error(`JupyterLab did not start (${end ?? `nothing listened within ${startLimit} s`}).\n${tail(log)}`);
    }
  }
}

/** What a server that listens has written about itself. */
function addressIn(runtime: string): string | undefined {
  const name = existsSync(runtime) ? readdirSync(runtime).find((each) => /^jpserver-\d+\.json$/.test(each)) : undefined;
  if (name === undefined) return undefined;
  try {
    const { url } = JSON.parse(readFileSync(join(runtime, name), 'utf8')) as { url?: unknown };
    return typeof url === 'string' ? url : undefined;
  } catch {
    // Half written.
    return undefined;
  }
}
