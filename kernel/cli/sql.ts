import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RecordBatch, Table } from '#arrow';
import {
  type ExportedRows,
  type ExportFormat,
  exportFormats,
  formatOfFile,
  isBinaryFormat,
} from '#catalog/export/exportFormats.ts';
import { encodeExport, fileEncoding } from '#catalog/export/exportEncoding.ts';
import type { Catalog } from '#catalog/catalog.ts';
import { openCatalog, withCatalog } from '#jobs/openCatalog.ts';
import { rowsOf, shapeText } from '#session/display/tableText.ts';
import { checkOutputFile, writeOutputFile } from '#processes/outputFile.ts';
import { messageOf } from '#shared/errors.ts';
import { pluralize } from '#shared/format/markup.ts';
import { countText } from '#shared/format/numbers.ts';
import type { CatalogTablesOptions } from '#sql/catalogTables.ts';
import { runStatement } from '#sql/runStatement.ts';
import { openSqlEngine, type WatchedScan } from '#sql/sqlEngine.ts';
import { positionOf } from '#sql/sqlErrors.ts';
import { isPlan, readStatement, writtenName } from '#sql/statement.ts';
import { alignedRows } from './alignedRows.ts';
import { catalogsArguments, catalogsHelp, catalogsOf, type NamedCatalogs, oneCatalogHelp } from './catalogArguments.ts';
import { choiceArgument, type Command, parse, UsageError } from './command.ts';
import { stopBySignals } from './signals.ts';
import { codeExcerpt, printChunks, progressLine, terminalText } from './terminal.ts';

const summary = `  lance-catalog sql "QUERY" [--format FORMAT] [-o FILE] [--write]
      run a SQL query over the tables of a catalog, and print its rows or write them to a file`;

export const sqlCommand: Command = {
  summary,
  help: `Runs SQL over the tables of a catalog

${summary}

  QUERY                one statement, such as "select * from shop.orders limit 5"; without it, or with -, the statement is
                       read from stdin
  --format FORMAT      table, csv, json, jsonl, arrow or parquet (default: by the ending of FILE, such as .csv or
                       .csv.gz, otherwise table)
  -o, --output FILE    write the rows to a file, which appears only when it is complete; an existing file is replaced;
                       - for stdout
  --limit-rows COUNT   number of rows that the format table shows (default: 1000)
  --write              allow a statement that writes a table: create table … as select …, or insert into … select …
${oneCatalogHelp}
${catalogsHelp}

The dialect is that of DuckDB. A table in a namespace is written shop.orders or "shop/eu".orders. A namespace of the
default catalog comes before another catalog with the same name. The formats:
  table     aligned columns for reading; long values are cut, columns that don't fit in the terminal are left out, and
            reading stops soon after the rows that it shows
  csv       RFC 4180; null is an empty field, an empty string is ""; lists, vectors, structs and maps are JSON
  json      one array with an object per row; jsonl has one object per line
  arrow     the file format of Arrow IPC
  parquet   compressed with Zstandard; vectors stay fixed-size lists
In csv and json, values are exact: integers and decimals have all their digits, times are ISO 8601, bytes are base64. In
json, decimals and integers beyond ±(2^53 - 1) are strings, and NaN and infinities are null.
Exit code 0 if the statement succeeded, 1 if it failed, 2 for wrong arguments, 130 after Ctrl-C. A statement that was
stopped or failed has written no rows and no file.`,
  run,
};

