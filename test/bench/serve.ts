import { Agent, request } from 'node:http';
import { noLimit } from '#catalog/contract.ts';
import { arrowStreamMime } from '#shared/mime.ts';
import type { BenchTable } from './data.ts';
import { type MeasuredServer, startOurs } from './growth/servers.ts';
import { median, type Figure } from './report.ts';

/** How often a page is requested in a run. */
const pages = 200;
const pageRows = 50;

type Kind = 'page' | 'page, filter seen before' | 'page, new filter' | 'stream' | 'stream, filter seen before';
const kinds: readonly Kind[] = [
  'page',
  'page, filter seen before',
  'page, new filter',
  'stream',
  'stream, filter seen before',
];

/** Milliseconds of a page, or of a whole stream. */
type Times = Record<Kind, number[]>;

const agent = new Agent({ keepAlive: true });

/** Reads the response of a query without looking at its rows. Returns its bytes. */
function drain(server: MeasuredServer, table: BenchTable, body: object): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', accept: arrowStreamMime };
    const path = `${server.address}/v1/table/${table.name}/query`;
    const sent = request(path, { method: 'POST', headers, agent }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => (bytes += chunk.length));
      response.once('error', reject);
      response.once('end', () =>
        response.statusCode === 200 ? resolve(bytes) : reject(new Error(`The server answered ${response.statusCode}.`)),
      );
    });
    sent.once('error', reject);
    sent.end(JSON.stringify({ vector: {}, ...body }));
  });
}

async function measure(server: MeasuredServer, table: BenchTable, kind: Kind, run: number): Promise<number> {
  const started = performance.now();
  if (kind === 'stream' || kind === 'stream, filter seen before') {
    const bytes = await drain(server, table, { k: noLimit, ...(kind !== 'stream' && { filter: 'id >= 0' }) });
    if (bytes < table.rows * 20) throw new Error(`${bytes} bytes came for ${table.rows} rows.`);
    return performance.now() - started;
  }
  for (let page = 0; page < pages; page++) {
    const first = (page * 997) % (table.rows - pageRows);
    if (kind === 'page') await drain(server, table, { k: pageRows, offset: first });
    else {
      const id = kind === 'page, new filter' ? run * pages + page : 7;
      await drain(server, table, { k: pageRows, filter: `id >= ${id} AND id < ${id + pageRows}` });
    }
  }
  return (performance.now() - started) / pages;
}

/**
 * Measures pages and streams of `lance-catalog serve`. Its queries with SQL run in other processes than plain pages.
 * @param before the `cli.cjs` of an older build, measured in turns
 */
export async function benchServe(table: BenchTable, runs: number, before: string | undefined): Promise<Figure[]> {
  const ours = await startOurs(table.root);
  const older = before === undefined ? undefined : await startOurs(table.root, before);
  const times = (): Times => Object.fromEntries(kinds.map((kind): [Kind, number[]] => [kind, []])) as unknown as Times;
  const [now, then] = [times(), times()];
  try {
    // The first run of each server is a warm-up.
    for (let run = 0; run <= runs; run++) {
      for (const kind of kinds) {
        for (const [server, into] of [[ours, now] as const, ...(older ? [[older, then] as const] : [])]) {
          const took = await measure(server, table, kind, run);
          if (run > 0) into[kind].push(took);
        }
      }
    }
  } finally {
    await Promise.all([ours.stop(), older?.stop()]);
  }
  return kinds.flatMap((kind): Figure[] => {
    const value = median(now[kind]);
    const goal = kind.startsWith('page') ? 1.1 : 1.35;
    return [
      { name: `serve: ${kind}`, value, unit: 'ms, exact' },
      ...(older
        ? [
            { name: `serve before: ${kind}`, value: median(then[kind]), unit: 'ms, exact' } as const,
            { name: `serve: ${kind}, now / before`, value: value / median(then[kind]), unit: '×', goal } as const,
          ]
        : []),
    ];
  });
}
