import { stat } from 'node:fs/promises';
import type { ExportOptions } from '#catalog/catalog.ts';
import { exportCompressions, exportFormats, isBinaryFormat } from '#catalog/export/exportFormats.ts';
import { encodeExport, fileEncoding } from '#catalog/export/exportEncoding.ts';
import { exportTable, readExport } from '#catalog/export/exportTable.ts';
import type { Ordering } from '#catalog/query/querySpec.ts';
import { withCatalog } from '#jobs/openCatalog.ts';
import { isAbort, isCatalogError } from '#shared/errors.ts';
import { pluralize } from '#shared/format/markup.ts';
import { countText, sizeText } from '#shared/format/numbers.ts';
import { displayPath } from '#shared/names.ts';
import { catalogArguments, catalogOf, columnsArgument, oneCatalogHelp, pathOf } from './catalogArguments.ts';
import { nearestArgument, nearestArguments, nearestHelp, withVectorColumn } from './nearestArguments.ts';
import { choiceArgument, type Command, parse, UsageError, wholeNumberArgument } from './command.ts';
import { stopBySignals } from './signals.ts';
import { printChunks, progressLine, terminalText, withCliHints } from './terminal.ts';

const summary = `  lance-catalog export TABLE -o FILE [--where SQL] [--order-by COLUMNS] [--columns COLUMNS] [--nearest VECTOR]
      write rows of a table to a CSV, JSON, Arrow or Parquet file, or to stdout`;

