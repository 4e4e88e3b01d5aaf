// Every field of a job file (`*.lance-job.json`). The reader, the editor's schema and its documentation go by this table.
import { runnerNames } from './backfill.ts';

/** What a field takes, as data. */
export type JobField = { readonly description: string; readonly isNeeded?: true } & (
  | { readonly kind: 'text'; readonly takes: string; readonly pattern?: RegExp }
  | { readonly kind: 'choice'; readonly values: readonly string[]; readonly meanings: readonly string[] }
  /** A whole number, 1 or more. */
  | { readonly kind: 'count' }
  | { readonly kind: 'texts'; readonly takes: string }
  /** `shop/products`, or `["shop", "a/b"]` where a name has a slash. */
  | { readonly kind: 'tablePath' }
  | { readonly kind: 'onError' }
  | { readonly kind: 'section'; readonly fields: JobFields }
);

export type JobFields = Readonly<Record<string, JobField>>;

/** How a file begins that is a job file by its name. */
export const jobFileEnding = '.lance-job.json';

const functionFields = {
  sql: {
    kind: 'text',
    takes: 'an expression of SQL over the columns of the table',
    description: 'An expression of SQL over the columns of the table, such as `length(caption)`.',
  },
  file: {
    kind: 'text',
    takes: 'the path of a TypeScript, JavaScript or Python file',
    pattern: /\.(?:[cm]?[jt]s|py)$/,
    description: 'A TypeScript, JavaScript or Python file, seen from the folder of this one.',
  },
  export: {
    kind: 'text',
    takes: 'the name of a function in the file',
    description: 'The function in the file; the default export of TypeScript where nothing is said.',
  },
  inputs: {
    kind: 'texts',
    takes: 'a list of columns',
    description: 'Python: the columns that it reads, in the order of its arguments.',
  },
  output: {
    kind: 'text',
    takes: 'a type such as "int32" or "float[768]"',
    description: 'Python: the type of what it gives, such as `int32`, `string` or `float[768]`.',
  },
  takes: {
    kind: 'choice',
    values: ['row', 'batch'],
    meanings: [
      'The function is called with the values of one row.',
      'The function is called with whole record batches.',
    ],
    description: 'Python: what it is called with; `row` where nothing is said.',
  },
  name: {
    kind: 'text',
    takes: 'a name',
    description: 'What the function is called; as in the file where nothing is said.',
  },
  version: {
    kind: 'text',
    takes: 'a text such as "2"',
    description: 'Your own word for the version of the function. Code that changed is seen without it.',
  },
} as const satisfies JobFields;

const rayFields = {
  address: {
    kind: 'text',
    takes: 'an address such as "http://127.0.0.1:8265"',
    pattern: /^https?:\/\/\S+$/,
    description:
      'Address of the dashboard of a Ray. Its token comes from the editor or the environment, never from here.',
  },
  profile: {
    kind: 'text',
    takes: 'the name of a cluster profile',
    description: 'A cluster of the setting `lanceCatalog.cluster.profiles`.',
  },
  ray_cluster: {
    kind: 'text',
    takes: 'the name of a RayCluster',
    description: 'The RayCluster; that of the profile where nothing is said.',
  },
} as const satisfies JobFields;

export const jobFileFields = {
  $schema: { kind: 'text', takes: 'the address of a schema', description: 'Of no meaning here.' },
  catalog: {
    kind: 'text',
    takes: 'a directory, s3://… or https://…',
    description:
      'A directory seen from the folder of this file, the address of an object store, or of a catalog server.',
  },
  connection: {
    kind: 'text',
    takes: 'the name of a connection',
    description: 'A connection of the editor, in place of `catalog`.',
  },
  database: { kind: 'text', takes: 'the name of a database', description: 'Which database of a catalog server.' },
  table: {
    kind: 'tablePath',
    isNeeded: true,
    description: 'The table: `"shop/products"`, or `["shop", "a/b"]` where a name has a slash.',
  },
  column: { kind: 'text', isNeeded: true, takes: 'the name of a column', description: 'The column to compute.' },
  function: {
    kind: 'section',
    fields: functionFields,
    description: 'What computes the column; what is registered on the table where nothing is said.',
  },
  runner: {
    kind: 'choice',
    values: ['auto', ...runnerNames],
    meanings: [
      'Picks one, and says why.',
      'On this machine, without Python.',
      'On this machine, by a Python that has pylance.',
      'On a Ray.',
      'By the server of the catalog.',
    ],
    description: 'What runs the job; `auto` where nothing is said.',
  },
  where: {
    kind: 'text',
    takes: 'an expression of SQL',
    description: 'SQL that says which rows; those where the column is null when nothing is said.',
  },
  concurrency: { kind: 'count', description: 'How many compute at once.' },
  task_size: { kind: 'count', description: 'Rows of a task at most.' },
  checkpoint_size: { kind: 'count', description: 'Rows after which what was computed is kept.' },
  commit_granularity: { kind: 'count', description: 'Fragments after which what was computed is committed.' },
  num_frags: { kind: 'count', description: 'Only so many fragments.' },
  read_version: {
    kind: 'count',
    description: 'The version of the table that is read; the latest when nothing is said.',
  },
  on_error: {
    kind: 'onError',
    description:
      'What is done with rows that the function throws for, in place of what the function says: `"fail"` ends the job, ' +
      '`"null"` counts them as computed, `"skip"` leaves them to the next run, `{ "retry": 3 }` tries them again.',
  },
  key: {
    kind: 'text',
    takes: 'the name of a column',
    description: 'Runner `local`: a column whose values name one row each, by which rows are written back.',
  },
  ray: { kind: 'section', fields: rayFields, description: 'Runner `ray`: where it is.' },
  python: {
    kind: 'text',
    takes: 'the path of an interpreter',
    description: 'Runner `local-python`: the interpreter; one that has pylance is looked for when nothing is said.',
  },
} as const satisfies JobFields;
