import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endGroup, trackProcessGroup } from '../../../scripts/processes.ts';
import { tail } from '../../../scripts/workbench/server.ts';
import { python } from '../../harness/needs/python.ts';
import { sleep } from '../support.ts';
import type { JupyterHome } from './jupyterHome.ts';

/** A separate JupyterLab that a browser on this machine can reach. */
export type JupyterLab = {
  /** The folder in which it finds notebooks. */
  readonly folder: string;
  /** Returns the URL of a notebook in `folder`, with the token. */
  address(notebook: string): string;
  stop(): Promise<void>;
};

/** Seconds until the server must listen; a cold start reads ten thousand Python files. */
const startLimit = 90;

// Turns off features that send network requests or prompt the user.
const calm = {
  '@jupyterlab/apputils-extension:notification': { fetchNews: 'false', checkForUpdates: false },
  '@jupyterlab/docmanager-extension:plugin': { autosave: false },
};

/**
 * Starts JupyterLab where the kernel is installed, at a free port with a new token. Neither the port nor the token is
 * in an argv.
 */
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
  // On SIGTERM it ends its kernels, each of which is in a separate process group.
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

/** Returns the address from the file that a listening server writes. */
function addressIn(runtime: string): string | undefined {
  const name = existsSync(runtime) ? readdirSync(runtime).find((each) => /^jpserver-\d+\.json$/.test(each)) : undefined;
  if (name === undefined) return undefined;
  try {
    const { url } = JSON.parse(readFileSync(join(runtime, name), 'utf8')) as { url?: unknown };
    return typeof url === 'string' ? url : undefined;
  } catch {
    // The file is not complete yet.
    return undefined;
  }
}
