import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { NodeRuntime } from '#client/childProcess.ts';
import { kernelFlags } from '#client/nodeVersion.ts';
import { CatalogError } from '#shared/errors.ts';

/** Where Jupyter shall find the kernelspec. */
export type SpecPlace = { kind: 'user' } | { kind: 'prefix'; folder: string } | { kind: 'sys-prefix' };

export const kernelName = 'lance-typescript';
const displayName = 'TypeScript (Lance Catalog)';

type Surroundings = {
  env: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
  home: string;
};
const here = (): Surroundings => ({ env: process.env, platform: process.platform, home: homedir() });

/** Our own folder among a person's application data. */
export function dataFolder({ env, platform, home }: Surroundings = here()): string {
  if (platform === 'win32') return join(env['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local'), 'lance-catalog');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'lance-catalog');
  return join(env['XDG_DATA_HOME'] ?? join(home, '.local', 'share'), 'lance-catalog');
}

/** Jupyter's data folder of a person (jupyter_core's rules). */
export function jupyterFolder({ env, platform, home }: Surroundings = here()): string {
  if (env['JUPYTER_DATA_DIR']) return env['JUPYTER_DATA_DIR'];
  if (platform === 'win32') return join(env['APPDATA'] ?? join(home, 'AppData', 'Roaming'), 'jupyter');
  if (platform === 'darwin') return join(home, 'Library', 'Jupyter');
  return join(env['XDG_DATA_HOME'] ?? join(home, '.local', 'share'), 'jupyter');
}

/**
 * Writes the kernelspec, and the launcher that it points to. The installation is remembered, so that the launcher finds
 * the newest one whatever happens to this one.
 * @param installation the folder that holds `package.json` and `dist/`
 * @returns the folder of the kernelspec
 * @throws CatalogError PermissionDenied (15) naming what can't be read or written
 */
export async function installKernelspec(options: {
  place: SpecPlace;
  installation: string;
  node: NodeRuntime;
}): Promise<string> {
  const { place, installation, node } = options;
  const own = join(dataFolder(), 'kernel');
  const launcher = join(own, 'launcher.cjs');
  const spec = join(await shareFolder(place), 'kernels', kernelName);
  try {
    await mkdir(own, { recursive: true });
    await copyFile(join(installation, 'dist', 'launcher.cjs'), launcher);
    await remember(join(own, 'installed.json'), installation);
    await mkdir(spec, { recursive: true });
    const content = {
      // Not those of today's version: the Node of this path may be another one tomorrow. The launcher adds them.
      argv: [node.path, ...kernelFlags(), launcher, '--connection-file={connection_file}'],
      display_name: displayName,
      language: 'typescript',
      interrupt_mode: 'message',
      env: node.env,
    };
    await writeFile(join(spec, 'kernel.json'), `${JSON.stringify(content, null, 2)}\n`);
    return spec;
  } catch (cause) {
    // A copy has two paths, of which the second is written.
    const { dest, path = dest ?? spec, syscall } = Object(cause) as { dest?: string; path?: string; syscall?: string };
    throw new CatalogError(
      'PermissionDenied',
      `The kernelspec can't be installed: "${syscall === 'copyfile' ? dest : path}" can't be written.`,
      'Use --user, or --prefix with a folder of yours.',
      { cause },
    );
  }
}

async function remember(file: string, installation: string): Promise<void> {
  const others = (await remembered(file)).filter((each) => each !== installation);
  await writeFile(file, `${JSON.stringify([...others, installation], null, 2)}\n`);
}

/** The installations in the file. A broken one is as none, as for the launcher: it is written anew just now. */
async function remembered(file: string): Promise<unknown[]> {
  try {
    const known: unknown = JSON.parse(await readFile(file, 'utf8'));
    return Array.isArray(known) ? known : [];
  } catch {
    return [];
  }
}

async function shareFolder(place: SpecPlace): Promise<string> {
  switch (place.kind) {
    case 'user':
      return jupyterFolder();
    case 'prefix':
      return join(resolve(place.folder), 'share', 'jupyter');
    case 'sys-prefix':
      return join(await pythonPrefix(), 'share', 'jupyter');
  }
}

async function pythonPrefix(): Promise<string> {
  for (const python of ['python3', 'python']) {
    try {
      const { stdout } = await promisify(execFile)(python, ['-c', 'import sys; print(sys.prefix)'], {
        timeout: 10_000,
      });
      return stdout.trim();
    } catch {
      // The other name may be there.
    }
  }
  const what = '--sys-prefix needs a Python on PATH, and there is none.';
  throw new CatalogError('InvalidInput', what, 'Activate the environment of your Jupyter, or use --prefix=DIR.');
}
