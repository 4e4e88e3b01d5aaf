import { statfsSync } from 'node:fs';
import { loadavg } from 'node:os';
import { KernelProcess } from '#processes/kernelProcess.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { makeKernelSnapshot, shareKernelSnapshot } from '../../harness/kernelSnapshot.ts';
import { python } from '../../harness/needs/python.ts';
import { tempFolder } from '../../harness/temp.ts';
import { benchFolder } from '../data.ts';
import { type MeasuredServer, startOurs } from '../growth/servers.ts';
import { answerOf } from '../processes.ts';
import { type Figure, goalOf, lineOf, median, numberOf } from '../report.ts';
import { type SqlQueryName, sqlQueries } from './sqlQueries.ts';
import type { SqlOrder, SqlRun, SqlWay } from './sqlRunner.ts';

export type SqlBenchOptions = {
  /** Number of measured runs of each query. */
  runs: number;
  /** Millions of rows. */
  sizes: readonly number[];
  say: (line: string) => void;
};

/** Increase this when the generated rows change. */
const dataVersion = 1;
/** Bytes of a row in both forms. */
const bytesPerRow = 80;
const megabyte = 1e6;

/** Goals for 10 million rows in a folder, in milliseconds and megabytes of the engine's process. */
const goals: Partial<Record<SqlQueryName, { ms?: number; mb?: number }>> = {
  group: { ms: 1500, mb: 300 },
  join: { ms: 1500, mb: 300 },
  window: { ms: 4000 },
  distinct: { mb: 300 },
  order: { mb: 300 },
  where: { mb: 300 },
};
const goalMillions = 10;

const names = Object.keys(sqlQueries) as SqlQueryName[];

/** Returns the folder of tables and Parquet files, generated once. */
const sqlData = (millions: number, say: (line: string) => void): Promise<string> =>
  benchFolder(
    `sql-${millions}m-v${dataVersion}`,
    async (folder) => {
      const { bavail, bsize } = statfsSync(folder);
      const needed = 2 * millions * megabyte * bytesPerRow;
      if (bavail * bsize < needed) throw new Error(`${folder} needs ${Math.ceil(needed / megabyte)} MB of free space.`);
      await answerOf(python(), [inRoot('test/bench/python/sqlData.py'), folder, String(millions)]);
    },
    say,
  );

/**
 * Measures SQL over tables of several sizes: over a folder and over a server, beside the copy into SQLite that the
 * product had before, and beside DuckDB alone over Parquet files of the same rows. Then the costs of small queries.
 * @throws Error if two ways find different rows
 */
export async function benchSql({ runs, sizes, say }: SqlBenchOptions): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const millions of sizes) {
    const root = await sqlData(millions, say);
    const server = await startOurs(root);
    try {
      figures.push(...(await queriesOver(root, server, { millions, runs, say })));
    } finally {
      await server.stop();
    }
  }
  figures.push(...(await smallQueries(await sqlData(sizes[0]!, say), 2 * runs, say)));
  return figures;
}

type Size = { millions: number; runs: number; say: (line: string) => void };

