import {
  describeValue,
  type FieldPath,
  type FieldProblem,
  type Fields,
  formatFieldPath,
  isTexts,
  readFieldTable,
  textSchema,
  type Values,
} from '#shared/fieldTable.ts';
import { definedEntries, isRecord } from '#shared/records.ts';
import { isString } from '#shared/shape.ts';
import { type BackfillOptions, onErrorOfWords, type RayPlace, runnerNames } from './backfill.ts';
import type { FunctionSource } from './jobMessages.ts';

// Every field of a job file (`*.lance-job.json`). The reader, the editor's schema and its documentation are generated
// from this table.

export const jobFileEnding = '.lance-job.json';

function readTablePath(value: unknown): readonly string[] | undefined {
  const parts = isString(value) ? value.split('/').filter((part) => part !== '') : value;
  return isTexts(parts) ? parts : undefined;
}

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
} as const satisfies Fields;

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
} as const satisfies Fields;

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
    kind: 'other',
    isNeeded: true,
    takes: 'a path such as "shop/products" or ["shop", "a/b"]',
    read: readTablePath,
    schema: { anyOf: [textSchema, { type: 'array', minItems: 1, items: textSchema }] },
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
      'On a Ray cluster.',
      'By the server of the catalog.',
    ],
    description: 'Runner of the job (default: `auto`).',
  },
  where: {
    kind: 'text',
    takes: 'a SQL expression',
    description: 'SQL condition that selects rows. Default: rows where the column is null.',
  },
  concurrency: { kind: 'count', minimum: 1, description: 'Number of workers that compute at the same time.' },
  task_size: { kind: 'count', minimum: 1, description: 'Maximum number of rows in a task.' },
  checkpoint_size: { kind: 'count', minimum: 1, description: 'Number of rows between checkpoints.' },
  commit_granularity: {
    kind: 'count',
    minimum: 1,
    description: 'Number of fragments between commits (default: 1/32 of them, at least 8).',
  },
  num_frags: { kind: 'count', minimum: 1, description: 'Maximum number of fragments to compute.' },
  read_version: {
    kind: 'count',
    minimum: 1,
    description: 'Table version to read (default: the latest).',
  },
  on_error: {
    kind: 'other',
    takes: '"fail", "null", "skip" or { "retry": 3 }',
    read: onErrorOfWords,
    schema: {
      anyOf: [
        { enum: ['fail', 'null', 'skip'] },
        {
          type: 'object',
          additionalProperties: false,
          required: ['retry'],
          properties: { retry: { type: 'integer', minimum: 1 } },
        },
      ],
    },
    examples: ['fail', 'null', 'skip', { retry: 3 }],
    description:
      'What to do with rows for which the function throws; overrides the function. `"fail"` stops the job, `"null"` stores ' +
      'null and counts them as computed, `"skip"` leaves them for the next run, `{ "retry": 3 }` tries them again.',
  },
  key: {
    kind: 'text',
    takes: 'the name of a column',
    description: 'Runner `local`: column with unique values, used to write the rows back.',
  },
  ray: { kind: 'section', fields: rayFields, description: 'Runner `ray`: which Ray cluster to use.' },
  python: {
    kind: 'text',
    takes: 'the path of an interpreter',
    description: 'Runner `local-python`: path of the interpreter. Default: a Python that has pylance.',
  },
} as const satisfies Fields;

/** An error in a job file. `what` starts with the path; `hint` is the next step. */
export type JobFileProblem = {
  readonly path: FieldPath;
  readonly what: string;
  readonly hint: string;
};

/** A job file as written: paths are relative to its folder, and nothing has been opened. */
export type JobFile = {
  readonly catalog: string | undefined;
  readonly connection: string | undefined;
  readonly database: string | undefined;
  /** The path of the table: the namespaces, then the name of the table. */
  readonly table: readonly string[];
  readonly column: string;
  readonly function: FunctionSource | undefined;
  readonly options: BackfillOptions;
};

type JobFileReading =
  | { readonly file: JobFile; readonly problems: readonly [] }
  | { readonly file: undefined; readonly problems: readonly JobFileProblem[] };

type Report = (path: FieldPath, what: string, hint: string) => void;
type Read = Values<typeof jobFileFields>;
type ReadFunction = Values<typeof functionFields>;

/**
 * Reads the JSON of a job file. The JSON is not trusted, because users type it, and a repository may contain it.
 * @param value the result of `JSON.parse`
 */
export function readJobFile(value: unknown): JobFileReading {
  const problems: JobFileProblem[] = [];
  const report: Report = (given, what, hint) => {
    const path = writtenPath(value, given);
    problems.push({ path, what: `${formatFieldPath(path)} ${what}`, hint });
  };
  const read = readFieldTable(value, jobFileFields, {
    toName: snakeName,
    report: (path, problem) => report(path, ...describeProblem(problem)),
  });
  if (read) checkTogether(read, report);
  if (!read || problems.length > 0) return { file: undefined, problems };
  return { file: fileOf(read), problems: [] };
}

