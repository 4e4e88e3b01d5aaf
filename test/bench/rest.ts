import { benchTable, type BenchTable } from './data.ts';
import { readIn, readUpstream, withBareServer } from './processes.ts';
import type { ReadResult, Run, Way } from './reader.ts';
import { lineOf, median, type Figure } from './report.ts';
import { benchRows } from './rows.ts';
import { benchServe } from './serve.ts';

export type BenchOptions = {
  /** Number of measured runs of each way. */
  runs: number;
  /** Millions of rows to stream. */
  sizes: readonly number[];
  /** Millions of rows for the comparison of memory with one million rows; undefined skips it. */
  memory: number | undefined;
  /** The `cli.cjs` of an older build, whose `serve` is measured in turns. */
  before: string | undefined;
  say: (line: string) => void;
};

const mega = 1e6;

/**
 * Measures tables that our `rest` streams from our engine process. Compares with the engine's scan alone, the same
 * bytes from a bare socket, `dir` in process, and upstream's own server and client. Then measures rows as objects, and
 * pages and streams of `serve`.
 */
export async function benchRest(options: BenchOptions): Promise<Figure[]> {
  const figures: Figure[] = [];
  const tell = (figure: Figure) => {
    figures.push(figure);
    options.say(lineOf(figure));
  };
  for (const millions of options.sizes) {
    const table = await benchTable(millions, options.say);
    options.say(`${millions} million rows, median of ${options.runs}, each in a fresh process after a warm-up:`);
    for (const figure of await streaming(table, `${millions} M`, options.runs)) tell(figure);
  }
  for (const figure of await benchRows(options.runs, options.say)) tell(figure);
  const [millions] = options.sizes;
  if (millions !== undefined) {
    options.say(`lance-catalog serve, ${millions} million rows, median of ${options.runs} after a warm-up:`);
    const table = await benchTable(millions, options.say);
    for (const figure of await benchServe(table, options.runs, options.before)) tell(figure);
  }
  if (options.memory !== undefined) {
    const small = await benchTable(1, options.say);
    const large = await benchTable(options.memory, options.say);
    options.say(`memory at ${options.memory} million rows beside 1 million, peak of fresh processes:`);
    for (const figure of await memory(small, large, `${options.memory} M`)) tell(figure);
  }
  return figures;
}

/** How a table is read. */
type Reader = Way | 'upstream';
const readers: readonly Reader[] = ['native', 'bare', 'rest', 'dir', 'upstream'];

async function streaming(table: BenchTable, size: string, runs: number): Promise<Figure[]> {
  const results = await rounds(table, runs);
  const of = (reader: Reader) => {
    const measured = results[reader];
    return {
      first: median(measured.map(({ first }) => first)),
      total: median(measured.map(({ total }) => total)),
    };
  };
  const [native, bare, rest, dir, upstream] = [of('native'), of('bare'), of('rest'), of('dir'), of('upstream')];
  const limit = native.total + bare.total;
  return [
    { name: `${size}: rest from our engine, parsed`, value: rest.total, unit: 'ms' },
    { name: `${size}: the engine's scan alone`, value: native.total, unit: 'ms' },
    { name: `${size}: the same bytes from a bare socket, parsed`, value: bare.total, unit: 'ms' },
    { name: `${size}: dir in process, parsed`, value: dir.total, unit: 'ms' },
    { name: `${size}: upstream's server and client, parsed`, value: upstream.total, unit: 'ms' },
    { name: `${size}: rest / (scan + bare socket)`, value: rest.total / limit, unit: '×', goal: 1 },
    { name: `${size}: rest / dir in process`, value: rest.total / dir.total, unit: '×' },
    { name: `${size}: rest / upstream`, value: rest.total / upstream.total, unit: '×' },
    { name: `${size}: first batch of rest`, value: rest.first, unit: 'ms', goal: Math.round(dir.first + 30) },
    { name: `${size}: first batch of dir in process`, value: dir.first, unit: 'ms' },
    { name: `${size}: first batch of upstream's client`, value: upstream.first, unit: 'ms' },
  ];
}

/** The readers run in turns, so that other load on the machine affects all of them. */
async function rounds(table: BenchTable, runs: number): Promise<Record<Reader, Run[]>> {
  const results: Record<Reader, Run[]> = { native: [], bare: [], rest: [], dir: [], upstream: [] };
  const order = { root: table.root, table: table.name, rows: table.rows, runs: 1, warmUps: 1 };
  await withBareServer(table, async (socket) => {
    for (let round = 0; round < runs; round++) {
      for (const reader of readers) {
        const read = reader === 'upstream' ? readUpstream(table, 1, 1) : readIn({ ...order, way: reader, socket });
        results[reader].push(...(await read).runs);
      }
    }
  });
  return results;
}

const peaksOf = async ({ root, name, rows }: BenchTable): Promise<ReadResult['peak']> =>
  (await readIn({ way: 'rest', root, table: name, rows, runs: 1, warmUps: 0 })).peak;

/** Measures each size in new processes, because a process seldom returns memory to the system. */
async function memory(small: BenchTable, large: BenchTable, size: string): Promise<Figure[]> {
  const [before, after] = [await peaksOf(small), await peaksOf(large)];
  const figures = (['server', 'reader'] as const).flatMap((who): Figure[] => {
    const from = (before[who] ?? Number.NaN) / mega;
    const to = (after[who] ?? Number.NaN) / mega;
    const name = who === 'server' ? 'engine process' : 'client';
    return [
      { name: `1 M: memory of the ${name}`, value: from, unit: 'MB' },
      { name: `${size}: memory of the ${name}`, value: to, unit: 'MB' },
      { name: `${size}: memory of the ${name}, more than at 1 M`, value: to - from, unit: 'MB', goal: 100 },
    ];
  });
  return figures;
}
