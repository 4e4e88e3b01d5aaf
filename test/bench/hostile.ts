import { openDir } from '#engine/dir/dirCatalog.ts';
import { createMixTable, runMix, startMixServer } from '../contract/serve/hostileMix.ts';
import { tempFolder } from '../harness/temp.ts';
import { lineOf, type Figure } from './report.ts';

/** Seconds after which the server of the bench stops a query. */
const queryTime = 5;

/**
 * Sends hostile requests, with a read-only key and without a key, to a `serve` that answers another client at the same
 * time. There is no peer, because upstream's server ends at the first hostile request.
 */
export async function benchHostile({
  seconds,
  say,
}: {
  seconds: number;
  say: (line: string) => void;
}): Promise<Figure[]> {
  const root = tempFolder();
  const db = await openDir({ root });
  await createMixTable(db);
  await db.close();
  const server = await startMixServer(root, queryTime);
  const mix = await runMix(server, seconds);
  const code = await server.stop();
  for (const text of mix.wrong.slice(0, 10)) say(`  WRONG ${text}`);
  const statuses = Object.entries(mix.statuses).map(([status, count]) => `${status}: ${count}`);
  say(`  answers to hostile requests: ${statuses.join(', ')}`);
  const figures: Figure[] = [
    {
      name: 'exit code of the server after the run',
      value: typeof code === 'number' ? code : Number.NaN,
      unit: 'code',
      goal: 0,
    },
    { name: 'requests of the good client', value: mix.good, unit: 'requests' },
    { name: 'of which were not answered, or with other rows', value: mix.wrong.length, unit: 'requests', goal: 0 },
    { name: 'longest time of /healthz', value: mix.healthMs, unit: 'ms', goal: 1000 },
    { name: 'longest time of a page', value: mix.pageMs, unit: 'ms' },
    { name: 'longest time of a filter', value: mix.filterMs, unit: 'ms' },
    { name: 'memory of the server', value: mix.serverBytes / 1e6, unit: 'MB', goal: 700 },
    { name: 'memory of one process for queries', value: mix.queryBytes / 1e6, unit: 'MB', goal: 1500 },
  ];
  for (const figure of figures) say(lineOf(figure));
  return figures;
}