/** Returns the path in the spelling of the file, which may use camelCase. */
function writtenPath(value: unknown, path: FieldPath): FieldPath {
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

/** Returns what is wrong, and the next step. */
function describeProblem(problem: FieldProblem): [what: string, hint: string] {
  switch (problem.kind) {
    case 'notSection':
      return [
        `must be an object, but is ${describeValue(problem.value)}.`,
        'Write, for example, { "table": "…", "column": "…" }.',
      ];
    case 'value':
      return [`must be ${problem.expected}, but is ${describeValue(problem.value)}.`, 'Correct it in the file.'];
    case 'unknown':
      return ['is not a field.', unknownHint(problem)];
    case 'duplicate':
      return [`sets the same as "${problem.other}".`, 'Remove one of the two.'];
    case 'missing':
      return [`has no "${problem.name}".`, `Add it: ${problem.description}`];
  }
}

function unknownHint({ name, known, meant }: Extract<FieldProblem, { kind: 'unknown' }>): string {
  if (/key|token|secret|password|credential/i.test(name))
    return 'Keep secrets out of job files: use the environment or the editor.';
  return meant === undefined ? `Use one of ${known.join(', ')}.` : `Did you mean "${meant}"?`;
}

/**
 * Checks combinations of fields. A field that has no effect together with the others is an error, because otherwise the
 * user would not notice the mistake.
 */
function checkTogether(read: Read, report: Report): void {
  if (read.catalog !== undefined && read.connection !== undefined)
    report(['connection'], 'sets the same as "catalog".', 'Remove one of the two.');
  if (read.function) checkFunction(read.function, report);
  const { ray } = read;
  if (!ray) return;
  if (isThere(ray, 'address') === isThere(ray, 'profile'))
    report(['ray'], 'must have one of "address" and "profile".', 'Set exactly one of them.');
  if (ray.address !== undefined && ray.ray_cluster !== undefined)
    report(['ray', 'ray_cluster'], 'requires "profile".', 'Remove it.');
}

/** Whether a field is present. Its value may be invalid, because invalid values are reported separately. */
const isThere = <T extends object>(section: T, name: keyof T): boolean => Object.hasOwn(section, name);

function checkFunction(made: ReadFunction, report: Report): void {
  const { sql, file } = made;
  const path = ['function'];
  if (isThere(made, 'sql') === isThere(made, 'file'))
    return report(path, 'must have one of "sql" and "file".', 'Set exactly one of them.');
  const isPython = file?.endsWith('.py') === true;
  for (const name of ['inputs', 'output', 'takes'] as const)
    if (made[name] !== undefined && !isPython)
      report(
        [...path, name],
        'applies only to Python.',
        file === undefined ? 'Remove it.' : 'Remove it: udf() in the file sets it.',
      );
  if (sql !== undefined && made.export !== undefined) report([...path, 'export'], 'requires "file".', 'Remove it.');
  for (const name of ['export', 'inputs', 'output'] as const)
    if (made[name] === undefined && isPython)
      report(path, `has no "${name}", which a Python function needs.`, 'Add it.');
}

const fileOf = (read: Read): JobFile => ({
  catalog: read.catalog,
  connection: read.connection,
  database: read.database,
  table: read.table ?? [],
  column: read.column ?? '',
  function: read.function && functionOf(read.function),
  options: optionsOf(read),
});

const optionsOf = (read: Read): BackfillOptions =>
  definedEntries({
    runner: read.runner,
    where: read.where,
    concurrency: read.concurrency,
    taskSize: read.task_size,
    checkpointSize: read.checkpoint_size,
    commitGranularity: read.commit_granularity,
    numFrags: read.num_frags,
    readVersion: read.read_version,
    onError: read.on_error,
    key: read.key,
    ray: read.ray && rayOf(read.ray),
    python: read.python,
  });

function rayOf({ address = '', profile, ray_cluster: rayCluster }: Values<typeof rayFields>): RayPlace {
  if (profile === undefined) return { address };
  return { profile, ...(rayCluster !== undefined && { rayCluster }) };
}

function functionOf(made: ReadFunction): FunctionSource {
  const { name, version, sql, file = '', export: entry } = made;
  const called = { name, version };
  if (sql !== undefined) return { ...called, kind: 'sql', expression: sql };
  if (!file.endsWith('.py')) return { ...called, kind: 'typescript', file, export: entry };
  const { takes = 'row', inputs = [], output = '' } = made;
  return { ...called, kind: 'python', file, entry: entry ?? '', takes, inputs, output };
}
