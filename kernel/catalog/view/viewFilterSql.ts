import { plainName, quotedName, quotedText, type Token, tokensOf } from '#shared/sqlTokens.ts';
import { CatalogError } from '#shared/errors.ts';
import { dateMillisecondText, dateText, isoTimestampText, timeText, type TimeUnit } from '#shared/format/times.ts';

/**
 * Rewrites a condition in the SQL of tables for the SQL of cells, which is DuckDB's: names in backticks, bytes, and the
 * casts of dates, times and decimals have other forms there. A string with `${` is split, because a `%%sql` cell would
 * read a value of the notebook there. Comments are dropped.
 * @param columns names of the table's columns, which are quoted because some are keywords
 * @throws CatalogError Unsupported (0) for a cast that DuckDB lacks
 */
export function viewFilterSql(filter: string, columns: readonly string[] = []): string {
  const tokens = quoteColumns(tokensOf(filter), columns);
  let text = '';
  for (let at = 0; at < tokens.length;) {
    const before = tokens[at - 1];
    const { sql, next } = expressionAt(tokens, at);
    if (before && before.end < tokens[at]!.start) text += ' ';
    text += sql;
    at = next;
  }
  return text;
}

/** Puts the words that are columns in quotes. A word before a parenthesis or a string is a function or a type. */
function quoteColumns(tokens: readonly Token[], columns: readonly string[]): Token[] {
  const names = new Map(columns.map((name) => [name.toLowerCase(), name]));
  return tokens.map((token, index) => {
    const name = token.kind === 'word' ? names.get(token.text.toLowerCase()) : undefined;
    const following = tokens[index + 1];
    if (name === undefined || tokens[index - 1]?.text === '.' || following?.text === '(') return token;
    return following && isString(following) ? token : { ...token, kind: 'quoted', text: quotedName(name) };
  });
}

type Read = { sql: string; next: number };

/** Rewrites the token at a position, or the call of a cast or the bytes that start there. */
function expressionAt(tokens: readonly Token[], at: number): Read {
  const token = tokens[at]!;
  const following = tokens[at + 1];
  if (token.kind === 'word' && following) {
    const word = token.text.toLowerCase();
    if (word === 'arrow_cast' && following.text === '(') return castAt(tokens, at);
    if (word === 'x' && following.end > following.start && isString(following) && following.start === token.end)
      return { sql: `unhex(${quotedText(following.text.slice(1, -1))})`, next: at + 2 };
    const renamed = following.text === '(' ? functionNames[word] : undefined;
    if (renamed !== undefined) return { sql: renamed, next: at + 1 };
  }
  return { sql: tokenSql(token), next: at + 1 };
}

/** Functions of tables that have another name in DuckDB. */
const functionNames: Readonly<Record<string, string>> = {
  regexp_match: 'regexp_matches',
  regexp_like: 'regexp_matches',
  array_max: 'list_max',
  array_min: 'list_min',
  make_array: 'list_value',
};

const isString = ({ kind, text }: Token): boolean => kind === 'quoted' && text.startsWith("'");

function tokenSql(token: Token): string {
  if (token.kind !== 'quoted') return token.text;
  if (!isString(token)) return quotedName(plainName(token) ?? '');
  if (!token.text.includes('${')) return token.text;
  return `(${token.text.replaceAll('${', () => "$' || '{")})`;
}

/** Rewrites `arrow_cast(value, 'Type')`, where the value is a literal or another such cast. */
function castAt(tokens: readonly Token[], at: number): Read {
  const value = castValueAt(tokens, at + 2);
  const [comma, type, close] = tokens.slice(value.next, value.next + 3);
  if (comma?.text !== ',' || !type || !isString(type) || close?.text !== ')') return refuseCast('arrow_cast');
  return { sql: castSql(value.sql, type.text.slice(1, -1)), next: value.next + 3 };
}

