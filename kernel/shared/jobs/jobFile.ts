import { nearestName } from '#shared/names.ts';
import { isRecord } from '#shared/records.ts';
import { type BackfillOptions, onErrorOfWords, type RayPlace, type RunnerName, runnerNames } from './backfill.ts';
import type { OnError } from './computedFunction.ts';
import type { FunctionSource } from './jobMessages.ts';

// Every field of a job file (`*.lance-job.json`). The reader, the editor's schema and its documentation are generated
// from this table.

/** The type and limits of a field. */
export type JobField = { readonly description: string; readonly isNeeded?: true } & (
  | { readonly kind: 'text'; readonly takes: string; readonly pattern?: RegExp }
  | { readonly kind: 'choice'; readonly values: readonly string[]; readonly meanings: readonly string[] }
  /** An integer, 1 or more. */
  | { readonly kind: 'count' }
  | { readonly kind: 'texts'; readonly takes: string }
  /** `shop/products`, or `["shop", "a/b"]` if a name contains a slash. */
  | { readonly kind: 'tablePath' }
  | { readonly kind: 'onError' }
  | { readonly kind: 'section'; readonly fields: JobFields }
);

export type JobFields = Readonly<Record<string, JobField>>;

export const jobFileEnding = '.lance-job.json';

const functionFields = {
  sql: {
    kind: 'text',
    takes: 'a SQL expression over the columns of the table',
    description: 'SQL expression over the columns of the table, such as `length(caption)`.',
  },
  file: {
    kind: 'text',
    takes: 'the path of a TypeScript, JavaScript or Python file',
    pattern: /\.(?:[cm]?[jt]s|py)$/,
    description: 'TypeScript, JavaScript or Python file, relative to the folder of the job file.',
  },
  export: {
    kind: 'text',
    takes: 'the name of a function in the file',
    description: 'Name of the function in the file. Default for TypeScript: the default export.',
  },
  inputs: {
    kind: 'texts',
    takes: 'a list of columns',
    description: 'Python: input columns, in the order of the arguments.',
  },
  output: {
    kind: 'text',
    takes: 'a type such as "int32" or "float[768]"',
    description: 'Python: output type, such as `int32`, `string` or `float[768]`.',
  },
  takes: {
    kind: 'choice',
    values: ['row', 'batch'],
    meanings: ['Call the function with the values of one row.', 'Call the function with record batches.'],
    description: 'Python: argument type, `row` or `batch` (default: `row`).',
  },
  name: {
    kind: 'text',
    takes: 'a name',
    description: 'Function name. Default: its name in the file.',
  },
  version: {
    kind: 'text',
    takes: 'a string such as "2"',
    description: 'Version label of the function. Changed code is detected without it.',
  },
} as const satisfies JobFields;

const rayFields = {
  address: {
    kind: 'text',
    takes: 'an address such as "http://127.0.0.1:8265"',
    pattern: /^https?:\/\/\S+$/,
    description:
      'URL of the Ray dashboard. The token is read from the editor or the environment, never from this file.',
  },
  profile: {
    kind: 'text',
    takes: 'the name of a cluster profile',
    description: 'Profile in the setting `lanceCatalog.cluster.profiles`.',
  },
  ray_cluster: {
    kind: 'text',
    takes: 'the name of a RayCluster',
    description: 'Name of the RayCluster. Default: the one of the profile.',
  },
} as const satisfies JobFields;

