import { dirname, resolve } from 'node:path';
import type { CatalogConfig } from '#shared/catalogConfig.ts';
import {
  type BackfillOptions,
  onErrorOfWords,
  type RayPlace,
  type RunnerName,
  runnerNames,
} from '#shared/jobs/backfill.ts';
import type { OnError } from '#shared/jobs/computedFunction.ts';
import { type JobFile, jobFileEnding } from '#shared/jobs/jobFile.ts';
import type { FunctionSource } from '#shared/jobs/jobMessages.ts';
import { definedEntries } from '#shared/records.ts';
import { isObjectStore } from '#catalog/root.ts';
import { choiceArgument, UsageError, wholeNumberArgument } from './command.ts';
import { catalogVariables } from '#session/catalogArgument.ts';
import { catalogArguments, catalogOf, type CatalogValues, keptKeyHint, pathOf } from './catalogArguments.ts';

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;

export const backfillArguments = {
  ...catalogArguments,
  sql: text,
  file: text,
  input: { type: 'string', multiple: true },
  output: text,
  takes: text,
  where: text,
  runner: text,
  concurrency: text,
  'task-size': text,
  'checkpoint-size': text,
  'commit-granularity': text,
  'num-frags': text,
  'read-version': text,
  'on-error': text,
  key: text,
  python: text,
  ray: text,
  profile: text,
  'ray-cluster': text,
  'allow-stored-code': { type: 'string', multiple: true },
  plan: flag,
  try: flag,
  detach: flag,
  yes: flag,
  trust: flag,
  strict: flag,
  json: flag,
} as const;

export type BackfillValues = CatalogValues & {
  readonly [K in keyof typeof backfillArguments]?:
    | ((typeof backfillArguments)[K] extends { type: 'boolean' }
        ? boolean
        : (typeof backfillArguments)[K] extends { multiple: true }
          ? string[]
          : string)
    | undefined;
};

/** The backfill that the arguments or a job file describe, with absolute paths. */
export type BackfillArguments = {
  readonly catalog: CatalogConfig;
  readonly namespacePath: readonly string[];
  readonly name: string;
  readonly column: string;
  readonly source: FunctionSource | undefined;
  /** The folder to which paths of function files are relative. */
  readonly folder: string;
  readonly options: BackfillOptions;
};

/** Returns the job file, if it is given instead of a table and a column. */
export const jobFileOf = (positionals: readonly string[]): string | undefined =>
  positionals.length === 1 && positionals[0]?.endsWith('.json') ? positionals[0] : undefined;

/** Reads the backfill from the arguments. @throws UsageError */
export function askedByArguments(values: BackfillValues, positionals: readonly string[]): BackfillArguments {
  const [table, column, ...more] = positionals;
  if (table === undefined || column === undefined || more.length > 0)
    throw new UsageError(`"backfill" needs TABLE and COLUMN, or a job file (*${jobFileEnding}).`);
  return asked(catalogOf(values), pathOf(table), column, {
    source: sourceOf(values),
    folder: process.cwd(),
    options: optionsOf(values),
  });
}

/** Reads the backfill from a job file; arguments override it. @throws UsageError */
export function askedByFile(values: BackfillValues, path: string, file: JobFile): BackfillArguments {
  const folder = dirname(resolve(path));
  if (file.connection !== undefined && values.catalog === undefined)
    throw new UsageError(
      `"${path}" names connection "${file.connection}", which exists only in the editor. Give the catalog with --catalog.`,
    );
  const catalog = catalogOf(values, file.catalog === undefined ? undefined : seenFrom(folder, file.catalog));
  const { database } = file;
  const config = database !== undefined && catalog.implementation === 'rest' ? { database, ...catalog } : catalog;
  // A job file can be part of a repository, whose author could choose the servers that get the user's keys. So keys are
  // sent only if the user named the server or trusts the file.
  const isTrusted = values.trust ?? false;
  const isNamed = values.catalog !== undefined || file.catalog === process.env[catalogVariables.catalog];
  return asked(isNamed || isTrusted ? config : withoutKeys(config), file.table, file.column, {
    source: sourceOf(values) ?? file.function,
    folder: sourceOf(values) ? process.cwd() : folder,
    options: { ...file.options, ...optionsOf(values) },
    sendsRayToken: values.ray !== undefined || isTrusted,
  });
}

/** Removes the keys that were read from the environment from the catalog of a job file. */
function withoutKeys(config: CatalogConfig): CatalogConfig {
  if (config.implementation !== 'rest') return config;
  const { apiKey, token, ...rest } = config;
  if (!apiKey && !token) return config;
  const step = `Give the server with --catalog or ${catalogVariables.catalog} too`;
  return { ...rest, keyHint: keptKeyHint('the job file', step) };
}

function asked(
  catalog: CatalogConfig,
  path: readonly string[],
  column: string,
  {
    sendsRayToken = true,
    ...more
  }: Pick<BackfillArguments, 'source' | 'folder' | 'options'> & { readonly sendsRayToken?: boolean },
): BackfillArguments {
  const name = path.at(-1);
  if (name === undefined) throw new UsageError('Expected a table such as products or shop/products for TABLE.');
  const { ray, ...options } = more.options;
  const place = ray && { ray: sendsRayToken ? withToken(ray) : ray };
  return { catalog, namespacePath: path.slice(0, -1), name, column, ...more, options: { ...options, ...place } };
}

