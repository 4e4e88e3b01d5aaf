import { delimiter, join, resolve } from 'node:path';
import { userEnvironment, type UserEnvironment } from '#processes/userFolders.ts';
import { CatalogError } from '#shared/errors.ts';

/** Default name of the kernel in Jupyter and in notebooks. */
export const kernelName = 'lance-typescript';
/** Default name for display. */
export const kernelDisplayName = 'TypeScript (Lance Catalog)';

/** Returns the user's Jupyter data folder, by the rules of jupyter_core. */
export function jupyterFolder({ env, platform, home }: UserEnvironment = userEnvironment()): string {
  if (env['JUPYTER_DATA_DIR']) return env['JUPYTER_DATA_DIR'];
  if (platform === 'win32') return join(env['APPDATA'] ?? join(home, 'AppData', 'Roaming'), 'jupyter');
  if (platform === 'darwin') return join(home, 'Library', 'Jupyter');
  // A relative path is accepted, because jupyter_core accepts it too.
  return join(env['XDG_DATA_HOME'] || join(home, '.local', 'share'), 'jupyter');
}

export type KernelspecLocation = { kind: 'user' } | { kind: 'prefix'; folder: string } | { kind: 'sys-prefix' };

const share = (prefix: string): string => join(prefix, 'share', 'jupyter');

/**
 * Returns the folder that contains the kernelspec folders of a location.
 * @throws CatalogError InvalidInput (13) for `sys-prefix` if no Python environment is active
 */
export function kernelsFolder(place: KernelspecLocation, environment: UserEnvironment = userEnvironment()): string {
  switch (place.kind) {
    case 'user':
      return join(jupyterFolder(environment), 'kernels');
    case 'prefix':
      return join(share(resolve(place.folder)), 'kernels');
    case 'sys-prefix': {
      const prefix = activeEnvironment(environment);
      if (prefix !== undefined) return join(share(prefix), 'kernels');
      throw new CatalogError(
        'InvalidInput',
        "Can't use --sys-prefix: no Python environment is active, since neither VIRTUAL_ENV nor CONDA_PREFIX is set.",
        'Activate the environment of Jupyter, or use --user or --prefix DIR.',
      );
    }
  }
}

/**
 * Returns the folder of the active Python environment. If both variables are set, the virtual environment counts,
 * because it was activated after the conda environment.
 */
const activeEnvironment = ({ env }: UserEnvironment): string | undefined =>
  env['VIRTUAL_ENV'] || env['CONDA_PREFIX'] || undefined;

/** Returns every folder where Jupyter searches for kernelspecs on this machine, not in order of precedence. */
export function knownFolders(environment: UserEnvironment = userEnvironment()): string[] {
  const { env, platform } = environment;
  const active = activeEnvironment(environment);
  const system =
    platform === 'win32'
      ? [join(env['PROGRAMDATA'] ?? 'C:\\ProgramData', 'jupyter')]
      : [share('/usr/local'), share('/usr')];
  const folders = [
    ...(env['JUPYTER_PATH'] ?? '').split(delimiter).filter((each) => each !== ''),
    jupyterFolder(environment),
    ...(active === undefined ? [] : [share(active)]),
    ...system,
  ];
  return [...new Set(folders.map((each) => join(each, 'kernels')))];
}
