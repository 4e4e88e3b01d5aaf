import { connectNamespace } from '@lancedb/lancedb';
import { noLimit } from '#catalog/contract.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { startEngine } from '../../contract/subjects.ts';
import { python } from '../../harness/needs/python.ts';
import { benchFragments } from './fragments.ts';
import { measureLists } from './lists.ts';
import { benchFolder } from '../data.ts';
import {
  Client,
  type MeasuredServer,
  startEngineAlone,
  memoryOf,
  peakOf,
  processorTime,
  startOurs,
  startUpstream,
} from './servers.ts';
import { answerOf } from '../processes.ts';
import { inTurns, lineOf, median, type Figure } from '../report.ts';

type GrowthOptions = {
  /** Number of measured calls of each way. */
  runs: number;
  /** The `cli.cjs` of an older build, whose backfills are measured in turns. */
  before: string | undefined;
  say: (line: string) => void;
};

/** Increase this when the generated data changes. */
const dataVersion = 1;

/** Returns a folder with the table `t` that is large in one way, generated once. */
const growthData = (kind: 'fragments' | 'columns' | 'wide' | 'rows', n: number, bytes?: number): Promise<string> =>
  benchFolder(`growth-${kind}-${n}-v${dataVersion}`, async (folder) => {
    const more = bytes === undefined ? [] : [String(bytes)];
    await answerOf(python(), [inRoot('test/bench/python/growthData.py'), folder, kind, String(n), ...more]);
  });

const query = '/v1/table/t/query';
const details = '/v1/table/t/describe?load_detailed_metadata=true';
const page = (more: object = {}): object => ({ k: 50, vector: {}, ...more });

/**
 * Returns the allowed ratio of our time to upstream's: `goal`, or 1.3 times `alone` if that is more. Our server can't
 * be faster than the engine behind a bare server, and in Node the engine may need longer than in upstream's server.
 * @param alone the ratio of the time of the engine behind a bare server to the time of upstream's server
 */
const goalBeside = (alone: number, goal = 1.2): number => Math.max(goal, Number((1.3 * alone).toFixed(2)));

/**
 * Measures how our costs grow with the number of fragments, columns, readers, tables and versions and with the width of
 * rows. The peers are upstream's client and server.
 */
export async function benchGrowth({ runs, before, say }: GrowthOptions): Promise<Figure[]> {
  const figures: Figure[] = [];
  const tell = (...more: Figure[]): void => {
    for (const figure of more) {
      figures.push(figure);
      say(lineOf(figure));
    }
  };
  say(`calls on tables of many fragments and columns, median of ${4 * runs} in turns:`);
  for (const fragments of [100, 1_000, 10_000]) tell(...(await fragmentCalls(fragments, 4 * runs)));
  for (const columns of [100, 1_000, 10_000]) tell(...(await columnCalls(columns, 4 * runs)));
  say('memory over 2,000 pages of a table of 10,000 fragments:');
  tell(...(await pageMemory(10_000, 2_000)));
  say('1,600 rows of 1 MB in one file:');
  tell(...(await wideRows(1_600)));
  say('pages of 500 rows of 100,000, for 1, 8 and 64 readers:');
  // Ten times as many rounds as elsewhere, because the slowest hundredth differs by a third between two rounds.
  for (const readers of [1, 8, 64]) tell(...(await load(readers, 10 * runs)));
  say('tables of many fragments before and after they are optimized, and backfills of them:');
  figures.push(...(await benchFragments({ fragments: [1_000, 10_000], backfills: [1_000], runs, before, say })));
  say(`lists of many tables and versions, median of ${runs} in turns:`);
  figures.push(...(await measureLists({ sizes: [1_000, 10_000], runs, say })));
  return figures;
}

async function withServers<T>(
  root: string,
  call: (ours: Client, theirs: Client, alone: Client) => Promise<T>,
): Promise<T> {
  const servers = await Promise.all([startOurs(root), startUpstream(root), startEngineAlone(root)]);
  const [ours, theirs, alone] = servers.map((server) => new Client(server)) as [Client, Client, Client];
  try {
    return await call(ours, theirs, alone);
  } finally {
    await Promise.all([ours.close(), theirs.close(), alone.close()]);
    await Promise.all(servers.map((server) => server.stop()));
  }
}

/** Number of calls before the measured ones. Servers run for days, so the measured code must be compiled already. */
const warmUps = (n: number): number => Math.max(1, Math.min(300, 30_000 / n));