function castValueAt(tokens: readonly Token[], at: number): Read {
  const token = tokens[at];
  if (token?.text === '-' && tokens[at + 1]?.kind === 'number')
    return { sql: `-${tokens[at + 1]!.text}`, next: at + 2 };
  if (token === undefined) return refuseCast('arrow_cast');
  const read = expressionAt(tokens, at);
  // A list in the short form, or a call such as `make_array(…)` or `CAST('…' AS BIGINT)`.
  const opening = tokens[read.next]?.text === '(' ? read.next : token.text === '[' ? at : undefined;
  if (opening === undefined) return read;
  let sql = opening === at ? '' : read.sql;
  let depth = 0;
  for (let next = opening; next < tokens.length;) {
    const part = expressionAt(tokens, next);
    const { text } = tokens[next]!;
    if (next > opening && tokens[next - 1]!.end < tokens[next]!.start) sql += ' ';
    sql += part.sql;
    if (text === '(' || text === '[') depth++;
    if ((text === ')' || text === ']') && --depth === 0) return { sql, next: part.next };
    next = part.next;
  }
  return refuseCast('arrow_cast');
}

const plainTypes: Readonly<Record<string, string>> = {
  Boolean: 'BOOLEAN',
  Int8: 'TINYINT',
  Int16: 'SMALLINT',
  Int32: 'INTEGER',
  Int64: 'BIGINT',
  UInt8: 'UTINYINT',
  UInt16: 'USMALLINT',
  UInt32: 'UINTEGER',
  UInt64: 'UBIGINT',
  Float16: 'FLOAT',
  Float32: 'FLOAT',
  Float64: 'DOUBLE',
  Utf8: 'VARCHAR',
  LargeUtf8: 'VARCHAR',
  Binary: 'BLOB',
  LargeBinary: 'BLOB',
};

/** Returns the value of a type, as `cast(… as …)` or as a literal of a date or a time. */
function castSql(value: string, type: string): string {
  const plain = plainTypes[type];
  if (plain !== undefined) return `cast(${value} as ${plain})`;
  const decimal = /^Decimal(?:128|256)\((\d+), (\d+)\)$/.exec(type);
  if (decimal && Number(decimal[1]) <= 38) return `cast(${value} as DECIMAL(${decimal[1]}, ${decimal[2]}))`;
  const time = /^'[^']*'$/.test(value) ? timeKeyword(type) : undefined;
  if (time !== undefined) return `${time} ${value}`;
  // A count that was cast to the width of the type is a plain number again.
  const count = /^(?:cast\()?(-?\d+)(?: as (?:INTEGER|BIGINT)\))?$/.exec(value)?.[1];
  const text = count === undefined ? undefined : timeLiteral(BigInt(count), type);
  return text ?? refuseCast(type);
}

const units: readonly string[] = ['Second', 'Millisecond', 'Microsecond', 'Nanosecond'];

/** Returns the word before the text of a date or a time; undefined for other types. */
function timeKeyword(type: string): string | undefined {
  const [, kind, unit = '', zone = ''] = /^(Date|Time|Timestamp)(?:32|64)?(?:\((\w+)(?:, (.*))?\))?$/.exec(type) ?? [];
  if (kind === 'Date') return 'date';
  if (kind === 'Time') return 'time';
  if (kind === undefined) return undefined;
  return unit === 'Nanosecond' ? 'timestamp_ns' : zone === 'None' ? 'timestamp' : 'timestamptz';
}

/** Returns the literal of a date or a time, from its count in the unit of its type; undefined for other types. */
function timeLiteral(count: bigint, type: string): string | undefined {
  if (type === 'Date32') return `date ${quotedText(dateText(Number(count)))}`;
  if (type === 'Date64') return `date ${quotedText(dateMillisecondText(count))}`;
  const [, kind, name = '', zone = ''] = /^(Time32|Time64|Timestamp)\((\w+)(?:, (.*))?\)$/.exec(type) ?? [];
  const unit = units.indexOf(name);
  if (kind === undefined || unit < 0) return undefined;
  if (kind !== 'Timestamp') return `time ${quotedText(timeText(count, unit as TimeUnit))}`;
  const keyword = unit === 3 ? 'timestamp_ns' : zone === 'None' ? 'timestamp' : 'timestamptz';
  return `${keyword} ${quotedText(isoTimestampText(count, unit as TimeUnit, keyword === 'timestamptz'))}`;
}

function refuseCast(type: string): never {
  const what = `SQL of cells can't express the filter: it casts a value to ${type}.`;
  throw new CatalogError('Unsupported', what, 'Copy the view as TypeScript.');
}