export const jobFileFields = {
  $schema: { kind: 'text', takes: 'the address of a schema', description: 'Ignored.' },
  catalog: {
    kind: 'text',
    takes: 'a directory, s3://… or https://…',
    description: 'Directory relative to this file, object store URL, or URL of a catalog server.',
  },
  connection: {
    kind: 'text',
    takes: 'the name of a connection',
    description: 'Connection of the editor, instead of `catalog`.',
  },
  database: { kind: 'text', takes: 'the name of a database', description: 'Database on the catalog server.' },
  table: {
    kind: 'tablePath',
    isNeeded: true,
    description: 'Path of the table, such as `"shop/products"`, or `["shop", "a/b"]` if a name contains a slash.',
  },
  column: { kind: 'text', isNeeded: true, takes: 'the name of a column', description: 'Column to compute.' },
  function: {
    kind: 'section',
    fields: functionFields,
    description: 'Function that computes the column. Default: the one registered on the table.',
  },
  runner: {
    kind: 'choice',
    values: ['auto', ...runnerNames],
    meanings: [
      'Choose a runner and report why.',
      'On this machine, without Python.',
      'On this machine, with a Python that has pylance.',
      'On a Ray.',
      'By the server of the catalog.',
    ],
    description: 'Runner of the job (default: `auto`).',
  },
  where: {
    kind: 'text',
    takes: 'a SQL expression',
    description: 'SQL condition that selects rows. Default: rows where the column is null.',
  },
  concurrency: { kind: 'count', description: 'Number of workers that compute at the same time.' },
  task_size: { kind: 'count', description: 'Maximum number of rows in a task.' },
  checkpoint_size: { kind: 'count', description: 'Number of rows between checkpoints.' },
  commit_granularity: { kind: 'count', description: 'Number of fragments between commits.' },
  num_frags: { kind: 'count', description: 'Maximum number of fragments to compute.' },
  read_version: {
    kind: 'count',
    description: 'Table version to read (default: the latest).',
  },
  on_error: {
    kind: 'onError',
    description:
      'What to do with rows for which the function throws; overrides the function. `"fail"` stops the job, `"null"` stores ' +
      'null and counts them as computed, `"skip"` leaves them for the next run, `{ "retry": 3 }` tries them again.',
  },
  key: {
    kind: 'text',
    takes: 'the name of a column',
    description: 'Runner `local`: column with unique values, used to write the rows back.',
  },
  ray: { kind: 'section', fields: rayFields, description: 'Runner `ray`: which Ray to use.' },
  python: {
    kind: 'text',
    takes: 'the path of an interpreter',
    description: 'Runner `local-python`: path of the interpreter. Default: a Python that has pylance.',
  },
} as const satisfies JobFields;

/** An error in a job file. `what` starts with the path; `hint` is the next step. */
export type JobFileProblem = {
  readonly path: readonly (string | number)[];
  readonly what: string;
  readonly hint: string;
};

/** A job file as written: paths are relative to its folder, and nothing has been opened. */
export type JobFile = {
  readonly catalog: string | undefined;
  readonly connection: string | undefined;
  readonly database: string | undefined;
  /** Namespaces, and the table last. */
  readonly table: readonly string[];
  readonly column: string;
  readonly function: FunctionSource | undefined;
  readonly options: BackfillOptions;
};

type JobFileReading =
  | { readonly file: JobFile; readonly problems: readonly [] }
  | { readonly file: undefined; readonly problems: readonly JobFileProblem[] };

type Path = JobFileProblem['path'];
type Report = (path: Path, what: string, hint: string) => void;
type Read = Readonly<Record<string, unknown>>;

/**
 * Reads the JSON of a job file, which is untrusted: users type it, and a repository may contain it.
 * @param value the result of `JSON.parse`
 */
export function readJobFile(value: unknown): JobFileReading {
  const problems: JobFileProblem[] = [];
  const report: Report = (given, what, hint) => {
    const path = writtenPath(value, given);
    problems.push({ path, what: `${formatPath(path)} ${what}`, hint });
  };
  const read = readSection([], value, jobFileFields, report);
  if (read) checkTogether(read, report);
  if (!read || problems.length > 0) return { file: undefined, problems };
  return { file: fileOf(read), problems: [] };
}

