import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { inRoot } from '../paths.ts';
import { makeSample } from '../sample.ts';

/** Where the sample lies; git-ignored, safe to delete. */
export const sample = {
  catalog: inRoot('.sample/catalog'),
  /** The folder that the window opens. */
  folder: inRoot('.sample/notebooks'),
  notebook: inRoot('.sample/notebooks/tour.ipynb'),
  profile: inRoot('.sample/window'),
} as const;

/** Makes the sample catalog and the tour notebook, or reuses them: a notebook that a person has changed stays as it is. */
export async function prepareSample(): Promise<void> {
  mkdirSync(sample.folder, { recursive: true });
  await makeSample(sample.catalog);
  if (!existsSync(sample.notebook)) copyFileSync(inRoot('scripts/sample/tour.ipynb'), sample.notebook);
}
