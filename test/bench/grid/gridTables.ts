import { randomBytes } from 'node:crypto';
import {
  Binary,
  type Data,
  Field,
  Float64,
  Int64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  Uint8,
  Utf8,
  vectorFromArray,
} from '#arrow';
import { type DirCatalog, openDir } from '#engine/dir/dirCatalog.ts';
import { encodePng } from '../../../scripts/sample/pictures.ts';
import { benchFolder } from '../data.ts';

/** Increase this when the generated data changes. */
const dataVersion = 2;

/** The tables of the benchmark, by name, with their numbers of columns. */
export const gridTables = {
  narrow: 7,
  wide: 400,
  widest: 2_000,
  small_images: 3,
  large_images: 3,
  million: 1,
  hundred_million: 1,
} as const;

/** Returns the root of a catalog with the tables, generated once. */
export const gridCatalog = (say: (line: string) => void): Promise<string> =>
  benchFolder(
    `grid-v${dataVersion}`,
    async (root) => {
      const catalog = await openDir({ root });
      await catalog.createTable('narrow', numbers(200_000, gridTables.narrow));
      await catalog.createTable('wide', numbers(10_000, gridTables.wide));
      await catalog.createTable('widest', numbers(2_000, gridTables.widest));
      await catalog.createTable('small_images', images(1_000, 173));
      await catalog.createTable('large_images', images(200, 418));
      await createConstants(catalog, 'million', 1);
      await createConstants(catalog, 'hundred_million', 100);
      await catalog.close();
    },
    say,
  );

/**
 * Creates a table of one byte a row, always the same one, which takes hardly any space on disk. Each million of rows is
 * a fragment.
 */
async function createConstants(catalog: DirCatalog, name: string, millions: number): Promise<void> {
  const fields = [new Field('constant', new Uint8(), true)];
  const rows = 1_000_000;
  const part = tableOf(fields, rows, [
    makeData({ type: new Uint8(), length: rows, data: new Uint8Array(rows).fill(7) }),
  ]);
  const table = await catalog.createTable(name, part);
  for (let added = 1; added < millions; added++) await table.add(part);
}

/** Returns a table of numbers that have many digits. */
export function numbers(rows: number, columns: number): Table {
  const fields = Array.from({ length: columns }, (_, column) => new Field(`f${column}`, new Float64(), true));
  const children = fields.map((_, column) =>
    makeData({
      type: new Float64(),
      length: rows,
      data: Float64Array.from({ length: rows }, (__, row) => Math.sin(row + column) * 1_000),
    }),
  );
  return tableOf(fields, rows, children);
}

/** Returns a table of square images of noise, which hardly compress: 173 pixels are 120 KB, 418 are 700 KB. */
function images(rows: number, side: number): Table {
  const made = Array.from({ length: 16 }, () =>
    encodePng({ width: side, height: side, rgba: new Uint8Array(randomBytes(side * side * 4)) }),
  );
  return imageTable(
    Array.from({ length: rows }, (_, row) => row),
    made,
  );
}

/** Returns a table with a row for each number: its caption, and one of the images in turn. */
export function imageTable(ids: readonly number[], made: readonly Uint8Array[]): Table {
  const fields = [
    new Field('id', new Int64(), true),
    new Field('caption', new Utf8(), true),
    new Field('image', new Binary(), true, new Map([['mime', 'image/png']])),
  ];
  const children = [
    vectorFromArray(ids.map(BigInt), new Int64()).data[0]!,
    vectorFromArray(
      ids.map((row) => `image number ${row}`),
      new Utf8(),
    ).data[0]!,
    vectorFromArray(
      ids.map((row) => made[row % made.length]!),
      new Binary(),
    ).data[0]!,
  ];
  return tableOf(fields, ids.length, children);
}

function tableOf(fields: Field[], length: number, children: Data[]): Table {
  const schema = new Schema(fields);
  const data = makeData({ type: new Struct(fields), length, nullCount: 0, children });
  return new Table(schema, [new RecordBatch(schema, data)]);
}
