import { readFileSync } from 'node:fs';
import type { Catalog, CopiedTable, CopyProgress, CopyResult } from '#catalog/catalog.ts';
import { connectNamespace, type RestConfig } from '#catalog/connect.ts';
import { kindOfSource } from '#catalog/copy/copyTables.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { isObjectStore, localRoot, makeRoot } from '#catalog/root.ts';
import { registerDir } from '#engine/register.ts';
import { fileProblem } from '#processes/fileProblem.ts';
import { fromEnvironment, pathOf, storageOptions } from './catalogArguments.ts';
import { type Command, parse, UsageError } from './command.ts';
import { failureText, progressLine, terminalText } from './terminal.ts';

/** The side of a copy, source or target, to which an option applies. Names of such options start with the side. */
type CopyEnd = 'from' | 'to';

const textOption = { type: 'string' } as const;
const textListOption = { type: 'string', multiple: true } as const;

const sideArguments = {
  from: textOption,
  'from-key-env': textOption,
  'from-token-env': textOption,
  'from-database': textOption,
  'from-database-prefix': textOption,
  'from-ca': textOption,
  'from-storage-option': textListOption,
  'from-storage-option-env': textListOption,
  to: textOption,
  'to-key-env': textOption,
  'to-token-env': textOption,
  'to-database': textOption,
  'to-database-prefix': textOption,
  'to-ca': textOption,
  'to-storage-option': textListOption,
  'to-storage-option-env': textListOption,
} as const;

type SideValues = {
  [K in keyof typeof sideArguments]?:
    ((typeof sideArguments)[K] extends typeof textListOption ? string[] : string) | undefined;
};

const sidesHelp = `Source catalog; the options of the target catalog start with --to-…
  --from DIR|s3://…|https://…       a directory, an object store URL, or a server URL
  --from-key-env NAME               environment variable with the API key of the server, or
  --from-token-env NAME             environment variable with a bearer token
  --from-database NAME              database on the server
  --from-database-prefix TEXT       folder below the database
  --from-ca FILE                    PEM file with the CA certificates of the server
  --from-storage-option NAME=VALUE          object store setting, such as aws_region=eu-west-1
  --from-storage-option-env NAME=VARIABLE   the same with its value in an environment variable, for secrets;
                                            the store's own variables (AWS_ACCESS_KEY_ID, …) are always read`;

/**
 * Checks the options of one side, and returns a function that opens its catalog. The function creates the folder of a
 * target if it is missing.
 * @throws UsageError
 */
function sideOpener(side: CopyEnd, values: SideValues): (signal: AbortSignal) => Promise<Catalog> {
  const named = values[side];
  if (!named) throw new UsageError(`"copy" needs --${side} CATALOG.`);
  const storage = storageOptions(
    {
      'storage-option': values[`${side}-storage-option`],
      'storage-option-env': values[`${side}-storage-option-env`],
    },
    side,
  );
  const rest = restOptions(side, values);
  if (/^https?:\/\//i.test(named)) {
    if (storage)
      throw new UsageError(`--${side}-storage-option applies only to object stores, but ${named} is a server.`);
    return (signal) => connectNamespace('rest', { uri: named, ...rest }, { signal, log });
  }
  const [option] = Object.keys(rest);
  if (option !== undefined)
    throw new UsageError(`--${side} ${named} is not a server, so it has no API key and no database.`);
  const isLocal = !isObjectStore(named);
  const root = isLocal ? localRoot(named) : named;
  return async (signal) => {
    if (side === 'to' && isLocal && (await makeRoot(root))) log(`Created the folder "${root}" for the copy.`);
    return connectNamespace('dir', { root, ...(storage && { storageOptions: storage }) }, { signal, log });
  };
}

const log = (line: string): void => void process.stderr.write(`${terminalText(line)}\n`);

function restOptions(side: CopyEnd, values: SideValues): Omit<RestConfig, 'uri'> {
  const [key, token] = [values[`${side}-key-env`], values[`${side}-token-env`]];
  const [database, databasePrefix] = [values[`${side}-database`], values[`${side}-database-prefix`]];
  const ca = values[`${side}-ca`];
  return {
    ...(key !== undefined && { apiKey: fromEnvironment(key) }),
    ...(token !== undefined && { token: fromEnvironment(token) }),
    ...(database !== undefined && { database }),
    ...(databasePrefix !== undefined && { databasePrefix }),
    ...(ca !== undefined && { ca: readPem(side, ca) }),
  };
}

