import { cpSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { connectNamespace } from '#catalog/connect.ts';
import { registerDir } from '#engine/register.ts';
import { registerFunction } from '#jobs/definition/registration.ts';
import type { JobSpec } from '#jobs/jobSpec.ts';
import { localRunner } from '#jobs/runners/localRunner.ts';
import { drive, functionOf, pythonRow, specOf, sql, typescriptRow } from '../contract/backfill/driver/driving.ts';
import { contextOf } from '../contract/backfill/local/localJobs.ts';
import { tempFolder } from '../harness/temp.ts';
import { callLanceRay, callPeer, lanceRayPackages } from './backfillPeers.ts';
import { WarmRay } from './backfillRay.ts';
import { type Figure, lineOf, median } from './report.ts';

export type BackfillBenchOptions = {
  /** Number of measured runs per runner. Each run uses a table without the column. */
  runs: number;
  say: (line: string) => void;
};

const concurrency = 2;

const functions = {
  python: functionOf(pythonRow('def f(text):\n    return len(text.split())\n')),
  // For strings with single spaces between words, this splits like Python's `split()`.
  typescript: functionOf(typescriptRow("export default (row) => row.text.split(' ').length;")),
  // The length of a caption: a frequent first use. Its speed depends only on how fast rows are read and written.
  pythonLength: functionOf(pythonRow('def f(text):\n    return len(text)\n')),
  typescriptLength: functionOf(typescriptRow('export default (row) => row.text.length;')),
  sql: functionOf(sql("cast(array_length(string_to_array(text, ' ')) as int)")),
};

/** Returns the size in bytes of all files of a table. */
const bytesOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(folder, name)))
    .reduce((sum, found) => sum + (found.isFile() ? found.size : 0), 0);

type Ways = Readonly<Record<string, (uri: string) => Promise<unknown>>>;

const runDriverOn = async (uri: string, fn: JobSpec['function']) => {
  const job = drive(specOf({ uri }, fn, { concurrency, checkpointSize: 4096, commitGranularity: 8 }));
  await job.done;
  return job;
};

const runLocalOn = async (uri: string, fn: JobSpec['function']): Promise<number> => {
  registerDir();
  const root = dirname(uri);
  const table = basename(uri, '.lance');
  const db = await connectNamespace('dir', { root });
  await registerFunction(await db.openTable(table), 'c', fn, { signal: new AbortController().signal });
  const begun = performance.now();
  const options = { concurrency, checkpointSize: 4096, commitGranularity: 8 };
  const job = { catalog: { implementation: 'dir', root }, table, column: 'c', function: fn, uri, options } as const;
  await localRunner.run(contextOf(job).context);
  await db.close();
  return performance.now() - begun;
};

/**
 * Measures a backfill by our runners and by other tools on copies of one table, as whole processes from start to end.
 * lance-ray is measured without the start of Ray. Also measures how much a table with wide rows grows.
 */
