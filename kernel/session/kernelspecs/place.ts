import { delimiter, join, resolve } from 'node:path';
import { homedir } from 'node:os';
import { CatalogError } from '#shared/errors.ts';
import { jupyterFolder } from '#session/kernelspec.ts';

/** Where Jupyter shall find a kernelspec. */
export type SpecPlace = { kind: 'user' } | { kind: 'prefix'; folder: string } | { kind: 'sys-prefix' };

type Surroundings = {
  env: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
  home: string;
};
const here = (): Surroundings => ({ env: process.env, platform: process.platform, home: homedir() });

const share = (prefix: string): string => join(prefix, 'share', 'jupyter');

/**
 * The folder that holds the kernelspecs of a place, a folder each.
 * @throws CatalogError InvalidInput (13) for `sys-prefix` where no Python environment is active
 */
export function kernelsFolder(place: SpecPlace, surroundings: Surroundings = here()): string {
  switch (place.kind) {
    case 'user':
      return join(jupyterFolder(surroundings), 'kernels');
    case 'prefix':
      return join(share(resolve(place.folder)), 'kernels');
    case 'sys-prefix': {
      const prefix = activeEnvironment(surroundings);
      if (prefix !== undefined) return join(share(prefix), 'kernels');
      throw new CatalogError(
        'InvalidInput',
        '--sys-prefix means the active Python environment, and none is active: neither VIRTUAL_ENV nor CONDA_PREFIX is set.',
        'Activate the environment of your Jupyter, or use --user or --prefix DIR.',
      );
    }
  }
}

/** A virtual environment inside one of conda is the one that was activated last. */
const activeEnvironment = ({ env }: Surroundings): string | undefined =>
  env['VIRTUAL_ENV'] || env['CONDA_PREFIX'] || undefined;

/** Every folder in which Jupyter looks for kernelspecs here, by its own rules, in no order of rank. */
export function knownFolders(surroundings: Surroundings = here()): string[] {
  const { env, platform } = surroundings;
  const active = activeEnvironment(surroundings);
  const system =
    platform === 'win32'
      ? [join(env['PROGRAMDATA'] ?? 'C:\\ProgramData', 'jupyter')]
      : [share('/usr/local'), share('/usr')];
  const folders = [
    ...(env['JUPYTER_PATH'] ?? '').split(delimiter).filter((each) => each !== ''),
    jupyterFolder(surroundings),
    ...(active === undefined ? [] : [share(active)]),
    ...system,
  ];
  return [...new Set(folders.map((each) => join(each, 'kernels')))];
}
