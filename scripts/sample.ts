// Creates the sample catalog: `node scripts/sample.ts <directory>`. The generated data is the same on every machine.
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { connect } from '#catalog/connect.ts';
import type { Catalog } from '#catalog/catalog.ts';
import { registerDir } from '#engine/register.ts';
import { makeFeatures } from './sample/features.ts';
import { makeOrders, returnsSchema } from './sample/orders.ts';
import { makePhotos } from './sample/photos.ts';
import { createPrices } from './sample/prices.ts';
import { makeProducts } from './sample/products.ts';
import { createRecordings } from './sample/recordings.ts';

/** Increase this when the generated data changes, so that an older catalog is recreated. */
const sampleVersion = 2;
const marker = '.lance-catalog-sample.json';

type SampleOptions = {
  /** Whether the catalog also has the namespace `media`: photos, a table of 400 columns, and blobs. */
  withMedia?: boolean;
  /** Called with each line of progress. */
  log?: (line: string) => void;
};

/**
 * Creates the sample catalog in a directory, unless the directory has a current one. Builds the catalog next to the
 * directory and moves it at the end, so that an interrupted run leaves no incomplete catalog.
 * @throws Error if the directory contains something else
 */
export async function makeSample(root: string, options: SampleOptions = {}): Promise<void> {
  const target = resolve(root);
  const { withMedia = false } = options;
  const content = markerOf(withMedia);
  const found = await stateOf(target, content);
  if (found === 'current') return;
  if (found === 'foreign') {
    throw new Error(`"${target}" is not empty and not a sample catalog: choose another directory.`);
  }
  options.log?.(`creating the sample catalog in ${target}`);
  const folder = dirname(target);
  await mkdir(folder, { recursive: true });
  const building = `${target}.building-${process.pid}`;
  await rm(building, { recursive: true, force: true });
  try {
    await build(building, withMedia);
    await writeFile(join(building, marker), `${content}\n`);
    await moveInto(building, target, content);
  } finally {
    await rm(building, { recursive: true, force: true });
  }
}

const markerOf = (withMedia: boolean): string =>
  JSON.stringify({ version: sampleVersion, ...(withMedia && { media: true }) });

async function build(root: string, withMedia: boolean): Promise<void> {
  registerDir();
  const catalog = await connect(root);
  try {
    for (const namespace of [['shop'], ['shop', 'eu'], ['shop', 'us'], ['lab']])
      await catalog.createNamespace(namespace);
    const products = makeProducts();
    await catalog.createTable('products', products.table, { namespacePath: ['shop'] });
    await catalog.createTable('orders', makeOrders(products.cents), { namespacePath: ['shop', 'eu'] });
    await catalog.createEmptyTable('returns', returnsSchema, { namespacePath: ['shop', 'eu'] });
    await createPrices(catalog, ['shop', 'us'], products.cents);
    if (withMedia) await createMedia(catalog);
  } finally {
    await catalog.close();
  }
}

async function createMedia(catalog: Catalog): Promise<void> {
  const namespacePath = ['media'];
  await catalog.createNamespace(namespacePath);
  await catalog.createTable('photos', makePhotos(), { namespacePath });
  await catalog.createTable('features', makeFeatures(), { namespacePath });
  await createRecordings(catalog, namespacePath);
}

/** @param content of the marker of a current catalog */
async function stateOf(root: string, content: string): Promise<'missing' | 'current' | 'outdated' | 'foreign'> {
  const text = await readFile(join(root, marker), 'utf8').catch(() => undefined);
  if (text !== undefined) return text.trim() === content ? 'current' : 'outdated';
  const names = await readdir(root).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.length === 0 ? 'missing' : 'foreign';
}

async function moveInto(building: string, target: string, content: string): Promise<void> {
  const old = `${target}.old-${process.pid}`;
  const hadOld = await rename(target, old).then(
    () => true,
    () => false,
  );
  try {
    await rename(building, target);
  } catch (error) {
    // Ignore the error if another process has created the catalog meanwhile.
    if ((await stateOf(target, content)) !== 'current') throw error;
  } finally {
    if (hadOld) await rm(old, { recursive: true, force: true });
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const root = process.argv[2];
  if (root === undefined) {
    console.error('usage: node scripts/sample.ts <directory>');
    process.exitCode = 2;
  } else {
    await makeSample(root, { log: (line) => console.log(line) });
  }
}
