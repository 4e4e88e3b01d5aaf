// Measures sorted and filtered views of a table on a server: `node viewsRunner.ts '{"uri": …}'` prints one line of JSON.
// It is a separate process, as the views of a window are.
import { registerRest } from '#catalog/rest/register.ts';
import { openRest } from '#catalog/rest/restCatalog.ts';
import type { ViewSpec } from '#catalog/view/listRows.ts';
import { TableView } from '#catalog/view/tableView.ts';
import { processMemory } from '../../harness/processMemory.ts';

export type ViewsOrder = { uri: string; name: string; spec: ViewSpec; columns: readonly string[]; runs: number };
/** Milliseconds of each run: the first 500 rows, the list of row ids, and a page of 500 rows far down in it. */
export type ViewsRun = { first: number[]; list: number[]; deep: number[]; rows: number; peak: number };

const { uri, name, spec, columns, runs } = JSON.parse(process.argv[2] ?? '') as ViewsOrder;
const pageRows = 500;

registerRest();
const db = await openRest({ uri });
const newest = await db.openTable(name);
const table = await db.openTable(name, { version: await newest.version() });
const measured: ViewsRun = { first: [], list: [], deep: [], rows: 0, peak: 0 };
for (let run = -1; run < runs; run++) {
  const view = new TableView(table, spec);
  const first = await timed(() => view.firstRows(pageRows, { columns }));
  const list = await timed(async () => (measured.rows = (await view.list()).length));
  const middle = Math.floor(measured.rows / 2);
  const deep: number[] = [];
  for (let page = 0; page < 5; page++)
    deep.push(await timed(() => view.rows(middle + page * pageRows, middle + (page + 1) * pageRows, { columns })));
  await view.close();
  if (run < 0) continue;
  measured.first.push(first);
  measured.list.push(list);
  measured.deep.push(...deep);
}
await db.close();
measured.peak = processMemory('self', 'most');
console.log(JSON.stringify(measured));

async function timed(call: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await call();
  return performance.now() - started;
}