export const exportCommand: Command = {
  summary,
  help: `Writes rows of a table to a file

${summary}

  TABLE                shop/eu/orders; as JSON, ["shop","a/b"], if a name contains a slash
  -o, --output FILE    the file, which appears only when it is complete; - for stdout
  --format FORMAT      ${exportFormats.join(', ')} (default: by the ending of FILE)
  --where SQL          only rows for which this expression is true, such as "amount > 400"
  --order-by COLUMNS   sort by these columns: "country, amount desc"; nulls are last, or first with "nulls first"
  --columns COLUMNS    only these columns, in this order: id,amount; as JSON, ["a,b"], if a name contains a comma
  --limit COUNT        at most this many rows
${nearestHelp}
  --version NUMBER     rows of this version; --tag NAME for that of a tag, --branch NAME for another branch
  --compress HOW       gzip or zstd, for csv, json and jsonl (default: by the ending .gz or .zst)
  --escape-formulas    in csv, put ' before text that a spreadsheet would run as a formula
  --overwrite          replace an existing file
${oneCatalogHelp}

The rows of --nearest are the nearest of those that pass --where. Their distances are the column _distance: after all others,
or where --columns names it; --order-by sorts the found rows, also by _distance. A column of lists of vectors takes several
vectors: "[[0.1, 0.2], [0.3, 0.4]]".

All rows are those of one version, also if other clients write meanwhile. Sorted rows with equal values are in the order of
the table; NaN is larger than every number, and text is compared by its bytes in UTF-8. The formats are those of
"lance-catalog sql --help". To join or to aggregate, use "lance-catalog sql".
Exit code 0 if all rows were written, 1 if they were not, 2 for wrong arguments, 130 after Ctrl-C. An export that was
stopped or failed leaves no file.`,
  run,
};

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(
    args,
    {
      ...catalogArguments,
      output: { type: 'string', short: 'o' },
      format: { type: 'string' },
      where: { type: 'string' },
      'order-by': { type: 'string' },
      columns: { type: 'string' },
      limit: { type: 'string' },
      ...nearestArguments,
      version: { type: 'string' },
      tag: { type: 'string' },
      branch: { type: 'string' },
      compress: { type: 'string' },
      'escape-formulas': { type: 'boolean' },
      overwrite: { type: 'boolean' },
    },
    true,
  );
  const [given, ...more] = positionals;
  const path = given === undefined ? [] : pathOf(given);
  if (path.length === 0 || more.length > 0) throw new UsageError('"export" needs one TABLE.');
  if (values.output === undefined) throw new UsageError('"export" needs -o FILE, or -o - for stdout.');
  const file = values.output === '-' ? undefined : values.output;
  const options: ExportOptions = {
    where: values.where,
    orderBy: values['order-by'] === undefined ? undefined : readOrder(values['order-by']),
    columns: values.columns === undefined ? undefined : columnsArgument('--columns', values.columns),
    limit: wholeNumberArgument('--limit', values.limit, { orZero: true }),
    version: wholeNumberArgument('--version', values.version),
    tag: values.tag,
    branch: values.branch,
    format: choiceArgument('--format', values.format, exportFormats),
    compression: choiceArgument('--compress', values.compress, exportCompressions),
    escapeFormulas: values['escape-formulas'],
    overwrite: values.overwrite,
  };
  const nearest = await nearestArgument(values, options.limit);
  const encoding = encodingOf(file, options);
  if (file === undefined && (isBinaryFormat(encoding.format) || encoding.compression) && process.stdout.isTTY)
    throw new UsageError(`A terminal can't show these bytes. Use -o FILE, or pipe the output to a program.`);
  if (file !== undefined && values.overwrite !== true && (await stat(file).catch(() => undefined))?.isFile())
    throw new UsageError(`The file "${file}" exists already. Use another name, or add --overwrite to replace it.`);
  const catalog = catalogOf(values);
  const stop = stopBySignals();
  stop.onRepeat(() => process.exit(stop.code));
  const { signal } = stop;
  const progress = process.stderr.isTTY ? progressLine() : undefined;
  const onProgress = progress && (({ rows }: { rows: number }) => progress.show(`${countText(rows)} rows`));
  try {
    await withCliHints({ catalog, namespacePath: path.slice(0, -1) }, signal, () =>
      withCatalog(catalog, signal, async (opened) => {
        const search = nearest && (await withVectorColumn(opened, path, nearest, { ...options, signal }));
        const chosen = { ...options, nearest: search, signal };
        if (file === undefined) {
          const { rows } = await readExport(opened, path, chosen);
          return printChunks(encodeExport(rows, encoding, chosen), signal, progress?.clear);
        }
        const result = await exportTable(opened, path, file, { ...chosen, ...encoding, onProgress });
        progress?.clear();
        const rows = `${pluralize(result.rows, 'row')} of ${displayPath(path)}`;
        const version = result.version === undefined ? '' : `, version ${result.version}`;
        console.error(terminalText(`Wrote ${rows}${version} to ${file} (${sizeText(result.bytes)}).`));
      }),
    );
    return 0;
  } catch (error) {
    progress?.clear();
    if (!signal.aborted || !isAbort(error)) throw error;
    console.error('Stopped.');
    return stop.code ?? 1;
  } finally {
    progress?.clear();
    stop.dispose();
  }
}

function encodingOf(file: string | undefined, options: ExportOptions): ReturnType<typeof fileEncoding> {
  if (file === undefined && options.format === undefined)
    throw new UsageError('Add --format FORMAT, because stdout has no ending that stands for one.');
  try {
    return fileEncoding(file, options);
  } catch (error) {
    if (!isCatalogError(error)) throw error;
    throw new UsageError(error.message, { cause: error });
  }
}

/** Reads `country, amount desc nulls first`. A column whose name has other characters is written in backticks. */
function readOrder(text: string): Ordering[] {
  const list = text.match(/(?:`[^`]*`|[^,`])+/g) ?? [];
  return list.map((part) => {
    const match =
      /^\s*(?:`(?<quoted>[^`]+)`|(?<plain>[^\s`]+))(?:\s+(?<direction>asc|desc))?(?:\s+nulls\s+(?<nulls>first|last))?\s*$/i.exec(
        part,
      );
    const column = match?.groups?.['quoted'] ?? match?.groups?.['plain'];
    if (column === undefined)
      throw new UsageError(
        `Expected columns such as "country, amount desc" for --order-by, got "${part.trim()}". Put a name with other characters in backticks.`,
      );
    return {
      column,
      ...(match?.groups?.['direction']?.toLowerCase() === 'desc' && { descending: true }),
      ...(match?.groups?.['nulls']?.toLowerCase() === 'first' && { nullsFirst: true }),
    };
  });
}