async function fragmentCalls(n: number, runs: number): Promise<Figure[]> {
  const root = await growthData('fragments', n);
  const dir = await openDir({ root });
  const upstream = await connectNamespace('dir', { root }, { readConsistencyInterval: 0 });
  const [table, native] = [await dir.openTable('t'), await upstream.openTable('t', [])];
  const offset = n * 10 - 60;
  const times = await withServers(root, (ours, theirs, alone) =>
    inTurns(
      {
        'page: dir': () => table.query().offset(offset).limit(50).toArrow(),
        'page: native': () => native.query().offset(offset).limit(50).toArrow(),
        'page: serve': () => ours.post(query, page({ offset })),
        'page: adapter': () => theirs.post(query, page({ offset })),
        'page: alone': () => alone.post(query, page({ offset })),
        'describe: serve': () => ours.post(details, {}),
        'describe: adapter': () => theirs.post(details, {}),
      },
      runs,
      warmUps(n),
    ),
  );
  await dir.close();
  const of = `${n} fragments:`;
  return [
    { name: `${of} page, serve`, value: times['page: serve'], unit: 'ms, exact' },
    { name: `${of} page, upstream's server`, value: times['page: adapter'], unit: 'ms, exact' },
    { name: `${of} page, the engine behind a bare server`, value: times['page: alone'], unit: 'ms, exact' },
    { name: `${of} page, dir`, value: times['page: dir'], unit: 'ms, exact' },
    { name: `${of} page, upstream's client`, value: times['page: native'], unit: 'ms, exact' },
    {
      name: `${of} page, serve / upstream's client`,
      value: times['page: serve'] / times['page: native'],
      unit: '×',
      // With few fragments the engine needs so little time that other costs dominate the ratio.
      ...(n >= 10_000 && { goal: 1.2 }),
    },
    {
      name: `${of} page, dir / upstream's client`,
      value: times['page: dir'] / times['page: native'],
      unit: '×',
      // With few fragments the engine needs so little time that other costs dominate the ratio.
      ...(n >= 10_000 && { goal: 1.2 }),
    },
    {
      name: `${of} description, serve / upstream`,
      value: times['describe: serve'] / times['describe: adapter'],
      unit: '×',
      goal: 1.2,
    },
  ];
}

async function columnCalls(n: number, runs: number): Promise<Figure[]> {
  const root = await growthData('columns', n);
  const engine = await startEngine();
  const over = await engine.catalog(root).openTable('t');
  const dir = await (await openDir({ root })).openTable('t');
  const few = {
    columns: { column_names: Array.from({ length: 8 }, (_, index) => `c${String(index).padStart(5, '0')}`) },
  };
  const times = await withServers(root, (ours, theirs, alone) =>
    inTurns(
      {
        'few: serve': () => ours.post(query, page(few)),
        'few: adapter': () => theirs.post(query, page(few)),
        'few: alone': () => alone.post(query, page(few)),
        'all: serve': () => ours.post(query, page()),
        'all: adapter': () => theirs.post(query, page()),
        'all: alone': () => alone.post(query, page()),
        'describe: serve': () => ours.post(details, {}),
        'describe: adapter': () => theirs.post(details, {}),
        'schema: rest': () => over.schema(),
        'schema: dir': () => dir.schema(),
      },
      n >= 10_000 ? Math.ceil(runs / 4) : runs,
      warmUps(n),
    ),
  );
  await engine.dispose();
  const of = `${n} columns:`;
  const ratio = (name: string, a: keyof typeof times, b: keyof typeof times, goal?: number): Figure => ({
    name: `${of} ${name}`,
    value: times[a] / times[b],
    unit: '×',
    ...(goal !== undefined && { goal }),
  });
  return [
    { name: `${of} page of 8, serve`, value: times['few: serve'], unit: 'ms, exact' },
    { name: `${of} page of all, serve`, value: times['all: serve'], unit: 'ms, exact' },
    { name: `${of} schema, rest`, value: times['schema: rest'], unit: 'ms, exact' },
    ratio(
      "page of 8, serve / upstream's server",
      'few: serve',
      'few: adapter',
      goalBeside(times['few: alone'] / times['few: adapter']),
    ),
    ratio("page of 8, the engine behind a bare server / upstream's server", 'few: alone', 'few: adapter'),
    ratio(
      "page of all, serve / upstream's server",
      'all: serve',
      'all: adapter',
      goalBeside(times['all: alone'] / times['all: adapter']),
    ),
    ratio("page of all, the engine behind a bare server / upstream's server", 'all: alone', 'all: adapter'),
    ratio("description, serve / upstream's server", 'describe: serve', 'describe: adapter', 1.2),
    ratio('schema, rest / dir', 'schema: rest', 'schema: dir'),
  ];
}

