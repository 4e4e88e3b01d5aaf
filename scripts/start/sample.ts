import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { inRoot } from '../paths.ts';
import { isCatalogError } from '#shared/errors.ts';
import { makeSample } from '../sample.ts';

// A test opens a window of its own beside the one a person may have open.
const windowFolder = process.env['LANCE_CATALOG_WINDOW'] ?? inRoot('.sample');

/** Where the sample lies; git-ignored, safe to delete. */
export const sample = {
  catalog: inRoot('.sample/catalog'),
  /** The folder that the window opens. */
  folder: join(windowFolder, 'notebooks'),
  notebook: join(windowFolder, 'notebooks/tour.ipynb'),
  profile: join(windowFolder, 'window'),
} as const;

/**
 * Makes the sample catalog and the tour notebook, or reuses them: a notebook that a person has changed stays as it is.
 * @returns whether there is a sample; there is none where the engine for local tables does not exist
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
