import { join } from 'node:path';
import { surroundings, type Surroundings } from '#client/personFolders.ts';

/** The name of our kernel in Jupyter and in notebooks, where nothing else is said. */
export const kernelName = 'lance-typescript';
/** What people read in its place. */
export const kernelDisplayName = 'TypeScript (Lance Catalog)';

/** Jupyter's data folder of a person (jupyter_core's rules). */
export function jupyterFolder({ env, platform, home }: Surroundings = surroundings()): string {
  if (env['JUPYTER_DATA_DIR']) return env['JUPYTER_DATA_DIR'];
  if (platform === 'win32') return join(env['APPDATA'] ?? join(home, 'AppData', 'Roaming'), 'jupyter');
  if (platform === 'darwin') return join(home, 'Library', 'Jupyter');
  // As jupyter_core, which takes a relative one.
  return join(env['XDG_DATA_HOME'] || join(home, '.local', 'share'), 'jupyter');
}
