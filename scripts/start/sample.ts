import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { inRoot } from '../paths.ts';
import { isCatalogError } from '#shared/errors.ts';
import { sample } from './windowData.ts';
import { makeSample } from '../sample.ts';

/**
 * Creates the sample catalog, the tour notebook and a SQL file, or reuses them: changes to the files stay.
 * @returns whether the sample catalog exists; false on platforms without the engine for local tables
 */
export async function prepareSample(say: (line: string) => void): Promise<boolean> {
  mkdirSync(sample.folder, { recursive: true });
  if (!existsSync(sample.notebook)) copyFileSync(inRoot('scripts/sample/tour.ipynb'), sample.notebook);
  if (!existsSync(sample.queries)) copyFileSync(inRoot('scripts/sample/customers.sql'), sample.queries);
  try {
    await makeSample(sample.catalog, { withMedia: true });
    return true;
  } catch (error) {
    if (!isCatalogError(error, 'Unsupported')) throw error;
    say(`Can't create the sample catalog, so the tour can't run: ${error.message}`);
    return false;
  }
}
