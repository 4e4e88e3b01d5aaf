import { basename, join } from 'node:path';

/** A Python file of this folder: beside the bundles, or here where sources run as they are. */
export const driverFile = (name: 'backfill.py' | 'rayProbe.py' = 'backfill.py'): string =>
  join(import.meta.dirname, name);

/** A bundle, from code of this folder. */
export const bundleFile = (name: string): string => {
  const here = import.meta.dirname;
  return basename(here) === 'dist' ? join(here, name) : join(here, '../../../dist', name);
};
