import {
  describeValue,
  type FieldPath,
  type FieldProblem,
  type Fields,
  formatFieldPath,
  readFieldTable,
  toJsonSchema,
  type Values,
} from './fieldTable.ts';
import type { SavedView } from './protocol/panelViews.ts';
import { type ColumnSettings, isPanelView, type PanelView } from './protocol/webviewMessages.ts';
import { isRecord } from './records.ts';
import { isFiniteNumber, isString, listOf } from './shape.ts';

// A view file (`*.lance-view.json`) describes what to show of a table, so that a team can share it. Every field is in this
// table; the reader and the editor's schema are derived from it. A file is data: it names a catalog and has no secret.

export const viewFileEnding = '.lance-view.json';

/** The version of the format. A reader refuses a later one, because it could show other rows than the file means. */
const formatVersion = 1;

/** Maximum size of a file, and of its parts, in characters or entries. */
export const maxViewFileBytes = 1024 * 1024;
const maxNameLength = 1_000;
const maxWhereLength = 100_000;
const maxOrderings = 100;
const maxColumns = 20_000;
const maxTablePath = 32;

/** Where the table of a view is. `path` is relative to the folder of the file, absolute, or the URL of an object store. */
export type ViewConnection =
  | { readonly kind: 'dir'; readonly path: string; readonly name?: string | undefined }
  | {
      readonly kind: 'rest';
      readonly uri: string;
      readonly database?: string | undefined;
      readonly name?: string | undefined;
    };

export type ViewFile = Omit<SavedView, 'name'> & {
  readonly connection: ViewConnection;
  /** The namespaces, then the name of the table. */
  readonly table: readonly string[];
};

/** An error in a view file. `what` starts with the path of the field; `hint` is the next step. */
export type ViewFileProblem = { readonly path: FieldPath; readonly what: string; readonly hint: string };

/** A lone surrogate can't be encoded for a catalog. */
const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text);

const isName = (value: unknown): value is string =>
  isString(value) && value !== '' && value.length <= maxNameLength && isWellFormed(value);
const isNames = listOf(isName);

const readName = (value: unknown): string | undefined => (isName(value) ? value : undefined);

function readNames(value: unknown): readonly string[] | undefined {
  return isNames(value) && value.length <= maxColumns ? value : undefined;
}

function readTable(value: unknown): readonly string[] | undefined {
  const names = isString(value) ? value.split('/') : value;
  return isNames(names) && names.length > 0 && names.length <= maxTablePath ? names : undefined;
}

const readFormat = (value: unknown): number | undefined => (value === formatVersion ? value : undefined);

const readWhere = (value: unknown): string | undefined =>
  isString(value) && value.length <= maxWhereLength ? value : undefined;

/** A path on another machine is refused, because Windows would sign in there to read it. */
function readPath(value: unknown): string | undefined {
  const isPath = isString(value) && value.trim() !== '' && value.length <= 4 * maxNameLength && isWellFormed(value);
  // oxlint-disable-next-line no-control-regex -- these characters are what is refused
  if (!isPath || /[\u0000-\u001F]/.test(value) || /^(?:[\\/]{2}|file:)/i.test(value)) return undefined;
  return value;
}

function readAddress(value: unknown): string | undefined {
  if (!isString(value) || value.length > 2 * maxNameLength || !URL.canParse(value)) return undefined;
  const { protocol, username, password, search, hash } = new URL(value);
  const isPlain = username + password + search + hash === '';
  return isPlain && ['http:', 'https:'].includes(protocol) ? value : undefined;
}

function readWidths(value: unknown): ColumnSettings['widths'] | undefined {
  if (!isRecord(value)) return undefined;
  const widths = Object.entries(value);
  const isFit = widths.length <= maxColumns && widths.every(([name, width]) => isName(name) && isFiniteNumber(width));
  return isFit ? widths.map(([name, width]) => ({ name, width: Number(width) })) : undefined;
}

const nameSchema = { type: 'string', minLength: 1, maxLength: maxNameLength } as const;
const namesSchema = { type: 'array', items: nameSchema, maxItems: maxColumns } as const;
const names = { kind: 'other', takes: 'a list of names of columns', read: readNames, schema: namesSchema } as const;

