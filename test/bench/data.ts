import { existsSync, statfsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  Field,
  Float64,
  Int32,
  Int64,
  Schema,
  Struct,
  TimestampMicrosecond,
  Utf8,
  RecordBatch,
  Table,
  makeData,
} from '#arrow';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { inRoot } from '../../scripts/paths.ts';

/** Increase this when the generated rows change. */
const dataVersion = 1;
const rowsPerAdd = 1_000_000;
const bytesPerRow = 40;

const schema = new Schema([
  new Field('id', new Int64(), false),
  new Field('at', new TimestampMicrosecond('UTC'), true),
  new Field('price', new Float64(), true),
  new Field('quantity', new Int32(), true),
  new Field('country', new Utf8(), true),
]);

export type BenchTable = { root: string; name: string; rows: number };

/**
 * Returns a git-ignored folder, filled once and kept. It is filled elsewhere and then moved, so that an interrupted run
 * leaves no incomplete folder.
 */
export async function benchFolder(
  name: string,
  fill: (folder: string) => Promise<void>,
  say?: (line: string) => void,
): Promise<string> {
  const root = inRoot(`.sample/bench/${name}`);
  if (existsSync(join(root, 'complete'))) return root;
  const building = `${root}.building-${process.pid}`;
  say?.(`generating ${name} …`);
  try {
    await mkdir(building, { recursive: true });
    await fill(building);
    await writeFile(join(building, 'complete'), '');
    await rm(root, { recursive: true, force: true });
    await rename(building, root);
  } finally {
    await rm(building, { recursive: true, force: true });
  }
  return root;
}

/**
 * Returns a table with the given millions of rows: five narrow columns, with the same rows on every machine.
 * @throws Error if the disk is full
 */
export async function benchTable(millions: number, say: (line: string) => void): Promise<BenchTable> {
  const [name, rows] = ['events', millions * rowsPerAdd];
  const fill = async (folder: string): Promise<void> => {
    checkSpace(folder, rows * bytesPerRow);
    const catalog = await openDir({ root: folder });
    const events = await catalog.createEmptyTable(name, schema);
    for (let part = 0; part < millions; part++) await events.add(makeRows(part * rowsPerAdd, rowsPerAdd));
    await catalog.close();
  };
  return { root: await benchFolder(`${millions}m-v${dataVersion}`, fill, say), name, rows };
}

function checkSpace(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize > 2 * bytes) return;
  throw new Error(`${folder} needs ${Math.ceil((2 * bytes) / 1e6)} MB of free space.`);
}

const countries = ['DE', 'FR', 'IT', 'ES', 'PL', 'SE', 'NL', 'PT'].map((name) => new TextEncoder().encode(name));

/** Creates rows with numbers that hardly compress, from a linear generator whose seed is the first row. */
function makeRows(start: number, count: number): Table {
  const ids = new BigInt64Array(count);
  const times = new BigInt64Array(count);
  const prices = new Float64Array(count);
  const quantities = new Int32Array(count);
  const letters = new Uint8Array(count * 2);
  const offsets = new Int32Array(count + 1);
  let seed = (start + 1) >>> 0;
  for (let row = 0; row < count; row++) {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    ids[row] = BigInt(start + row);
    times[row] = 1_700_000_000_000_000n + BigInt(start + row) * 1000n;
    prices[row] = seed / 1000;
    quantities[row] = seed % 1000;
    letters.set(countries[(seed >>> 13) % countries.length]!, row * 2);
    offsets[row + 1] = (row + 1) * 2;
  }
  const [id, at, price, quantity, country] = schema.fields;
  const children = [
    makeData({ type: id!.type, length: count, data: ids }),
    makeData({ type: at!.type, length: count, data: times }),
    makeData({ type: price!.type, length: count, data: prices }),
    makeData({ type: quantity!.type, length: count, data: quantities }),
    makeData({ type: country!.type as Utf8, length: count, valueOffsets: offsets, data: letters }),
  ];
  const data = makeData({ type: new Struct(schema.fields), length: count, nullCount: 0, children });
  return new Table(schema, [new RecordBatch(schema, data)]);
}
