import { reservedWords } from '#catalog/names/sqlNames.ts';
import { tokensOf } from '#shared/sqlTokens.ts';
import { CatalogError, isCatalogError, isCatalogErrorKind, messageOf } from '#shared/errors.ts';
import { RemoteError } from '#shared/protocol/rpc.ts';
import { isRecord } from '#shared/records.ts';
import { engineErrorCode } from './messages.ts';
import { hintsFor, type SqlCaller } from './sqlHints.ts';
import { sqlProcessEnded } from './sqlProcess.ts';
import type { SqlTable } from './sqlTable.ts';

/** The position of an error in the text of a query. Lines and columns count from 1, characters from 0. */
export type SqlPosition = { line: number; column: number; offset: number };

/**
 * Returns the position that a message shows for an offset in the text of a query. The column is undefined if it is
 * unknown how long the text before it is that the user wrote.
 */
export type FindPosition = (offset: number) => { line: number; column: number | undefined };

/** The error of the engine, as `errors_as_json` writes it. */
type EngineError = { kind: string; message: string; name: string; type: string; offset: number | undefined };

/** What the query was, for hints. */
export type QueryContext = {
  text: string;
  tables: readonly SqlTable[];
  /** Why the process ended; undefined while it runs. */
  end: string | undefined;
  caller?: SqlCaller | undefined;
  findPosition?: FindPosition | undefined;
};

/** Converts an error of the engine's process to an error for users. */
export function toUserError(error: unknown, context: QueryContext): unknown {
  if (!(error instanceof RemoteError)) return error;
  const { code, message } = error;
  if (code === 'closed') return sqlProcessEnded(context.end ?? 'unknown reason', error);
  // An error of this product already contains the hint in its message, so no other hint is added. The only one without
  // is that there is no engine.
  if (isCatalogErrorKind(code))
    return new CatalogError(code, message, code === 'Unsupported' ? hintsFor(context.caller).noEngine : '', {
      cause: error,
    });
  if (code !== engineErrorCode) return error;
  return fromEngine(readEngineError(message, context.text), context, error);
}

function readEngineError(message: string, text: string): EngineError {
  let record: Record<string, unknown>;
  try {
    const parsed: unknown = JSON.parse(message.slice(message.indexOf('{')));
    if (!isRecord(parsed)) throw new TypeError('The message is not JSON.');
    record = parsed;
  } catch {
    // A few errors of the engine's client are plain text: "Invalid Input Error: Values were not provided …".
    const plain = firstLine(message).replace(/^(?:[A-Z]\w+ )+Error: /, '');
    return { kind: '', message: plain, name: '', type: '', offset: undefined };
  }
  const read = (key: string): string => (typeof record[key] === 'string' ? record[key] : '');
  const position = read('position') === '' ? undefined : Number(read('position'));
  return {
    kind: read('exception_type'),
    message: read('exception_message'),
    name: read('name'),
    type: read('type'),
    offset: position === undefined ? undefined : charactersIn(text, position),
  };
}

/** Converts a count of UTF-8 bytes to a count of characters. */
const charactersIn = (text: string, bytes: number): number => Buffer.from(text).subarray(0, bytes).toString().length;

const firstLine = (text: string): string => text.split('\n', 1)[0]!.trim();

export function positionAt(text: string, offset: number): SqlPosition {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: before.at(-1)!.length + 1, offset };
}

function fromEngine(error: EngineError, context: QueryContext, cause: unknown): CatalogError {
  const { offset } = error;
  const resource = resourceError(error, context, cause);
  if (resource) return resource;
  const position = offset === undefined ? undefined : positionAt(context.text, offset);
  const shown = position && (context.findPosition?.(position.offset) ?? position);
  const column = shown?.column === undefined ? '' : `, column ${shown.column}`;
  const place = shown ? ` (line ${shown.line}${column})` : '';
  const made = new CatalogError('InvalidInput', `SQL: ${sentenceOf(error)}${place}.`, hintFor(error, context), {
    cause,
  });
  return position ? withPosition(made, position) : made;
}

