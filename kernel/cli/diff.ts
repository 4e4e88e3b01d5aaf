import type { Catalog, OpenTableOptions } from '#catalog/catalog.ts';
import { openPinned } from '#catalog/table/openPinned.ts';
import { compareTables, type TableComparison } from '#catalog/view/compareTables.ts';
import { withCatalog } from '#jobs/openCatalog.ts';
import { isAbort } from '#shared/errors.ts';
import { countText } from '#shared/format/numbers.ts';
import { displayPath } from '#shared/names.ts';
import { catalogArguments, catalogOf, columnsArgument, oneCatalogHelp, pathOf } from './catalogArguments.ts';
import { type Command, parse, UsageError, wholeNumberArgument } from './command.ts';
import { changeJson, changeLine, columnLine } from './diffLines.ts';
import { stopBySignals } from './signals.ts';
import { failureText, printChunks, progressLine, terminalText, withCliHints } from './terminal.ts';

const summary = `  lance-catalog diff TABLE --from NUMBER [--to NUMBER] [--key COLUMNS]
  lance-catalog diff TABLE OTHER --key COLUMNS
      compare the rows of two versions of a table, or of two tables`;

export const diffCommand: Command = {
  summary,
  help: `Compares the rows of two versions of a table, or of two tables

${summary}

  TABLE, OTHER         shop/eu/orders; as JSON, ["shop","a/b"], if a name contains a slash
  --key COLUMNS        the columns that identify a row: id, or country,id; as JSON, ["a,b"], if a name contains a comma
                       (default for two versions of a table: its row ids, if they are stable)
  --from NUMBER        the version of TABLE; --from-tag NAME for that of a tag (default with OTHER: the newest)
  --to NUMBER          the version that it is compared with, of OTHER if it is given; --to-tag NAME for that of a tag
                       (default: the newest)
  --columns COLUMNS    compare only these columns
  --limit COUNT        print at most this many rows; all are counted (default: 20, with --json all)
  --json               print JSON lines: one for each column of the schema that differs, one for each row, and the counts
${oneCatalogHelp}

Rows are printed in the order of the key, or of their row ids: + for an added row, - for a removed one, and each changed cell with its value
before and after. Columns that only one table has, or that have two types, are listed and their values are not compared.
With a key both tables are read sorted by it, and with row ids they are scanned; memory does not grow with them.
Exit code 0 if schema and rows are equal, 1 if they differ, 2 for a failure or wrong arguments, 130 after Ctrl-C.`,
  run,
};

type Side = { path: readonly string[]; at: Pick<OpenTableOptions, 'version' | 'tag'> };
type DiffOptions = {
  before: Side;
  after: Side;
  key: readonly string[] | undefined;
  columns: readonly string[] | undefined;
  limit: number;
  isJson: boolean;
  onProgress: ((text: string) => void) | undefined;
  onOutput: (() => void) | undefined;
  signal: AbortSignal;
};

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(
    args,
    {
      ...catalogArguments,
      key: { type: 'string' },
      from: { type: 'string' },
      'from-tag': { type: 'string' },
      to: { type: 'string' },
      'to-tag': { type: 'string' },
      columns: { type: 'string' },
      limit: { type: 'string' },
      json: { type: 'boolean' },
    },
    true,
  );
  const [table, other, ...more] = positionals.map(pathOf);
  if (!table || [table, other].some((path) => path?.length === 0) || more.length > 0)
    throw new UsageError('"diff" needs one TABLE, or two.');
  if (other && values.key === undefined)
    throw new UsageError('"diff" of two tables needs --key COLUMNS, which identify a row.');
  if (values.from !== undefined && values['from-tag'] !== undefined)
    throw new UsageError('Use --from or --from-tag, not both.');
  if (values.to !== undefined && values['to-tag'] !== undefined)
    throw new UsageError('Use --to or --to-tag, not both.');
  if (!other && values.from === undefined && values['from-tag'] === undefined)
    throw new UsageError('"diff" of one TABLE needs --from NUMBER or --from-tag NAME.');
  const isJson = values.json ?? false;
  const stop = stopBySignals();
  const { signal } = stop;
  const progress = process.stderr.isTTY ? progressLine() : undefined;
  const options: DiffOptions = {
    before: { path: table, at: { version: wholeNumberArgument('--from', values.from), tag: values['from-tag'] } },
    after: { path: other ?? table, at: { version: wholeNumberArgument('--to', values.to), tag: values['to-tag'] } },
    key: values.key === undefined ? undefined : columnsArgument('--key', values.key),
    columns: values.columns === undefined ? undefined : columnsArgument('--columns', values.columns),
    limit: wholeNumberArgument('--limit', values.limit, { orZero: true }) ?? (isJson ? Infinity : 20),
    isJson,
    onProgress: progress?.show,
    onOutput: progress?.clear,
    signal,
  };
  const catalog = catalogOf(values);
  stop.onRepeat(() => process.exit(stop.code));
  try {
    const isDifferent = await withCliHints({ catalog, namespacePath: table.slice(0, -1) }, signal, () =>
      withCatalog(catalog, signal, (opened) => printDifferences(opened, options)),
    );
    return isDifferent ? 1 : 0;
  } catch (error) {
    progress?.clear();
    const isStopped = signal.aborted && isAbort(error);
    console.error(isStopped ? 'Stopped.' : failureText(error));
    // 1 says that the tables differ.
    return isStopped ? (stop.code ?? 2) : 2;
  } finally {
    progress?.clear();
    stop.dispose();
  }
}

