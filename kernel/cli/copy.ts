import { readFileSync } from 'node:fs';
import type { Catalog, CopiedTable, CopyProgress, CopyResult } from '#catalog/catalog.ts';
import { connectNamespace, type RestConfig } from '#catalog/connect.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { isObjectStore, localRoot, makeRoot } from '#catalog/root.ts';
import { registerDir } from '#engine/register.ts';
import { messageOf } from '#shared/errors.ts';
import { fromEnvironment, pathOf, storageOptions } from './catalogArguments.ts';
import { type Command, parse, UsageError } from './command.ts';
import { progressLine } from './terminal.ts';

/** The catalog of a copy that an option is for; the first part of the option's name. */
export type Side = 'from' | 'to';

const textOption = { type: 'string' } as const;
const textListOption = { type: 'string', multiple: true } as const;

export const sideArguments = {
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

export type SideValues = {
  [K in keyof typeof sideArguments]?:
    ((typeof sideArguments)[K] extends typeof textListOption ? string[] : string) | undefined;
};

export const sidesHelp = `Each catalog; the same with --to-… for the other one
  --from DIR|s3://…|https://…       a directory, an address of an object store, or the address of a server
  --from-key-env NAME               the API key of a server, in an environment variable, or
  --from-token-env NAME             a bearer token, in an environment variable
  --from-database NAME              which database of a server
  --from-database-prefix TEXT
  --from-ca FILE                    certificates of the authority that signed the server's, PEM
  --from-storage-option NAME=VALUE          a setting of the object store, for instance aws_region=eu-west-1
  --from-storage-option-env NAME=VARIABLE   the same with the value of an environment variable, for secrets;
                                            the store's own variables (AWS_ACCESS_KEY_ID, …) are read anyway`;

/** Opens the catalog of one side; creates the folder of a target if it is missing. @throws UsageError */
export async function openSide(side: Side, values: SideValues, signal: AbortSignal): Promise<Catalog> {
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
    if (storage) throw new UsageError(`--${side}-storage-option is for object stores, and ${named} is a server.`);
    return connectNamespace('rest', { uri: named, ...rest }, { signal, log });
  }
  const [option] = Object.keys(rest);
  if (option !== undefined)
    throw new UsageError(`--${side} ${named} is no server, so it takes no key and no database.`);
  const isLocal = !isObjectStore(named);
  const root = isLocal ? localRoot(named) : named;
  if (side === 'to' && isLocal) await makeRoot(root);
  return connectNamespace('dir', { root, ...(storage && { storageOptions: storage }) }, { signal, log });
}

const log = (line: string): void => void process.stderr.write(`${line}\n`);

function restOptions(side: Side, values: SideValues): Omit<RestConfig, 'uri'> {
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

function readPem(side: Side, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new UsageError(`--${side}-ca ${file} can't be read (${messageOf(cause)}).`, { cause });
  }
}

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
    // After an abort, the error of the interrupted call does not matter.
    if (!stop.signal.aborted) throw error;
    console.error('Stopped; run it again to go on.');
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