const seenFrom = (folder: string, place: string): string =>
  /^https?:\/\//i.test(place) || isObjectStore(place) ? place : resolve(folder, place);

function sourceOf(values: BackfillValues): FunctionSource | undefined {
  const { sql, file, input, output, takes } = values;
  if (sql !== undefined && file !== undefined) throw new UsageError('Give only one of --sql and --file.');
  const [path, name] = file === undefined ? [undefined, undefined] : fileAndName(file);
  if (path?.endsWith('.py') === true) return pythonSource(path, name, values);
  for (const [option, value] of Object.entries({ input, output, takes }))
    if (value !== undefined) throw new UsageError(`--${option} requires a Python file.`);
  if (sql !== undefined) return { kind: 'sql', expression: sql };
  return path === undefined
    ? undefined
    : { kind: 'typescript', file: path, ...(name !== undefined && { export: name }) };
}

/** Splits `f.ts#name`; `#name` is optional. */
function fileAndName(file: string): [path: string, name: string | undefined] {
  const at = file.lastIndexOf('#');
  const [path, name] = at < 0 ? [file, undefined] : [file.slice(0, at), file.slice(at + 1)];
  if (!/\.(?:[cm]?[jt]s|py)$/.test(path))
    throw new UsageError(`Expected a TypeScript, JavaScript or Python file for --file, got "${path}".`);
  if (name === '') throw new UsageError(`--file ${file} has no function name after "#".`);
  return [path, name];
}

function pythonSource(file: string, entry: string | undefined, values: BackfillValues): FunctionSource {
  const inputs = (values.input ?? []).flatMap((each) => each.split(',').map((one) => one.trim())).filter(Boolean);
  const { output, takes = 'row' } = values;
  if (entry === undefined) throw new UsageError(`--file ${file} needs the name of a function: --file ${file}#name.`);
  if (inputs.length === 0) throw new UsageError('A Python function needs its input columns: --input a,b.');
  if (output === undefined) throw new UsageError('A Python function needs its output type: --output int32.');
  if (takes !== 'row' && takes !== 'batch') throw new UsageError('Give --takes row or --takes batch.');
  return { kind: 'python', file, entry, takes, inputs, output };
}

function optionsOf(values: BackfillValues): BackfillOptions {
  const options: BackfillOptions = {
    runner: runnerOf(values.runner),
    where: values.where,
    concurrency: wholeNumberArgument('--concurrency', values.concurrency),
    taskSize: wholeNumberArgument('--task-size', values['task-size']),
    checkpointSize: wholeNumberArgument('--checkpoint-size', values['checkpoint-size']),
    commitGranularity: wholeNumberArgument('--commit-granularity', values['commit-granularity']),
    numFrags: wholeNumberArgument('--num-frags', values['num-frags']),
    readVersion: wholeNumberArgument('--read-version', values['read-version']),
    onError: onErrorOf(values['on-error']),
    key: values.key,
    python: values.python,
    ray: rayOf(values),
  };
  return definedEntries(options);
}

/** Parses the name of a runner. @throws UsageError */
export const runnerOf = (name: string | undefined): RunnerName | 'auto' | undefined =>
  choiceArgument('--runner', name, ['auto', ...runnerNames]);

/** Parses the handling of failing rows. @throws UsageError */
export function onErrorOf(value: string | undefined): OnError | undefined {
  if (value === undefined) return undefined;
  const [, retry] = /^retry:([1-9]\d?)$/.exec(value) ?? [];
  const mode = onErrorOfWords(retry === undefined ? value : { retry: Number(retry) });
  if (mode) return mode;
  throw new UsageError(`Expected fail, null, skip or retry:N (N from 1 to 99) for --on-error, got "${value}".`);
}

/** The token of a Ray cluster is read only from this variable, whose name is Ray's own. */
export const rayTokenVariable = 'RAY_AUTH_TOKEN';

function rayOf({ ray, profile, 'ray-cluster': rayCluster }: BackfillValues): BackfillOptions['ray'] {
  if (ray !== undefined && profile !== undefined) throw new UsageError('Give only one of --ray and --profile.');
  if (rayCluster !== undefined && profile === undefined) throw new UsageError('--ray-cluster requires --profile.');
  if (profile !== undefined) return { profile, ...(rayCluster !== undefined && { rayCluster }) };
  if (ray === undefined) return undefined;
  if (!/^https?:\/\/\S+$/.test(ray))
    throw new UsageError(`Expected the URL of a Ray dashboard such as http://127.0.0.1:8265 for --ray, got "${ray}".`);
  return { address: ray };
}

/** Adds the token of the environment, if set, to the location of a Ray cluster. */
export function withToken(ray: RayPlace): RayPlace {
  const token = process.env[rayTokenVariable];
  return 'address' in ray && token ? { ...ray, token } : ray;
}