async function queriesOver(root: string, server: MeasuredServer, { millions, runs, say }: Size): Promise<Figure[]> {
  // The copy takes minutes for more rows, and the product refused them.
  const ways: SqlWay[] = ['dir', 'serve', 'parquet', ...(millions <= 1 ? (['old'] as const) : [])];
  const figures: Figure[] = [];
  say(`${millions} million rows, median of ${runs} in a kept process (of processors, per run), and its most memory:`);
  say(`  ${''.padEnd(12)}${ways.map((way) => way.padStart(28)).join('')}   dir / parquet`);
  for (const query of names) {
    const results = new Map<SqlWay, SqlRun>();
    for (const way of ways) {
      const order: SqlOrder = { way, query, root, uri: server.address, runs: way === 'old' ? 1 : runs };
      results.set(way, await measure(order));
    }
    const [first, ...others] = [...results.values()].map(({ rows }) => rows);
    if (others.some((rows) => rows !== first)) throw new Error(`The ways find different rows for "${query}".`);
    const row = ways.flatMap((way): Figure[] => {
      const { ms, peak } = results.get(way)!;
      const goal = way === 'dir' && millions === goalMillions ? goals[query] : undefined;
      const name = `${millions} M, ${way}: ${query}`;
      return [
        { name, value: median(ms), unit: 'ms', ...(goal?.ms !== undefined && { goal: goal.ms }) },
        {
          name: `${name}, memory`,
          value: peak / megabyte,
          unit: 'MB',
          ...(goal?.mb !== undefined && { goal: goal.mb }),
        },
      ];
    });
    figures.push(...row);
    const cells = ways.map((way, index) => {
      const { processorMs, ms } = results.get(way)!;
      const processor = (processorMs / ms.length).toFixed(0);
      return `${numberOf(row[2 * index]!)} (${processor}), ${numberOf(row[2 * index + 1]!)}`.padStart(28);
    });
    const ratio = (row[0]!.value / row[4]!.value).toFixed(1);
    const met = [row[0]!, row[1]!].map(goalOf).join('');
    say(`  ${query.padEnd(12)}${cells.join('')}   ${ratio} ×, load ${loadavg()[0]!.toFixed(1)}${met}`);
  }
  return figures;
}

const measure = async (order: SqlOrder): Promise<SqlRun> =>
  (await answerOf(process.execPath, [
    '--no-warnings',
    inRoot('test/bench/sql/sqlRunner.ts'),
    JSON.stringify(order),
  ])) as SqlRun;

const tiny = '%%sql\nselect count(*) as n, max(id) as most from products where id < 10';

/** Measures small queries in notebooks: the first one of a kernel, beside other first cells, and later ones. */
async function smallQueries(root: string, runs: number, say: (line: string) => void): Promise<Figure[]> {
  const first: Record<string, number[]> = { cell: [], read: [], query: [] };
  const cells = {
    cell: '1 + 1',
    read: 'await (await db.openTable("products")).countRows("id < 10")',
    query: tiny,
  };
  const kept: number[] = [];
  // The second and all later kernels of a user start from a snapshot.
  await makeKernelSnapshot();
  Object.assign(process.env, shareKernelSnapshot(tempFolder()));
  for (let run = -1; run < runs; run++) {
    for (const [name, code] of Object.entries(cells)) {
      const kernel = await startKernel(root);
      try {
        const took = await cellTime(kernel, code);
        if (run >= 0) first[name]!.push(took);
        if (name !== 'query') continue;
        for (let again = 0; again < 5; again++) await cellTime(kernel, tiny);
        if (run >= 0) for (let again = 0; again < 5; again++) kept.push(await cellTime(kernel, tiny));
      } finally {
        await kernel.shutdown();
      }
    }
  }
  const middle = (name: string): number => median(first[name]!);
  const figures: Figure[] = [
    { name: 'first cell of a kernel', value: middle('cell'), unit: 'ms' },
    { name: 'first cell that counts rows of a table', value: middle('read'), unit: 'ms' },
    { name: 'first cell with SQL', value: middle('query'), unit: 'ms' },
    {
      name: 'first cell with SQL, more than a first cell',
      value: middle('query') - middle('cell'),
      unit: 'ms',
      goal: 400,
    },
    { name: 'tiny query in a kept process', value: median(kept), unit: 'ms, exact', goal: 40 },
  ];
  say(`small queries in notebooks, median of ${runs}, load ${loadavg()[0]!.toFixed(1)}:`);
  for (const figure of figures) say(lineOf(figure));
  return figures;
}

const startKernel = (root: string): Promise<KernelProcess> =>
  KernelProcess.start({
    entry: inRoot('dist/kernel.cjs'),
    node: { path: process.execPath, env: {} },
    cwd: tempFolder(),
    catalog: { implementation: 'dir', root },
  });

async function cellTime(kernel: KernelProcess, code: string): Promise<number> {
  const started = performance.now();
  let problem = '';
  const reply = await kernel.execute(code, (output) => {
    if (output.type === 'error') problem = output.content.evalue;
  });
  if (reply.status !== 'ok') throw new Error(`The cell failed: ${problem}`);
  return performance.now() - started;
}
