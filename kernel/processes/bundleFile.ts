import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const here = import.meta.dirname;

/** Returns the path of a bundle: beside the running one, or in dist/ if the sources run unbundled. */
export const bundleFile = (name: string): string =>
  basename(here) === 'dist' ? join(here, name) : join(packageFolder(), 'dist', name);

/** Returns the nearest folder above this file that has a package.json. */
export function packageFolder(): string {
  for (let folder = here; ; folder = dirname(folder))
    if (existsSync(join(folder, 'package.json')) || dirname(folder) === folder) return folder;
}