/** The property is hidden, because a notebook prints an error's own properties. */
const withPosition = (error: CatalogError, position: SqlPosition): CatalogError =>
  Object.defineProperty(error, 'position', { value: position });

/** Adds the place of a table's name, which the engine counts in bytes, to the error that the table does not exist. */
export function locateMissingTable(error: unknown, text: string, bytes: unknown): unknown {
  const isMissing = isCatalogError(error, 'TableNotFound') && positionOf(error) === undefined;
  // The engine has the largest number for an unknown place.
  if (!isMissing || typeof bytes !== 'number') return error;
  return withPosition(error, positionAt(text, charactersIn(text, bytes)));
}

/** Returns the position that `toUserError` found for an error. */
export function positionOf(error: unknown): SqlPosition | undefined {
  return error instanceof Error && 'position' in error ? (error.position as SqlPosition) : undefined;
}

function resourceError(
  { kind, message }: EngineError,
  { caller }: QueryContext,
  cause: unknown,
): CatalogError | undefined {
  if (kind === 'Out of Memory')
    return new CatalogError(
      'InvalidInput',
      /max_temp_directory_size|No space left|disk/i.test(message)
        ? 'The query needs more memory and temporary disk space than there is.'
        : 'The query needs more memory than the SQL engine may use.',
      'Select fewer columns or rows, or filter before you join, group or sort.',
      { cause },
    );
  if (kind === 'IO' || /No space left on device/i.test(message))
    return new CatalogError(
      'ServiceUnavailable',
      'The query could not write temporary data, for instance because the disk is full.',
      'Free space in the folder for temporary files, or read fewer rows.',
      { cause },
    );
  if (kind === 'Permission')
    return new CatalogError(
      'InvalidInput',
      'SQL can read only tables of catalogs, and no files, extensions or addresses.',
      hintsFor(caller).readFile,
      { cause },
    );
  if (kind === 'INTERNAL' || kind === 'FATAL')
    return new CatalogError(
      'Internal',
      'The SQL engine failed with an internal error.',
      'Run the query again, or write it in another way.',
      { cause },
    );
  return undefined;
}

/** Returns the engine's message in one line, without lists of functions and settings of the engine. */
function sentenceOf({ message, type, name }: EngineError): string {
  if (type !== '' && name !== '' && /does not exist/.test(message))
    return `there is no ${type.toLowerCase()} "${name}"`;
  if (/nameListToString/i.test(message)) return 'a name has more than three parts';
  const [first = ''] = message.split('\n');
  const short = first
    .replace(/ In order to select one, please add explicit type casts\.?/, '')
    .replace(/ You might need to add explicit type casts\.?/, '')
    .replace(/STRING_LITERAL/g, 'text')
    .replace(/INTEGER_LITERAL/g, 'integer')
    .replace(/[.!]\s*$/, '');
  return short === '' ? 'the query failed' : short.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase());
}

/** Functions of SQLite that the engine does not have, and what to write instead. */
const functions: Readonly<Record<string, string>> = {
  iif: 'Write if(condition, yes, no) or case when … then … else … end.',
  total: 'Write coalesce(sum(x), 0)::double.',
  datetime: "Write now() for datetime('now'), and x::timestamp for datetime(x).",
  julianday: 'Write julian(x::timestamp).',
  unixepoch: 'Write epoch(x).',
  char: 'Write chr(65).',
  date: "Write date_trunc('month', x) for date(x, 'start of month').",
  json_array_length: 'Lists and vectors are values here: write len(x).',
  json_each: 'Lists are values here: write unnest(x).',
  last_insert_rowid: 'Tables have no last row id.',
};

