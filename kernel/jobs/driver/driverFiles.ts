import { join } from 'node:path';

/** Python files are beside the bundles, or in this folder if sources run unbundled. */
export const driverFile = (name: 'backfill.py' | 'rayProbe.py' = 'backfill.py'): string =>
  join(import.meta.dirname, name);