const connectionFields = {
  kind: {
    kind: 'choice',
    values: ['dir', 'rest'],
    meanings: ['A directory of tables.', 'A catalog server.'],
    isNeeded: true,
    description: 'Kind of catalog: `dir` or `rest`.',
  },
  path: {
    kind: 'other',
    takes: 'a path on this machine or the URL of an object store',
    read: readPath,
    schema: nameSchema,
    description:
      '`dir`: directory relative to the folder of this file, absolute, below `~`, or the URL of an object store.',
  },
  uri: {
    kind: 'other',
    takes: 'an address that starts with https:// or http://, without credentials',
    read: readAddress,
    schema: { type: 'string', pattern: '^https?://' },
    description: '`rest`: URL of the server. The API key stays in the secret storage of VS Code.',
  },
  database: {
    kind: 'other',
    takes: 'the name of a database',
    read: readName,
    schema: nameSchema,
    description: '`rest`: database on the server.',
  },
  name: {
    kind: 'other',
    takes: 'a name',
    read: readName,
    schema: nameSchema,
    description: 'Name for a new connection. It also decides between several connections to one server.',
  },
} as const satisfies Fields;

const orderingFields = {
  column: {
    kind: 'other',
    takes: 'the name of a column',
    read: readName,
    schema: nameSchema,
    isNeeded: true,
    description: 'Column to sort by.',
  },
  descending: { kind: 'flag', default: false, description: 'Sort from the largest value (default: `false`).' },
} as const satisfies Fields;

const columnFields = {
  hidden: { ...names, description: 'Columns that are not shown.' },
  pinned: { ...names, description: 'Columns at the left that do not scroll.' },
  order: { ...names, description: 'Columns from left to right. Those that are missing come last.' },
  widths: {
    kind: 'other',
    takes: 'an object with a number of pixels for each column',
    read: readWidths,
    schema: { type: 'object', additionalProperties: { type: 'number' } },
    description: 'Widths of columns in pixels.',
  },
  rowHeight: {
    kind: 'choice',
    values: ['small', 'medium', 'large'],
    meanings: ['One line.', 'Larger images and wrapped text.', 'The largest images.'],
    description: 'Height of rows (default: `small`).',
  },
} as const satisfies Fields;

const viewFileFields = {
  $schema: { kind: 'text', takes: 'the address of a schema', description: 'Ignored.' },
  lanceView: {
    kind: 'other',
    takes: `${formatVersion}, the version of the format that this version of Lance Catalog reads`,
    read: readFormat,
    schema: { const: formatVersion },
    isNeeded: true,
    description: 'Version of the format: `1`.',
  },
  connection: { kind: 'section', fields: connectionFields, isNeeded: true, description: 'Catalog with the table.' },
  table: {
    kind: 'other',
    takes: 'a path such as "shop/orders" or ["shop", "a/b"]',
    read: readTable,
    schema: { anyOf: [nameSchema, { ...namesSchema, minItems: 1, maxItems: maxTablePath }] },
    isNeeded: true,
    description: 'Path of the table, such as `"shop/orders"`, or `["shop", "a/b"]` if a name contains a slash.',
  },
  version: { kind: 'count', minimum: 1, description: 'Version of the table (default: the newest).' },
  where: {
    kind: 'other',
    takes: `a SQL condition of at most ${maxWhereLength} characters`,
    read: readWhere,
    schema: { type: 'string', maxLength: maxWhereLength },
    description: 'SQL condition that selects rows. Default: all rows.',
  },
  orderBy: { kind: 'sections', fields: orderingFields, description: 'Columns to sort by, the first one first.' },
  columns: { kind: 'section', fields: columnFields, description: 'Which columns are shown, and how.' },
} as const satisfies Fields;

type Read = Values<typeof viewFileFields>;
type Report = (path: FieldPath, what: string, hint: string) => void;
export type ViewFileReading =
  | { readonly file: ViewFile; readonly problems: readonly [] }
  | { readonly file: undefined; readonly problems: readonly ViewFileProblem[] };

/** The fields of a view that are described by its check alone, because other parts of the panel own them. */
const otherViewFields = isPanelView.fields.filter((name) => !Object.hasOwn(viewFileFields, name));

/**
 * Reads the JSON of a view file, which is not trusted. Opens nothing.
 * @param value the result of `JSON.parse`
 */
export function readViewFile(value: unknown): ViewFileReading {
  const problems: ViewFileProblem[] = [];
  const report: Report = (path, what, hint) => problems.push({ path, what: `${formatFieldPath(path)} ${what}`, hint });
  const [others, described] = splitFields(value);
  const read = readFieldTable(described, viewFileFields, {
    toName: (name) => name,
    report: (path, problem) => report(path, ...describeProblem(problem)),
  });
  const view = { where: read?.where ?? '', orderBy: orderingsOf(read), ...others };
  if (read) checkTogether(read, view, report);
  const connection = read && connectionOf(read);
  if (!read || !connection || !isPanelView(view) || problems.length > 0) return { file: undefined, problems };
  const { table = [], version } = read;
  const columns = columnsOf(read);
  const file = { connection, table, view, ...(columns && { columns }), ...(version !== undefined && { version }) };
  return { file, problems: [] };
}