function hintFor({ message, name, type, offset, kind }: EngineError, { text, tables }: QueryContext): string {
  const called = type.endsWith('Function') ? name : /arguments provided to (\w+) function/.exec(message)?.[1];
  const function_ = called === undefined ? undefined : functions[called.toLowerCase()];
  if (function_ !== undefined) return function_;
  if (/nameListToString/i.test(message)) return 'Write a table in nested namespaces as "shop/eu/north".orders.';
  if (kind === 'Parser') {
    if (isVersion(text, offset)) return "Write version('shop.orders', 7) after from for an earlier version.";
    const hyphenated = nameWithHyphen(text, offset);
    if (hyphenated !== undefined) return `Write a name with a hyphen in double quotes: "${hyphenated}".`;
    const words = new Set(tokensOf(text).map((token) => (token.kind === 'word' ? token.text.toLowerCase() : '')));
    // `char` is the name of a type in the engine, so its parser fails within the call.
    if (words.has('char')) return functions['char']!;
    const [, word = ''] = /syntax error at or near "([^"]*)"/.exec(message) ?? [];
    if (reservedWords.has(word.toLowerCase()) && isNamePlace(text, offset))
      return `The word ${word} is a keyword: write a name as "${word}".`;
    if (words.has('at')) return 'The word at is a keyword: write a column of this name as "at".';
  }
  if (/^(?:Referenced column|Table "[^"]*" does not have a column|Binder Error: Referenced)/.test(message)) {
    if (offset !== undefined && text[offset] === '"' && !isColumn(tables, name))
      return `Text is written in single quotes: '${name}'. Double quotes are for names.`;
    return tables.length > 0 ? tables.map(columnsText).join(' ') : 'Name a table after from.';
  }
  if (/must appear in the GROUP BY clause/.test(message))
    return 'Add the column to group by, or write any_value(column).';
  if (/(?:best candidate function|No function matches)/.test(message))
    return "Convert a value to another type with ::, such as '3'::integer + 1.";
  if (/Could not convert string/.test(message)) return 'Write try_cast(x as integer) to get null for other text.';
  const isDeep = /\w\.\w+\.\w/.test(text) && /Catalog "[^"]*" does not exist/.test(message);
  if (isDeep) return 'Write a table in nested namespaces as "shop/eu".orders.';
  return 'The dialect is that of DuckDB: see duckdb.org/docs/sql/introduction.';
}

/** Whether a query asks at an offset for an earlier version of a table, as other databases do. */
const isVersion = (text: string, offset: number | undefined): boolean =>
  offset !== undefined &&
  /^(?:(?:for|as\s+of|at)\b|version\b|timestamp\b)/i.test(text.slice(offset)) &&
  /\b(?:for|as\s+of|at\s*\()\s*$|\bfrom\s+\S+\s*$/i.test(text.slice(0, offset));

/** Returns the name with a hyphen after `from` or `join` that an offset is in: `order-items`. */
function nameWithHyphen(text: string, offset: number | undefined): string | undefined {
  if (offset === undefined) return undefined;
  for (const { 1: name = '', index, 0: whole } of text.matchAll(/\b(?:from|join|into)\s+(?:\w+\.)*(\w+(?:-\w+)+)/gi))
    if (index <= offset && offset <= index + whole.length) return name;
  return undefined;
}

/** Whether a name is expected at an offset. */
const isNamePlace = (text: string, offset: number | undefined): boolean =>
  offset !== undefined && /(?:\b(?:from|join|into|as|select|by)\s+|[.,(]\s*)$/i.test(text.slice(0, offset));

const isColumn = (tables: readonly SqlTable[], name: string): boolean =>
  tables.some(({ schema }) => schema.fields.some((field) => field.name === name));

const maxColumns = 40;

function columnsText({ name, schema: { fields } }: SqlTable): string {
  const names = fields.slice(0, maxColumns).map((field) => field.name);
  return `Columns of ${name}: ${names.join(', ')}${fields.length > maxColumns ? ', …' : ''}.`;
}

/** Whether an error says that the query was interrupted, as closing does. */
export const isInterrupted = (error: unknown): boolean => /"exception_type":"INTERRUPT"/.test(messageOf(error));
