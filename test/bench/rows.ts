import { readRows } from '#catalog/arrow/rowValues.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { benchTable } from './data.ts';
import { type Figure, inTurns } from './report.ts';

/** Compares our conversion of a million rows to objects with Apache Arrow's own conversion, which keeps raw values. */
export async function benchRows(runs: number, say: (line: string) => void): Promise<Figure[]> {
  const { root, name } = await benchTable(1, say);
  const catalog = await openDir({ root });
  const table = await (await catalog.openTable(name)).query().toArrow();
  await catalog.close();
  say(`1 million rows as objects, median of ${runs} after a warm-up:`);
  const { ours, arrows } = await inTurns(
    {
      ours: () => Promise.resolve(readRows(table).length),
      arrows: () => Promise.resolve(table.toArray().map((row) => row.toJSON()).length),
    },
    runs,
  );
  return [
    { name: '1 M: rows as objects', value: ours, unit: 'ms' },
    { name: "1 M: Apache Arrow's rows as objects", value: arrows, unit: 'ms' },
    { name: "1 M: rows / Apache Arrow's", value: ours / arrows, unit: '×', goal: 1.3 },
  ];
}