/** Prints the differences and returns whether there are any. */
async function printDifferences(catalog: Catalog, options: DiffOptions): Promise<boolean> {
  const { key, columns, signal, isJson } = options;
  const open = ({ path, at }: Side) => openPinned(catalog, path, { ...at, signal });
  const [before, after] = await Promise.all([open(options.before), open(options.after)]);
  const comparison = await compareTables(before.table, after.table, { key, columns, signal });
  const counts = { added: 0, removed: 0, changed: 0 };
  const title = `${sideLabel(options.before, before.version)} → ${sideLabel(options.after, after.version)}`;
  const lines = isJson ? jsonLines(comparison, options, counts) : textLines(comparison, options, counts, title);
  await printChunks(encodeLines(lines), signal, options.onOutput);
  return comparison.columnChanges.length > 0 || counts.added + counts.removed + counts.changed > 0;
}

const sideLabel = ({ path }: Side, version: number | undefined): string =>
  `${displayPath(path)}${version === undefined ? '' : ` version ${version}`}`;

type Counts = { added: number; removed: number; changed: number };

async function* encodeLines(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const line of lines) yield Buffer.from(`${line}\n`);
}

/** Yields the rows as they are found, so that any number of them takes no memory. */
async function* jsonLines(
  comparison: TableComparison,
  { limit, key }: DiffOptions,
  counts: Counts,
): AsyncGenerator<string> {
  for (const column of comparison.columnChanges) yield JSON.stringify({ kind: 'column', ...column });
  let shown = 0;
  for await (const change of comparison.changes) {
    counts[change.kind]++;
    if (shown++ < limit) yield changeJson(change, key);
  }
  yield JSON.stringify({ kind: 'counts', ...counts, compared: comparison.rowsRead.before + counts.added });
}

/** Yields the counts first, which are known at the end; only the shown lines are kept until then. */
async function* textLines(
  comparison: TableComparison,
  { limit, key, onProgress }: DiffOptions,
  counts: Counts,
  title: string,
): AsyncGenerator<string> {
  const lines: string[] = [];
  let found = 0;
  for await (const change of comparison.changes) {
    counts[change.kind]++;
    if (found++ < limit) lines.push(...changeLine(change, key));
    onProgress?.(`${countText(comparison.rowsRead.before)} rows compared, ${countText(found)} differ`);
  }
  const compared = countText(comparison.rowsRead.before + counts.added);
  const { added, removed, changed } = counts;
  yield terminalText(title);
  yield `${countText(added)} added, ${countText(removed)} removed, ${countText(changed)} changed, ${compared} rows compared`;
  for (const column of comparison.columnChanges) yield columnLine(column);
  yield* lines;
  if (found > limit) yield `… ${countText(found - limit)} more; use --limit to print them`;
}