const isOther = ([name]: [string, unknown]): boolean => otherViewFields.includes(name);

/** Separates the fields that `otherViewFields` lists. */
function splitFields(value: unknown): [others: Record<string, unknown>, described: unknown] {
  if (!isRecord(value)) return [{}, value];
  const entries = Object.entries(value);
  return [
    Object.fromEntries(entries.filter((one) => isOther(one))),
    Object.fromEntries(entries.filter((one) => !isOther(one))),
  ];
}

/** Checks combinations of fields. A field without effect is an error, so that a mistake is noticed. */
function checkTogether({ connection, orderBy = [] }: Read, view: PanelView, report: Report): void {
  const { kind } = connection ?? {};
  const path = ['connection'];
  if (connection && kind) {
    const [needed, foreign] = kind === 'dir' ? (['path', ['uri', 'database']] as const) : (['uri', ['path']] as const);
    if (!Object.hasOwn(connection, needed)) report(path, `has no "${needed}".`, `Add it, or change "kind".`);
    for (const name of foreign)
      if (connection[name] !== undefined)
        report([...path, name], `has no meaning for a catalog of kind "${kind}".`, 'Remove it.');
  }
  if (orderBy.length > maxOrderings)
    report(['orderBy'], `has ${orderBy.length} columns.`, `Use at most ${maxOrderings}.`);
  for (const name of otherViewFields)
    if (!isPanelView({ where: '', orderBy: [], [name]: view[name as keyof PanelView] }))
      report([name], 'has another shape than a view of this version of Lance Catalog.', 'Save the view again.');
}

const orderingsOf = (read: Read | undefined): PanelView['orderBy'] =>
  (read?.orderBy ?? []).flatMap((one) =>
    one?.column === undefined ? [] : [{ column: one.column, descending: one.descending ?? false }],
  );

function connectionOf({ connection }: Read): ViewConnection | undefined {
  const { kind, path, uri, database, name } = connection ?? {};
  if (kind === 'dir') return path === undefined ? undefined : { kind, path, ...(name !== undefined && { name }) };
  if (uri === undefined) return undefined;
  return { kind: 'rest', uri, ...(database !== undefined && { database }), ...(name !== undefined && { name }) };
}

function columnsOf({ columns }: Read): ColumnSettings | undefined {
  if (!columns) return undefined;
  const { order = [], pinned = [], hidden = [], widths = [], rowHeight = 'small' } = columns;
  return { order: [...order], pinned: [...pinned], hidden: [...hidden], widths: [...widths], rowHeight };
}

/** Returns what is wrong, and the next step. */
function describeProblem(problem: FieldProblem): [what: string, hint: string] {
  switch (problem.kind) {
    case 'notSection':
      return [`must be an object, but is ${describeValue(problem.value)}.`, 'Correct it in the file.'];
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
  if (/key|token|secret|password|credential|header/i.test(name)) return 'Keep secrets out of view files.';
  return meant === undefined ? `Use one of ${known.join(', ')}.` : `Did you mean "${meant}"?`;
}

/** Returns the text of a view file. Fields with their default are left out. */
export function writeViewFile({ connection, table, version, view, columns }: ViewFile): string {
  const { where, orderBy, ...others } = view;
  const written = columns ? writtenColumns(columns) : {};
  const file = {
    lanceView: formatVersion,
    connection,
    table: table.some((name) => name.includes('/')) ? table : table.join('/'),
    ...(version !== undefined && { version }),
    ...(where.trim() !== '' && { where }),
    ...(orderBy.length > 0 && {
      orderBy: orderBy.map(({ column, descending }) => ({ column, ...(descending && { descending }) })),
    }),
    ...others,
    ...(Object.keys(written).length > 0 && { columns: written }),
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}

function writtenColumns({ order, pinned, hidden, widths, rowHeight }: ColumnSettings): Record<string, unknown> {
  return {
    ...(hidden.length > 0 && { hidden }),
    ...(pinned.length > 0 && { pinned }),
    ...(order.length > 0 && { order }),
    ...(widths.length > 0 && { widths: Object.fromEntries(widths.map(({ name, width }) => [name, width])) }),
    ...(rowHeight !== 'small' && { rowHeight }),
  };
}

/** JSON Schema of a view file, for completion and validation of its text in the editor. */
export function viewFileSchema(): Readonly<Record<string, unknown>> {
  const schema = toJsonSchema(viewFileFields, () => []);
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const others = Object.fromEntries(otherViewFields.map((name) => [name, {}]));
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'View of a Lance table',
    ...schema,
    properties: { ...properties, ...others },
  };
}
