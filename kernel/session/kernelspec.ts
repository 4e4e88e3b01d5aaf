import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** The name of our kernel in Jupyter and in notebooks, where nothing else is said. */
export const kernelName = 'lance-typescript';
/** What people read in its place. */
export const kernelDisplayName = 'TypeScript (Lance Catalog)';

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
  return join(absolute(env['XDG_DATA_HOME']) ?? join(home, '.local', 'share'), 'lance-catalog');
}

/** The XDG specification has variables that are empty or relative ignored; they would be folders of the notebook's. */
const absolute = (path: string | undefined): string | undefined =>
  path !== undefined && isAbsolute(path) ? path : undefined;

/** Jupyter's data folder of a person (jupyter_core's rules). */
export function jupyterFolder({ env, platform, home }: Surroundings = here()): string {
  if (env['JUPYTER_DATA_DIR']) return env['JUPYTER_DATA_DIR'];
  if (platform === 'win32') return join(env['APPDATA'] ?? join(home, 'AppData', 'Roaming'), 'jupyter');
  if (platform === 'darwin') return join(home, 'Library', 'Jupyter');
  // As jupyter_core, which takes a relative one.
  return join(env['XDG_DATA_HOME'] || join(home, '.local', 'share'), 'jupyter');
}