function readPem(side: CopyEnd, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new UsageError(`Can't read "${file}" of --${side}-ca: ${fileProblem(cause)}.`, { cause });
  }
}

const summary = `  lance-catalog copy PATH [NEW_PATH] --from CATALOG --to CATALOG [--overwrite]
      copy a table, or a namespace and its contents, from one catalog to another`;

export const copyCommand: Command = {
  summary,
  help: `Copies tables between directories, object stores and servers

${summary}

Tables
  PATH                 shop/eu/orders for a table, shop/eu for a namespace, / for everything;
                       as JSON, ["shop","a/b"], if a name contains a slash
  NEW_PATH             path in the target catalog (default: PATH)
  --kind table|namespace   copy the table or the namespace if both have this path
  --overwrite          replace existing tables once their copy is complete
  --chunk MB           commit rows in chunks of this size, after which a copy can be resumed (default: 64)
  --json               print the copied tables as JSON to stdout

${sidesHelp}

To resume a stopped copy, run the same command again: finished tables are skipped, and an unfinished table continues
after its last copied row. Rows are verified with checksums, indexes are built again. Declared tables without data are
reported and left out. Ctrl-C stops the copy.
Exit code 0 if everything was copied, 1 if something was not, 130 if the copy was stopped.`,
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
  const named = kindOf(values.kind);
  const options = {
    overwrite: values.overwrite ?? false,
    chunkBytes: bytesOf(values.chunk),
  };
  const stop = stopper();
  registerDir();
  registerRest();
  const progress = progressLine();
  const opened: Catalog[] = [];
  try {
    const [openSource, openTarget] = [sideOpener('from', values), sideOpener('to', values)];
    const source = await openSource(stop.signal);
    opened.push(source);
    // A copy of a source that does not exist must not create the folder of the target.
    const kind = named ?? (await kindOfSource(source, from, stop));
    const target = await openTarget(stop.signal);
    opened.push(target);
    const result = await source.copy(
      from,
      { catalog: target, path: to },
      { ...options, kind, signal: stop.signal, onProgress: (at) => progress.show(toldProgress(at)) },
    );
    progress.clear();
    tell(result, values.json ?? false);
    return result.skipped.some(({ why }) => why === 'failed') ? 1 : 0;
  } catch (error) {
    progress.clear();
    // After an abort, the error of the interrupted call is ignored.
    if (!stop.signal.aborted) throw error;
    console.error('Stopped. To resume, run the command again.');
    return stop.exitCode();
  } finally {
    await Promise.all(opened.map((catalog) => catalog.close()));
  }
}

/** Aborts on the first signal; ends the process on the second. */
function stopper(): { signal: AbortSignal; exitCode: () => number } {
  const stop = new AbortController();
  // The exit codes that shells expect after a signal.
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
  throw new UsageError(`Expected a whole number of MB from 1 to 999999 for --chunk, got "${text}".`);
}

const number = new Intl.NumberFormat('en-US');

const toldProgress = ({ table, rowsDone, rowsTotal }: CopyProgress): string =>
  `${table}: ${number.format(rowsDone)} of ${number.format(rowsTotal)} rows`;

function tell({ tables, skipped }: CopyResult, json: boolean): void {
  for (const { from, reason } of skipped) console.error(failureText(`Left out ${from}: ${reason}`));
  for (const { to, warnings } of tables)
    for (const warning of warnings) console.error(terminalText(`${to}: ${warning}`));
  if (json) {
    console.log(JSON.stringify({ tables, skipped }));
    return;
  }
  for (const table of tables) console.log(terminalText(told(table)));
  if (tables.length !== 1) console.log(`${tables.length} tables`);
}

const words = { copied: 'copied', resumed: 'copied, continuing an earlier copy', there: 'already there' } as const;

const amount = (count: number, one: string, many: string): string =>
  `${number.format(count)} ${count === 1 ? one : many}`;

const told = ({ to, rows, how, indexes }: CopiedTable): string =>
  `${to}: ${amount(rows, 'row', 'rows')}, ${amount(indexes.length, 'index', 'indexes')}, ${words[how]}`;