type Format = ExportFormat | 'table';
const formats: readonly Format[] = ['table', ...exportFormats];

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(
    withComments(args),
    {
      ...catalogsArguments,
      format: { type: 'string' },
      output: { type: 'string', short: 'o' },
      'limit-rows': { type: 'string' },
      write: { type: 'boolean' },
    },
    true,
  );
  if (positionals.length > 1) throw new UsageError('"sql" needs one QUERY: put it in quotes.');
  const output = values.output === '-' ? undefined : values.output;
  const format = formatFor(values.format, output);
  const limit = limitOf(values['limit-rows'], format);
  if (output === undefined && format !== 'table' && isBinaryFormat(format) && process.stdout.isTTY)
    throw new UsageError(`A terminal can't show the format ${format}. Add -o FILE, or pipe the output to a program.`);
  const catalogs = catalogsOf(values);
  const query = await readQuery(positionals[0]);
  const { write } = readStatement(query, 'terminal');
  const written = write && writtenName(write.name);
  if (written !== undefined && values.write !== true)
    throw new UsageError(`The statement writes the table "${written}". Add --write to run it.`);
  if (output !== undefined) await checkOutputFile(output, 'result');

  const stop = stopBySignals();
  stop.onRepeat(() => process.exit(stop.code));
  const enough = new AbortController();
  const signal = AbortSignal.any([stop.signal, enough.signal]);
  const progress = process.stderr.isTTY ? progressLine() : undefined;
  try {
    await withCatalogs(catalogs, signal, async (opened) => {
      const watch = progress && ((scan: WatchedScan) => watchScan(scan, progress.show));
      const statement = { text: query, ...opened, watch, caller: 'terminal' } as const;
      const rows = await runStatement(openSqlEngine(), statement, signal);
      const chunks =
        format !== 'table'
          ? encodeExport(rows, fileEncoding(output, { format }), { signal })
          : written !== undefined
            ? countLine(rows, written)
            : isPlan(query)
              ? planLines(rows)
              : tableLines(rows, limit, () => enough.abort());
      try {
        if (output === undefined) await printChunks(chunks, stop.signal, progress?.clear);
        else await writeOutputFile(output, chunks);
      } finally {
        // The rows are not read if the file can't be created.
        await rows.batches[Symbol.asyncIterator]().return?.();
      }
    });
    return 0;
  } catch (error) {
    progress?.clear();
    if (stop.code !== undefined) {
      console.error('Stopped.');
      return stop.code;
    }
    const position = positionOf(error);
    if (!position) throw error;
    console.error(terminalText([messageOf(error), ...codeExcerpt(query, position)].join('\n')));
    return 1;
  } finally {
    progress?.clear();
    stop.dispose();
  }
}

/** Puts a blank before a query that starts with a comment, which would be an option. */
const withComments = (args: readonly string[]): string[] => args.map((arg) => (/^--\s/.test(arg) ? ` ${arg}` : arg));

/** Opens the default catalog, and each other catalog when a query names it. */
function withCatalogs<T>(
  { config, others }: NamedCatalogs,
  signal: AbortSignal,
  call: (catalogs: CatalogTablesOptions) => Promise<T>,
): Promise<T> {
  const opened = new Map<string, Promise<Catalog>>();
  const otherCatalog = async (name: string): Promise<Catalog | undefined> => {
    const other = others.get(name);
    if (!other) return undefined;
    const catalog = opened.get(name) ?? openCatalog(other, signal);
    opened.set(name, catalog);
    return catalog;
  };
  const otherCatalogNames = async (): Promise<readonly string[]> => [...others.keys()];
  return withCatalog(config, signal, async (catalog) => {
    try {
      return await call({ catalog, otherCatalog, otherCatalogNames });
    } finally {
      for (const each of await Promise.allSettled(opened.values()))
        if (each.status === 'fulfilled') await each.value.close();
    }
  });
}

function formatFor(argument: string | undefined, output: string | undefined): Format {
  const named = choiceArgument('--format', argument, formats);
  if (named) return named;
  if (output === undefined) return 'table';
  const format = formatOfFile(output);
  if (format) return format;
  throw new UsageError(`The name "${output}" has no ending of a known format. Add --format FORMAT.`);
}

const shownRows = 1000;

function limitOf(argument: string | undefined, format: Format): number {
  if (argument === undefined) return shownRows;
  if (format !== 'table')
    throw new UsageError('--limit-rows applies only to the format table. Add a limit to the query.');
  if (/^[1-9]\d{0,6}$/.test(argument)) return Number(argument);
  throw new UsageError(`Expected a whole number from 1 to 9999999 for --limit-rows, got "${argument}".`);
}

