import { join } from 'node:path';
import type { CellLanguage } from '#shared/kernelMessages.ts';
import { surroundings, type Surroundings } from '#client/personFolders.ts';

/** The name of our kernel in Jupyter and in notebooks, where nothing else is said. */
export const kernelName = 'lance-typescript';
/** What people read in its place. */
export const kernelDisplayName = 'TypeScript (Lance Catalog)';

/** The name of tslab's kernel for JavaScript; the one for TypeScript is called `tslab`. */
const javascriptKernel = 'jslab';

/** The language of a kernel that is known by its name alone. */
export const languageOfKernel = (name: unknown): CellLanguage =>
  name === javascriptKernel ? 'javascript' : 'typescript';

/** Jupyter's data folder of a person (jupyter_core's rules). */
export function jupyterFolder({ env, platform, home }: Surroundings = surroundings()): string {
  if (env['JUPYTER_DATA_DIR']) return env['JUPYTER_DATA_DIR'];
  if (platform === 'win32') return join(env['APPDATA'] ?? join(home, 'AppData', 'Roaming'), 'jupyter');
  if (platform === 'darwin') return join(home, 'Library', 'Jupyter');
  // As jupyter_core, which takes a relative one.
  return join(env['XDG_DATA_HOME'] || join(home, '.local', 'share'), 'jupyter');
}
