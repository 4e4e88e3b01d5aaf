import { type Table } from '#arrow';
import { type SqlToken, sqlTokens } from '#shared/sqlTokens.ts';
import { toArrowTable } from '#catalog/table/tableData.ts';
import { CatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import type { Parameter } from '#sql/messages.ts';
import { toParameter } from '#sql/parameters.ts';
import { arrowTable, type SqlTable } from '#sql/sqlTable.ts';
import type { FindPosition } from '#sql/sqlErrors.ts';
import { writtenValues } from './sqlHoles.ts';
import type { SqlValue } from './sqlTypes.ts';

/** The arguments of `sql`: the text with a `?` for each value, the values, and the tables among them. */
export type SqlTemplate = {
  text: string;
  parameters: readonly Parameter[];
  /** Returns the table of the notebook that the text names, such as `${1}`. */
  findValue: (name: string) => SqlTable | undefined;
  /** Returns the position in the query as the user wrote it, with its `${…}`. */
  findPosition: FindPosition;
};

/** The range of the text that stands for one `${…}`, and the parameters in it. */
type Place = { start: number; end: number; value: unknown; parameters: () => Parameter[] };

/** How a value stands in the text. */
type Insert = { text: string; parameters: () => Parameter[] };

/** A list without elements as a query without rows, because `in ()` is not SQL. */
const noRows = 'select null where false';

/**
 * Replaces each value: a table after `from` or `join` by a name, a list in `in (…)` by a question mark for each element,
 * any other value by one question mark. Values inside comments are dropped, so that users can comment out a line.
 * @throws CatalogError InvalidInput (13) if a value is at a position where SQL accepts no value
 */
export function readTemplate(texts: TemplateStringsArray, values: readonly SqlValue[]): SqlTemplate {
  const [first = '', ...rest] = texts;
  const tables = new Map<string, SqlTable>();
  let text = first;
  const places = rest.map((after, index): Place => {
    const value: unknown = values[index];
    const start = text.length;
    const insert = insertOf(value, readBefore(text), index + 1, tables);
    text += insert.text;
    const end = text.length;
    text += after;
    return { start, end, value, parameters: insert.parameters };
  });
  const isRead = readerOf(text);
  const parameters = places.filter(isRead).flatMap((place) => place.parameters());
  const findPosition = positionFinder(text, places, writtenValues([first, ...rest]));
  return { text, parameters, findValue: (name) => tables.get(name), findPosition };
}

/** @param written the values in the query as the user wrote it; undefined if that is unknown */
function positionFinder(text: string, places: readonly Place[], written: readonly string[] | undefined): FindPosition {
  return (offset) => {
    let before = '';
    let end = 0;
    // From here on, all characters are known.
    let known = 0;
    for (const [index, place] of places.entries()) {
      if (place.start >= offset) break;
      before += text.slice(end, place.start);
      end = place.end;
      if (place.end > offset) return positionAfter(before, known);
      before += written?.[index] ?? '';
      if (!written) known = before.length;
    }
    return positionAfter(before + text.slice(end, offset), known);
  };
}

/** Returns the position at the end of `before`; its column is unknown if its line starts before `known`. */
function positionAfter(before: string, known: number): ReturnType<FindPosition> {
  const start = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: start >= known ? before.length - start + 1 : undefined };
}

function insertOf(value: unknown, before: Before, number: number, tables: Map<string, SqlTable>): Insert {
  if (isTableValue(value) && before.isTablePlace) {
    const name = `\${${number}}`;
    tables.set(name, arrowTable(name, tableOf(value)));
    return { text: `"${name}"`, parameters: () => [] };
  }
  if (Array.isArray(value) && before.isInList)
    return {
      text: value.length === 0 ? noRows : value.map(() => '?').join(', '),
      parameters: () => value.map(toParameter),
    };
  return { text: '?', parameters: () => [toParameter(value)] };
}

