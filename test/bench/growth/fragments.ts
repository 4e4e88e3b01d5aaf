import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Table } from '#catalog/table/table.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { tempFolder } from '../../harness/temp.ts';
import { callPeer } from '../backfillPeers.ts';
import { type Figure, lineOf, median } from '../report.ts';

export type FragmentGrowthOptions = {
  /** Numbers of fragments, of ten rows each. */
  fragments: readonly number[];
  /** Numbers of fragments for backfills, which take long. */
  backfills: readonly number[];
  /** Number of measured runs of each way. */
  runs: number;
  /** The `cli.cjs` of an older build, whose backfills are measured in turns. */
  before: string | undefined;
  say: (line: string) => void;
};

const rowsPerFragment = 10;
const name = 't';

/** Measures how the cost of reads, of `optimize` and of backfills grows with the number of fragments of a table. */
export async function benchFragments(options: FragmentGrowthOptions): Promise<Figure[]> {
  const figures: Figure[] = [];
  const tell = (figure: Figure) => {
    figures.push(figure);
    options.say(lineOf(figure));
  };
  for (const fragments of options.fragments) {
    for (const figure of await optimizing(fragments, options.runs)) tell(figure);
  }
  for (const fragments of options.backfills) {
    for (const figure of await backfilling(fragments, options)) tell(figure);
  }
  return figures;
}

/** Makes a table and calls `run` with the folder of a catalog that has a copy of it. */
async function withCopies<T>(fragments: number, run: (copy: () => string) => Promise<T>): Promise<T> {
  const folder = tempFolder('lance-bench-');
  const base = join(folder, 'base.lance');
  await callPeer('make', { uri: base, rows: fragments * rowsPerFragment, fragments, dimensions: 0 });
  let copies = 0;
  try {
    return await run(() => {
      const root = join(folder, `copy${copies++}`);
      cpSync(base, join(root, `${name}.lance`), { recursive: true });
      return root;
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const timed = async (call: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await call();
  return performance.now() - start;
};

const reads: Readonly<Record<string, (table: Table) => Promise<unknown>>> = {
  'filter without a hit': (table) => table.query().where('id < 0').toArray(),
  'page of 50': (table) => table.query().limit(50).toArray(),
  'count of a filter': (table) => table.countRows('id % 2 = 0'),
};

async function optimizing(fragments: number, runs: number): Promise<Figure[]> {
  const taken: Record<string, number[]> = {};
  const note = (what: string, value: number) => (taken[what] ??= []).push(value);
  await withCopies(fragments, async (copy) => {
    for (let run = 0; run < runs; run++) {
      const root = copy();
      const db = await openDir({ root });
      const table = await db.openTable(name);
      for (const [what, read] of Object.entries(reads)) {
        await read(table);
        note(`${what} before`, await timed(() => read(table)));
      }
      note('optimize', await timed(() => table.optimize()));
      for (const [what, read] of Object.entries(reads)) {
        await read(table);
        note(`${what} after`, await timed(() => read(table)));
      }
      await db.close();
      rmSync(root, { recursive: true });
    }
  });
  return Object.entries(taken).map(([what, values]): Figure => {
    return { name: `${fragments} fragments: ${what}`, value: median(values), unit: 'ms, exact' };
  });
}

type Backfilled = { milliseconds: number; versions: number; megabytes: number };

async function backfilling(fragments: number, { runs, before }: FragmentGrowthOptions): Promise<Figure[]> {
  const builds = { now: inRoot('dist/cli.cjs'), ...(before !== undefined && { before }) };
  const results = Object.keys(builds).map((build) => [build, []] as [string, Backfilled[]]);
  await withCopies(fragments, async (copy) => {
    for (let run = 0; run < runs; run++) {
      for (const [build, measured] of results) {
        const root = copy();
        measured.push(await backfill(builds[build as keyof typeof builds]!, root));
        rmSync(root, { recursive: true });
      }
    }
  });
  return results.flatMap(([build, measured]): Figure[] => {
    const of = (key: keyof Backfilled) => median(measured.map((one) => one[key]));
    const title = `${fragments} fragments, backfill ${build}`;
    return [
      { name: `${title}: time`, value: of('milliseconds'), unit: 'ms' },
      { name: `${title}: versions`, value: of('versions'), unit: 'versions' },
      { name: `${title}: manifests`, value: of('megabytes'), unit: 'MB' },
    ];
  });
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Runs a SQL backfill as a command, and counts the versions and the bytes of manifests that it adds. */
async function backfill(cli: string, root: string): Promise<Backfilled> {
  const manifests = join(root, `${name}.lance`, '_versions');
  const sizes = () => readdirSync(manifests).map((file) => statSync(join(manifests, file)).size);
  const there = sizes();
  const args = ['backfill', name, 'c', '--sql', 'id * 2', '--catalog', root, '--runner', 'local', '--yes', '--json'];
  const start = performance.now();
  const child = spawn(process.execPath, [cli, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, XDG_DATA_HOME: tempFolder('lance-bench-') },
  });
  const [code] = await once(child, 'exit');
  const milliseconds = performance.now() - start;
  if (code !== 0) throw new Error(`The backfill ended with ${String(code)}.`);
  const now = sizes();
  return {
    milliseconds,
    versions: now.length - there.length,
    megabytes: (sum(now) - sum(there)) / 1e6,
  };
}
