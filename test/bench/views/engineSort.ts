// Measures the engine's own sort: `node engineSort.ts '{"root": …}'` prints one line of JSON. The rows are keys and row
// ids; their bytes are read and not decoded.
import { connect } from '@lancedb/lancedb';
import { processMemory } from '../../harness/processMemory.ts';

export type EngineOrder = {
  root: string;
  name: string;
  key: string | undefined;
  filter: string | undefined;
  runs: number;
};
export type EngineRun = { ms: number[]; peak: number };

type Buffers = { next(): Promise<Buffer | null> };

const { root, name, key, filter, runs } = JSON.parse(process.argv[2] ?? '') as EngineOrder;
const table = await (await connect(root)).openTable(name);
const ms: number[] = [];
for (let run = -1; run < runs; run++) {
  const started = performance.now();
  const query = table.query().withRowId();
  if (filter !== undefined) query.where(filter);
  if (key !== undefined) query.select([key]).orderBy([{ columnName: key, ascending: true, nullsFirst: false }]);
  else query.select(['_rowid']);
  // The public methods decode the rows.
  const batches = await (query as unknown as { nativeExecute(): Promise<Buffers> }).nativeExecute();
  for (let batch = await batches.next(); batch; batch = await batches.next());
  if (run >= 0) ms.push(performance.now() - started);
}
console.log(JSON.stringify({ ms, peak: processMemory('self', 'most') } satisfies EngineRun));