async function readQuery(argument: string | undefined): Promise<string> {
  const isFromStdin = argument === '-' || (argument === undefined && !process.stdin.isTTY);
  const query = isFromStdin ? await readText(process.stdin) : (argument ?? '');
  if (query.trim() !== '') return query;
  throw new UsageError('"sql" needs a QUERY, as an argument or on stdin.');
}

async function* watchScan(
  { name, total, batches }: WatchedScan,
  show: (text: string) => void,
): AsyncGenerator<RecordBatch, void, undefined> {
  const of = total === undefined ? '' : ` of ${countText(total)}`;
  let rows = 0;
  for await (const batch of batches) {
    rows += batch.numRows;
    show(`Reading ${name}: ${countText(rows)}${of} rows`);
    yield batch;
  }
}

/** How long the rows are counted that are not shown. */
const countMs = 1000;

/**
 * Returns the first rows as aligned columns, as they arrive, and then how many rows there are. The other rows are
 * counted only for a moment, because the whole result of a query may take hours.
 * @param stop ends the query
 */
async function* tableLines(
  { schema, batches }: ExportedRows,
  limit: number,
  stop: () => void,
): AsyncGenerator<Uint8Array> {
  const reader = batches[Symbol.asyncIterator]();
  const width = process.stdout.isTTY ? process.stdout.columns || undefined : undefined;
  const { align, shownColumns } = alignedRows(
    schema.fields.map(({ name }) => terminalText(name)),
    width,
  );
  const lines = (table: Table, count: number): Uint8Array => {
    const cells = rowsOf(table, 0, count).map((row) => row.map(({ text }) => terminalText(text)));
    return Buffer.from(align(cells).join('\n').concat('\n'));
  };
  let rows = 0;
  let end = Infinity;
  for (;;) {
    const next = await beforeTime(reader.next(), end);
    if (next === undefined) {
      stop();
      const shape = `${pluralize(rows, 'row')} × ${pluralize(schema.fields.length, 'column')}`;
      yield Buffer.from(
        `\nAt least ${shape}, ${countText(limit)} shown. For the number of all rows, select count(*).\n`,
      );
      return;
    }
    if (next.done === true) break;
    const shown = Math.min(next.value.numRows, limit - rows);
    if (shown > 0) yield lines(new Table(schema, [next.value]), shown);
    rows += next.value.numRows;
    if (rows >= limit && end === Infinity) end = performance.now() + countMs;
  }
  if (rows === 0) yield lines(new Table(schema), 0);
  const shape = shapeText(new Table(schema), rows, Math.min(rows, limit));
  yield Buffer.from(`\n${shape}${leftOutText(shownColumns(), schema.fields.length)}\n`);
}

/** Returns a result; undefined if it takes longer than to `end`. */
async function beforeTime<T>(result: Promise<T>, end: number): Promise<T | undefined> {
  if (end === Infinity) return result;
  // The result fails when the query is ended.
  result.catch(() => {});
  const stop = new AbortController();
  const late = sleep(Math.max(0, end - performance.now()), undefined, { signal: stop.signal }).catch(() => undefined);
  try {
    return await Promise.race([result, late]);
  } finally {
    stop.abort();
  }
}

/** Returns the columns that do not fit in the terminal, as a note after the number of rows. */
function leftOutText(shown: number, all: number): string {
  return shown === all ? '' : `; ${shown} columns fit here, -o FILE writes all`;
}

/** Returns the plan of a query as text. */
async function* planLines({ batches }: ExportedRows): AsyncGenerator<Uint8Array> {
  for await (const batch of batches)
    for (const plan of batch.getChild('explain_value') ?? []) yield Buffer.from(`${String(plan).trimEnd()}\n`);
}

/** Returns the result of a statement that writes as a sentence. */
async function* countLine({ batches }: ExportedRows, table: string): AsyncGenerator<Uint8Array> {
  for await (const batch of batches) {
    const rows = Number(batch.getChildAt(0)?.get(0));
    yield Buffer.from(`Wrote ${pluralize(rows, 'row')} to ${terminalText(table)}.\n`);
  }
}
