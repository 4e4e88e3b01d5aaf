import type { Catalog } from '#client/catalog.ts';
import type { CopiedTable, CopyProgress, CopyResult } from '#client/copy.ts';
import { registerRest } from '#client/registerRest.ts';
import { registerDir } from '#engine/register.ts';
import { UsageError, parse, type Command } from './command.ts';
import { openSide, sideArguments, sidesHelp } from './copySides.ts';
import { progressLine } from './progressLine.ts';
import { pathOf } from './tablePath.ts';

const summary = `  lance-catalog copy PATH [NEW_PATH] --from CATALOG --to CATALOG [--overwrite]
      copies a table, or a namespace with all that is in it, from one catalog to another`;

export const copyCommand: Command = {
  summary,
  help: `Copies tables between directories, object stores and servers

${summary}

What
  PATH                 shop/eu/orders for a table, shop/eu for a namespace, / for everything;
                       as JSON, ["shop","a/b"], where a name has a slash
  NEW_PATH             where to, when it is not the same path
  --kind table|namespace   which one, where both have the same path
  --overwrite          puts the copy in the place of tables that are there, once it is whole
  --chunk MB           of rows, after which a copy can go on; 64 when not given
  --json               prints what was copied as JSON to stdout

${sidesHelp}

Run it again after it was stopped, and it goes on: tables that were finished are left alone, and one that was not is
continued from the rows that are there. Rows are compared with their source by checksums, indexes are made again.
Tables that are declared and have no data yet are named and left out.
Ctrl-C stops it. Ends with 0 when all is copied, with 1 when something is not, and with 130 when it was stopped.`,
  run,
};

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(
    args,
    {
      ...sideArguments,
      kind: { type: 'string' },
      overwrite: { type: 'boolean' },
      chunk: { type: 'string' },
      json: { type: 'boolean' },
    },
    true,
  );
  const [path, newPath, ...more] = positionals;
  if (path === undefined || more.length > 0) throw new UsageError('"copy" needs one PATH, and at most one NEW_PATH.');
  const [from, to] = [pathOf(path), pathOf(newPath ?? path)];
  const options = {
    kind: kindOf(values.kind),
    overwrite: values.overwrite ?? false,
    chunkBytes: bytesOf(values.chunk),
  };
  const stop = stopper();
  registerDir();
  registerRest();
  const progress = progressLine();
  const opened: Catalog[] = [];
  try {
    const source = await openSide('from', values, stop.signal);
    opened.push(source);
    const target = await openSide('to', values, stop.signal);
    opened.push(target);
    const result = await source.copy(
      from,
      { catalog: target, path: to },
      { ...options, signal: stop.signal, onProgress: (at) => progress.show(toldProgress(at)) },
    );
    progress.clear();
    tell(result, values.json ?? false);
    return result.skipped.some(({ why }) => why === 'failed') ? 1 : 0;
  } catch (error) {
    progress.clear();
    // Whatever a call that was cut off in the middle says of it.
    if (!stop.signal.aborted) throw error;
    console.error('Stopped; run it again to go on.');
    return stop.exitCode();
  } finally {
    await Promise.all(opened.map((catalog) => catalog.close()));
  }
}

/** Stops in good order when it is told to; told again, it ends at once. */
function stopper(): { signal: AbortSignal; exitCode: () => number } {
  const stop = new AbortController();
  // What a shell expects of a process that a signal ended.
  const codes = { SIGINT: 130, SIGTERM: 143 } as const;
  let exitCode: number = codes.SIGINT;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(codes[signal]);
      exitCode = codes[signal];
      stop.abort();
    });
  }
  return { signal: stop.signal, exitCode: () => exitCode };
}

function kindOf(text: string | undefined): 'table' | 'namespace' | undefined {
  if (text === undefined || text === 'table' || text === 'namespace') return text;
  throw new UsageError('Give --kind table or --kind namespace.');
}

function bytesOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text) * 1024 * 1024;
  throw new UsageError('--chunk needs a whole number of MB from 1.');
}

const number = new Intl.NumberFormat('en-US');

const toldProgress = ({ table, rowsDone, rowsTotal }: CopyProgress): string =>
  `${table}: ${number.format(rowsDone)} of ${number.format(rowsTotal)} rows`;

function tell({ tables, skipped }: CopyResult, json: boolean): void {
  for (const { from, reason } of skipped) console.error(`Left out ${from}: ${reason}`);
  for (const { to, warnings } of tables) for (const warning of warnings) console.error(`${to}: ${warning}`);
  if (json) {
    console.log(JSON.stringify({ tables, skipped }));
    return;
  }
  for (const table of tables) console.log(told(table));
  if (tables.length !== 1) console.log(`${tables.length} tables`);
}

const words = { copied: 'copied', resumed: 'copied, going on from before', there: 'there already' } as const;

const amount = (count: number, one: string, many: string): string =>
  `${number.format(count)} ${count === 1 ? one : many}`;

const told = ({ to, rows, how, indexes }: CopiedTable): string =>
  `${to}: ${amount(rows, 'row', 'rows')}, ${amount(indexes.length, 'index', 'indexes')}, ${words[how]}`;