/** Returns the path in the spelling of the file, which may use camelCase. */
function writtenPath(value: unknown, path: Path): Path {
  let at = value;
  return path.map((step) => {
    const keys = isRecord(at) ? Object.keys(at) : [];
    const key =
      typeof step === 'number' || keys.includes(step) ? step : (keys.find((one) => snakeName(one) === step) ?? step);
    at = isRecord(at) ? at[key] : undefined;
    return key;
  });
}

const snakeName = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** `function.inputs[0]` */
const formatPath = (path: Path): string =>
  path.length === 0
    ? 'The file'
    : path.reduce<string>((text, step) => {
        if (typeof step === 'number') return `${text}[${step}]`;
        return text === '' ? step : `${text}.${step}`;
      }, '');

function readSection(path: Path, value: unknown, fields: JobFields, report: Report): Read | undefined {
  if (!isRecord(value)) {
    report(path, `must be an object, but is ${shown(value)}.`, 'Write, for example, { "table": "…", "column": "…" }.');
    return undefined;
  }
  const read: Record<string, unknown> = {};
  const spelled = new Map<string, string>();
  for (const [written, each] of Object.entries(value)) {
    const here = [...path, written];
    const name = Object.hasOwn(fields, written) ? written : snakeName(written);
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!field) {
      reportUnknown(here, written, fields, report);
      continue;
    }
    // In JSON, `null` means a field that is not set.
    if (each === null) continue;
    const other = spelled.get(name);
    if (other === undefined) read[name] = readField(here, each, field, report);
    else report(here, `sets the same as "${other}".`, 'Remove one of the two.');
    spelled.set(name, written);
  }
  for (const [name, field] of Object.entries(fields))
    if (field.isNeeded && (value[name] === undefined || value[name] === null))
      report(path, `has no "${name}".`, `Add it: ${field.description}`);
  return read;
}

function reportUnknown(path: Path, name: string, fields: JobFields, report: Report): void {
  const known = Object.keys(fields).filter((one) => !one.startsWith('$'));
  if (/key|token|secret|password|credential/i.test(name))
    return report(path, 'is not a field.', 'Keep secrets out of job files: use the environment or the editor.');
  const meant = nearestName(snakeName(name), known) ?? nearestName(name, known);
  report(path, 'is not a field.', meant === undefined ? `Use one of ${known.join(', ')}.` : `Did you mean "${meant}"?`);
}