export async function benchBackfill({ runs, say }: BackfillBenchOptions): Promise<Figure[]> {
  const folder = tempFolder('lance-bench-');
  const base = join(folder, 'base.lance');
  await callPeer('make', { uri: base, rows: 1_000_000, fragments: 40, dimensions: 0 });
  // Measure these ways before Ray is started, because the processes of Ray are never idle.
  const alone: Ways = {
    'local-python, Python by row': (uri) => runDriverOn(uri, functions.python),
    'local-python, TypeScript by row': (uri) => runDriverOn(uri, functions.typescript),
    'local-python, SQL': (uri) => runDriverOn(uri, functions.sql),
    'local, TypeScript by row': (uri) => runLocalOn(uri, functions.typescript),
    'local, SQL': (uri) => runLocalOn(uri, functions.sql),
    'pylance in one process, Python by row': (uri) => callPeer('pylance', { uri }),
    'lance-ray once its Ray is up, Python by row': async (uri) => {
      const { milliseconds } = (await callLanceRay({ uri, concurrency })) as { milliseconds: number };
      return milliseconds;
    },
  };
  const taken = await inTurns(base, alone, runs);
  const lengths: Ways = {
    'local-python, length by Python by row': (uri) => runDriverOn(uri, functions.pythonLength),
    'local-python, length by TypeScript by row': (uri) => runDriverOn(uri, functions.typescriptLength),
  };
  Object.assign(taken, await inTurns(base, lengths, runs, 'length'));
  await using ray = await WarmRay.start(concurrency);
  const onRay: Ways = {
    'ray from sending to done, Python by row': (uri) => ray.backfill(uri, functions.python),
    'ray from sending to done, TypeScript by row': (uri) => ray.backfill(uri, functions.typescript),
    'ray from sending to done, SQL': (uri) => ray.backfill(uri, functions.sql),
    'lance-ray as a job on the same Ray, Python by row': (uri) => ray.lanceRay(uri, lanceRayPackages()),
  };
  Object.assign(taken, await inTurns(base, onRay, runs));
  const of = (name: string): number => median(taken[name] ?? []);
  const figures: Figure[] = [
    ...Object.keys(taken).map((name): Figure => ({ name: `1 M rows by ${name}`, unit: 'ms', value: of(name) })),
    ratio(
      'time of local-python with its start beside lance-ray',
      of('local-python, Python by row') / of('lance-ray once its Ray is up, Python by row'),
      1,
    ),
    ratio(
      'time of local-python beside pylance in one process',
      of('local-python, Python by row') / of('pylance in one process, Python by row'),
    ),
    ratio(
      'time of TypeScript by row beside Python by row',
      of('local-python, TypeScript by row') / of('local-python, Python by row'),
      1.2,
    ),
    ratio(
      'time of TypeScript by row beside Python by row, length of the text',
      of('local-python, length by TypeScript by row') / of('local-python, length by Python by row'),
      1.2,
    ),
    {
      name: 'a job of cheap rows on a warm Ray',
      unit: 'ms',
      value: of('ray from sending to done, SQL'),
      goal: 7000,
    },
    ratio(
      'time of ray beside lance-ray on the same Ray',
      of('ray from sending to done, Python by row') / of('lance-ray as a job on the same Ray, Python by row'),
      1,
    ),
    { name: 'longest delay of an event from Ray', unit: 'ms', value: median([...ray.delays]), goal: 1000 },
    ratio(
      'growth of 200 k × 768-d per byte of the new column',
      await growth(folder, 'vectors', runDriverOn, wideInPython),
      1.05,
    ),
    // The runner `local` also writes the key, which is 8 bytes in addition to the 4 bytes of the value.
    ratio('growth by local, which writes the key too', await growth(folder, 'vectorsLocal', runLocalOn, wideInSql)),
  ];
  for (const figure of figures) say(lineOf(figure));
  return figures;
}

/**
 * Measures the ways in turns, so that other load on the machine affects all of them. Does not count the first run of
 * each.
 */
async function inTurns(
  base: string,
  ways: Ways,
  runs: number,
  what: 'words' | 'length' = 'words',
): Promise<Record<string, number[]>> {
  const taken: Record<string, number[]> = {};
  for (let turn = 0; turn <= runs; turn++)
    for (const [name, way] of Object.entries(ways)) {
      const milliseconds = await measured(base, way, what);
      if (turn > 0) (taken[name] ??= []).push(milliseconds);
    }
  return taken;
}

const ratio = (name: string, value: number, goal?: number): Figure => ({
  name,
  unit: '×',
  value,
  ...(goal !== undefined && { goal }),
});

/** Measures one way on a fresh copy of the table, and checks the values. If `way` returns a time, that time counts. */
async function measured(base: string, way: (uri: string) => Promise<unknown>, what: string): Promise<number> {
  const uri = join(tempFolder('lance-bench-'), 't.lance');
  cpSync(base, uri, { recursive: true });
  const begun = performance.now();
  const own = await way(uri);
  const milliseconds = typeof own === 'number' ? own : performance.now() - begun;
  const { rows, wrong } = (await callPeer('wrong', { uri, what })) as { rows: number; wrong: number };
  if (rows !== 1_000_000 || wrong > 0) throw new Error(`${wrong} of ${rows} values are wrong.`);
  return milliseconds;
}

// The values do not compress, so that their size dominates and other files hardly affect the result.
const wideInPython = functionOf(
  pythonRow(
    'import hashlib\ndef f(id):\n    return int.from_bytes(hashlib.blake2b(id.to_bytes(8, "big")).digest()[:4], "big", signed=True)\n',
  ),
  { inputs: ['id'] },
);
const wideInSql = functionOf(sql('cast((id * 2654435761) % 2147483647 as int)'), { inputs: ['id'] });

/** Returns the bytes by which a table of vectors grows, including manifests, per byte of the new column's values. */
async function growth(
  folder: string,
  name: string,
  way: (uri: string, fn: JobSpec['function']) => Promise<unknown>,
  fn: JobSpec['function'],
): Promise<number> {
  const uri = join(folder, `${name}.lance`);
  await callPeer('make', { uri, rows: 200_000, fragments: 8, dimensions: 768 });
  const before = bytesOf(uri);
  await way(uri, fn);
  return (bytesOf(uri) - before) / (200_000 * 4);
}