/** Whether a value has rows: an Arrow table, or a list of objects. */
function isTableValue(value: unknown): value is Table | Record<string, unknown>[] {
  if (Array.isArray(value)) return value.every((row) => isRecord(row) && isPlainObject(row));
  return isRecord(value) && isRecord(value['schema']) && Array.isArray(value['batches']);
}

const isPlainObject = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

function tableOf(value: Table | Record<string, unknown>[]): Table {
  if (!Array.isArray(value) || value.length > 0) return toArrowTable('sql', value);
  throw new CatalogError(
    'InvalidInput',
    'The list that is used as a table has no rows, so its columns are unknown.',
    'Use an Arrow table, which has columns even without rows.',
  );
}

/** What the text before a value says about the value. */
type Before = { isTablePlace: boolean; isInList: boolean };

const clauses: ReadonlySet<string> = new Set('select where group having order limit on using values set'.split(' '));

/** Says where the next value would stand in a statement that begins with `text`. */
function readBefore(text: string): Before {
  const opened: string[] = [];
  let last = '';
  let clause = '';
  for (const { space, quoted, text: token } of sqlTokens(text)) {
    if (space !== undefined) continue;
    const word = quoted === undefined ? token.toLowerCase() : '';
    if (word === '(') opened.push(last === 'in' ? 'in' : '(');
    if (word === ')') opened.pop();
    if (word === 'from' || word === 'join') clause = 'from';
    if (clauses.has(word)) clause = word;
    last = word;
  }
  const isTablePlace = last === 'from' || last === 'join' || (last === ',' && clause === 'from');
  return { isTablePlace, isInList: opened.at(-1) === 'in' };
}

/** Returns a function that reports whether SQL reads the value at a place; call it with the places in order. */
function readerOf(text: string): (place: Place) => boolean {
  const tokens = sqlTokens(text);
  let token: SqlToken | undefined;
  let word = '';
  return (place) => {
    while (token === undefined || token.end <= place.start) {
      if (token !== undefined && token.space === undefined) word = token.text.toLowerCase();
      const { value } = tokens.next();
      if (!value) break;
      token = value;
    }
    const start = token ? token.end - token.text.length : place.start;
    const isWithin = token !== undefined && start < place.start && place.start < token.end;
    if (isWithin && token?.quoted !== undefined) throw inQuotes(text, token, place);
    if (isWithin && token?.space !== undefined) return token.text.trim() === '';
    if (word === 'in')
      throw new CatalogError('InvalidInput', 'SQL: the ${…} after in has no parentheses.', 'Write in (${…}).');
    const isTable = text[place.start] === '"';
    if (!isTable && (word === 'from' || word === 'join') && place.value !== undefined)
      throw new CatalogError(
        'InvalidInput',
        `SQL: the \${…} after ${word} has no rows.`,
        '${…} is a value: write names of tables and columns in full, or use an Arrow table or a list of rows.',
      );
    return true;
  };
}

/** Maximum characters of quoted text in messages. Needed because an unclosed quote extends to the end of the query. */
const maxShown = 60;

function inQuotes(text: string, token: SqlToken, { start, end }: Place): CatalogError {
  const from = Math.max(token.end - token.text.length, start - maxShown / 2);
  const to = Math.min(token.end, end + maxShown / 2);
  const shown = `${text.slice(from, start)}\${…}${text.slice(end, to)}`.replaceAll(/\s+/g, ' ');
  const hint = 'Write ${…} without quotes, also for strings; for a part of a string, write ${`%${part}%`}.';
  if (token.text.startsWith("'"))
    return new CatalogError(
      'InvalidInput',
      `SQL: the string ${shown} contains \${…}, but values are not inserted into strings.`,
      hint,
    );
  return new CatalogError(
    'InvalidInput',
    `SQL: the name ${shown} contains \${…}, but a name can't be a value.`,
    'Write names of tables and columns in full, and values without quotes.',
  );
}