function readField(path: Path, value: unknown, field: JobField, report: Report): unknown {
  const wrong = (expected: string): undefined => {
    report(path, `must be ${expected}, but is ${shown(value)}.`, 'Correct it in the file.');
    return undefined;
  };
  switch (field.kind) {
    case 'text':
      return isText(value) && (field.pattern?.test(value) ?? true) ? value : wrong(field.takes);
    case 'choice':
      if (typeof value === 'string' && field.values.includes(value)) return value;
      return wrong(field.values.map((one) => JSON.stringify(one)).join(' or '));
    case 'count':
      return isCount(value) ? value : wrong('a whole number, 1 or more');
    case 'texts':
      return isTexts(value) ? value : wrong(field.takes);
    case 'tablePath': {
      const parts = typeof value === 'string' ? value.split('/').filter((part) => part !== '') : value;
      return isTexts(parts) ? parts : wrong('a path such as "shop/products" or ["shop", "a/b"]');
    }
    case 'onError':
      return onErrorOfWords(value) ?? wrong('"fail", "null", "skip" or { "retry": 3 }');
    case 'section':
      return readSection(path, value, field.fields, report);
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 1;
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.length > 0 && value.every(isText);

/** Short, since it is part of a sentence. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return value === null ? 'null' : 'an object';
  if (typeof value !== 'string') return JSON.stringify(value) ?? 'nothing';
  if (value.trim() === '') return 'empty';
  return value.length > 60 ? `a string of ${value.length} characters` : JSON.stringify(value);
}

/** Checks combinations of fields. A field without any effect is an error, since the mistake would go unnoticed. */
function checkTogether(read: Read, report: Report): void {
  if (read['catalog'] !== undefined && read['connection'] !== undefined)
    report(['connection'], 'sets the same as "catalog".', 'Remove one of the two.');
  const made = read['function'];
  if (isRecord(made)) checkFunction(made, report);
  const ray = read['ray'];
  if (!isRecord(ray)) return;
  const { address } = ray;
  if (isThere(ray, 'address') === isThere(ray, 'profile'))
    report(['ray'], 'must have one of "address" and "profile".', 'Set exactly one of them.');
  if (address !== undefined && ray['ray_cluster'] !== undefined)
    report(['ray', 'ray_cluster'], 'requires "profile".', 'Remove it.');
}

/** Whether a field is present, also with an invalid value, which is reported separately. */
const isThere = (section: Read, name: string): boolean => Object.hasOwn(section, name);

function checkFunction(made: Read, report: Report): void {
  const [sql, file] = [made['sql'], made['file']];
  const path = ['function'];
  if (isThere(made, 'sql') === isThere(made, 'file'))
    return report(path, 'must have one of "sql" and "file".', 'Set exactly one of them.');
  const isPython = isText(file) && file.endsWith('.py');
  for (const name of ['inputs', 'output', 'takes'] as const)
    if (made[name] !== undefined && !isPython)
      report(
        [...path, name],
        'applies only to Python.',
        file === undefined ? 'Remove it.' : 'Remove it: udf() in the file sets it.',
      );
  if (sql !== undefined && made['export'] !== undefined) report([...path, 'export'], 'requires "file".', 'Remove it.');
  for (const name of ['export', 'inputs', 'output'] as const)
    if (made[name] === undefined && isPython)
      report(path, `has no "${name}", which a Python function needs.`, 'Add it.');
}

// Every field has been checked for its kind before.
const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

function fileOf(read: Read): JobFile {
  return {
    catalog: text(read['catalog']),
    connection: text(read['connection']),
    database: text(read['database']),
    table: isTexts(read['table']) ? read['table'] : [],
    column: text(read['column']) ?? '',
    function: isRecord(read['function']) ? functionOf(read['function']) : undefined,
    options: optionsOf(read),
  };
}

function optionsOf(read: Read): BackfillOptions {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one of the names in the table of fields
  const runner = read['runner'] as RunnerName | 'auto' | undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made by onErrorOfWords
  const onError = read['on_error'] as OnError | undefined;
  const options: BackfillOptions = {
    runner,
    where: text(read['where']),
    concurrency: number(read['concurrency']),
    taskSize: number(read['task_size']),
    checkpointSize: number(read['checkpoint_size']),
    commitGranularity: number(read['commit_granularity']),
    numFrags: number(read['num_frags']),
    readVersion: number(read['read_version']),
    onError,
    key: text(read['key']),
    ray: isRecord(read['ray']) ? rayOf(read['ray']) : undefined,
    python: text(read['python']),
  };
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function rayOf(ray: Read): RayPlace {
  const profile = text(ray['profile']);
  if (profile === undefined) return { address: text(ray['address']) ?? '' };
  const rayCluster = text(ray['ray_cluster']);
  return { profile, ...(rayCluster !== undefined && { rayCluster }) };
}

function functionOf(made: Read): FunctionSource {
  const called = { name: text(made['name']), version: text(made['version']) };
  const [sql, file = '', name] = [text(made['sql']), text(made['file']), text(made['export'])];
  if (sql !== undefined) return { ...called, kind: 'sql', expression: sql };
  if (!file.endsWith('.py')) return { ...called, kind: 'typescript', file, export: name };
  return {
    ...called,
    kind: 'python',
    file,
    entry: name ?? '',
    takes: made['takes'] === 'batch' ? 'batch' : 'row',
    inputs: isTexts(made['inputs']) ? made['inputs'] : [],
    output: text(made['output']) ?? '',
  };
}