/** Memory of a server and of the editor's engine process, which opens the table for each page. */
async function pageMemory(n: number, pages: number): Promise<Figure[]> {
  const root = await growthData('fragments', n);
  const step = Math.floor((n * 10 - 50) / pages);
  const watch = async (what: string, pid: number, read: (offset: number) => Promise<unknown>, goal?: number) => {
    for (let at = 0; at < 10; at++) await read(at * step);
    const before = processorTime(pid);
    for (let at = 10; at < pages; at++) await read(at * step);
    const time = (processorTime(pid) - before) / (pages - 10);
    return [
      {
        name: `memory after ${pages} pages, ${what}`,
        value: memoryOf(pid),
        unit: 'MB',
        ...(goal !== undefined && { goal }),
      },
      { name: `processor time of a page, ${what}`, value: time, unit: 'ms, exact' },
    ] satisfies Figure[];
  };
  const figures: Figure[] = [];
  const server = async (what: string, start: Promise<MeasuredServer>, goal?: number): Promise<void> => {
    const started = await start;
    const client = new Client(started);
    figures.push(...(await watch(what, started.pid, (offset) => client.post(query, page({ offset })), goal)));
    await client.close();
    await started.stop();
  };
  await server('serve', startOurs(root), 500);
  await server("upstream's server", startUpstream(root));
  const engine = await startEngine();
  const table = await engine.catalog(root).openTable('t');
  const read = (offset: number): Promise<unknown> => table.queryIpc({ offset, limit: 50 });
  figures.push(...(await watch('engine process', engine.pid, read, 500)));
  await engine.dispose();
  return figures;
}

async function wideRows(n: number): Promise<Figure[]> {
  const root = await growthData('wide', n, 1_000_000);
  const figures: Figure[] = [];
  for (const [what, k] of [
    ['all rows', noLimit],
    ['500 rows', 500],
  ] as const) {
    const server = await startOurs(root);
    const client = new Client(server);
    const started = performance.now();
    let first: number | undefined;
    // The first bytes are the schema.
    await client.post(query, { k, vector: {} }, (bytes) => {
      if (bytes > 100_000) first ??= performance.now() - started;
    });
    const total = performance.now() - started;
    figures.push(
      { name: `${what}, serve: first batch`, value: first ?? Number.NaN, unit: 'ms', goal: 1_000 },
      { name: `${what}, serve: all`, value: total, unit: 'ms' },
      { name: `${what}, serve: most memory`, value: peakOf(server.pid), unit: 'MB', goal: 800 },
    );
    await client.close();
    await server.stop();
  }
  return figures;
}

/** Measures requests of many readers at once, in turn to our server, upstream's and the engine behind a bare server. */
async function load(readers: number, rounds: number): Promise<Figure[]> {
  const rows = 100_000;
  const root = await growthData('rows', rows);
  const servers = await Promise.all([startOurs(root), startUpstream(root), startEngineAlone(root)]);
  const clients = servers.map((server) => new Client(server, readers));
  const found = servers.map((): { times: number[][]; perSecond: number[] } => ({ times: [], perSecond: [] }));
  let seed = 1;
  const offset = (): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed % (rows - 500);
  };
  for (let round = -1; round < rounds; round++) {
    for (const [index, client] of clients.entries()) {
      const times: number[] = [];
      const started = performance.now();
      // The first round is a warm-up, after which the measured code is compiled.
      const end = started + (round < 0 ? 5_000 : 2_000);
      const read = async (): Promise<void> => {
        while (performance.now() < end) {
          const begun = performance.now();
          await client.post(query, { k: 500, vector: {}, offset: offset() });
          times.push(performance.now() - begun);
        }
      };
      await Promise.all(Array.from({ length: readers }, read));
      if (round < 0) continue;
      found[index]!.times.push(times);
      found[index]!.perSecond.push((times.length * 1_000) / (performance.now() - started));
    }
  }
  const memory = memoryOf(servers[0].pid);
  await Promise.all(clients.map((client) => client.close()));
  await Promise.all(servers.map((server) => server.stop()));
  const of = `${readers} readers:`;
  const [ours, theirs, alone] = found.map(({ times, perSecond }) => ({
    p50: median(times.map((each) => quantile(each, 0.5))),
    p99: median(times.map((each) => quantile(each, 0.99))),
    perSecond: median(perSecond),
  }));
  return [
    { name: `${of} requests a second, serve`, value: ours!.perSecond, unit: 'requests' },
    { name: `${of} requests a second, upstream`, value: theirs!.perSecond, unit: 'requests' },
    { name: `${of} requests a second, the engine behind a bare server`, value: alone!.perSecond, unit: 'requests' },
    {
      name: `${of} upstream's requests a second / ours`,
      value: theirs!.perSecond / ours!.perSecond,
      unit: '×',
      goal: goalBeside(theirs!.perSecond / alone!.perSecond, 1),
    },
    { name: `${of} median time, serve / upstream`, value: ours!.p50 / theirs!.p50, unit: '×' },
    {
      name: `${of} slowest hundredth, serve / upstream`,
      value: ours!.p99 / theirs!.p99,
      unit: '×',
      goal: goalBeside(alone!.p99 / theirs!.p99, 1),
    },
    { name: `${of} slowest hundredth, bare server / upstream`, value: alone!.p99 / theirs!.p99, unit: '×' },
    { name: `${of} memory of serve afterwards`, value: memory, unit: 'MB' },
  ];
}

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;
