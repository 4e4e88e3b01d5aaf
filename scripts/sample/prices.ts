import type { Table as ArrowTable } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { int64, money, tableOf, texts } from './columns.ts';
import { between, seeded } from './random.ts';

const perBatch = 120;

/** Creates dollar prices of the products `from` to `from + perBatch - 1`: each euro price times a random factor. */
function makePrices(season: string, from: number, cents: Int32Array): ArrowTable {
  const random = seeded(from + season.length);
  const rows = Array.from({ length: perBatch }, (_, row) => from + row);
  return tableOf({
    product_id: int64(BigInt64Array.from(rows, (row) => BigInt(row + 1))),
    season: texts(rows.map(() => season)),
    price: money(rows.map((row) => Math.round(cents[row]! * between(random, 1.05, 1.3)))),
  });
}

/** Creates a table with four versions: created, two additions, and deleted rows. */
export async function createPrices(catalog: Catalog, namespacePath: string[], cents: Int32Array): Promise<void> {
  const table = await catalog.createTable('prices', makePrices('spring', 0, cents), { namespacePath });
  await table.add(makePrices('summer', perBatch, cents));
  await table.add(makePrices('autumn', 2 * perBatch, cents));
  await table.delete('product_id % 10 = 0');
}
