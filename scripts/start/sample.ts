import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { inRoot } from '../paths.ts';
import { isCatalogError } from '#shared/errors.ts';
import { makeSample } from '../sample.ts';

// Tests set this variable, so that they don't use the sample of the user's window.
const windowFolder = process.env['LANCE_CATALOG_WINDOW'] ?? inRoot('.sample');

/** Paths of the sample; git-ignored, safe to delete. */
export const sample = {
  catalog: inRoot('.sample/catalog'),
  folder: join(windowFolder, 'notebooks'),
  notebook: join(windowFolder, 'notebooks/tour.ipynb'),
  profile: join(windowFolder, 'window'),
} as const;

/**
 * Creates the sample catalog and the tour notebook, or reuses them: changes to the notebook stay.
 * @returns whether the sample catalog exists; false on platforms without the engine for local tables
 */
export async function prepareSample(say: (line: string) => void): Promise<boolean> {
  mkdirSync(sample.folder, { recursive: true });
  if (!existsSync(sample.notebook)) copyFileSync(inRoot('scripts/sample/tour.ipynb'), sample.notebook);
  try {
    await makeSample(sample.catalog);
    return true;
  } catch (error) {
    if (!isCatalogError(error, 'Unsupported')) throw error;
    say(`Can't create the sample catalog, so the tour can't run: ${error.message}`);
    return false;
  }
}
