import { DataType, Precision, type Schema } from '#arrow';
import { sqlLiteral } from '#catalog/sqlText.ts';
import { plainName, type SimpleSelect } from './sqlShape.ts';
import type { Token } from './sqlText.ts';
import type { SqliteValue } from './sqlValues.ts';

// Converts the part of a query's WHERE that the table itself can evaluate, so that fewer rows are transferred. SQLite
// applies the whole WHERE to the received rows, so the table may send too many rows, but never too few. A condition is
// left out of the filter unless it certainly means the same in both dialects.

/** A value in a comparison; undefined if it can't be used in a filter. */
type Literal = { value: SqliteValue | undefined };

const mirrored: Readonly<Record<string, string>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' };

/** Mirrors the operator: `3 < a` becomes `a > 3`. */
const flipped = (operator: string): string => mirrored[operator] ?? operator;

/**
 * Returns a value in the SQL of tables; undefined if a column of this type may compare with the value differently than
 * in SQLite. The result is undefined for a string and a numeric column, because SQLite converts the string. It is also
 * undefined for an integer outside the column's range, because tables reject the integer, and for a fraction that
 * single precision would round.
 */
function engineLiteral(type: DataType, { value }: Literal): string | undefined {
  if (typeof value === 'string') {
    if (!DataType.isUtf8(type) && !DataType.isLargeUtf8(type)) return undefined;
    return /[\0\p{Surrogate}]/u.test(value) ? undefined : sqlLiteral(value);
  }
  if (typeof value !== 'number' && typeof value !== 'bigint') return undefined;
  const number = Number(value);
  if (DataType.isBool(type)) return number === 0 ? 'FALSE' : number === 1 ? 'TRUE' : undefined;
  if (DataType.isInt(type)) return isWithin(value, type) ? sqlLiteral(BigInt(value)) : undefined;
  if (!DataType.isFloat(type) || !Number.isFinite(number)) return undefined;
  if (typeof value === 'bigint' && !Number.isSafeInteger(number)) return undefined;
  const { precision } = type;
  const isExact = precision === Precision.DOUBLE || (precision === Precision.SINGLE && Math.fround(number) === number);
  return isExact ? sqlLiteral(number) : undefined;
}

function isWithin(value: number | bigint, { bitWidth, isSigned }: { bitWidth: number; isSigned: boolean }): boolean {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) return false;
  const whole = BigInt(value);
  return isSigned ? BigInt.asIntN(bitWidth, whole) === whole : BigInt.asUintN(bitWidth, whole) === whole;
}

type Field = Schema['fields'][number];
/** A parsed condition. Without `sql`, only SQLite can evaluate the condition. */
type Condition = { sql: string | undefined };

/** Maximum length of a list in a filter. */
const maxValues = 1000;
const comparisons: ReadonlySet<string> = new Set(['=', '==', '<', '<=', '>', '>=', '<>', '!=']);
/** Tokens that may follow a condition. */
const boundaries: ReadonlySet<string> = new Set(['and', 'or', ')', 'group', 'order', 'limit', 'window', 'having']);

/**
 * Returns the filter, in the SQL of tables, that keeps all rows the query may need; undefined if no condition can be
 * used.
 * @param bound values of the question marks, in order
 */
export function tableFilter(
  shape: SimpleSelect,
  bound: readonly SqliteValue[],
  fields: readonly Field[],
): string | undefined {
  return shape.where === undefined ? undefined : new ConditionReader(shape, bound, fields).read();
}

class ConditionReader {
  readonly #tokens: readonly Token[];
  readonly #table: SimpleSelect['names'];
  readonly #bound: readonly SqliteValue[];
  readonly #fields: readonly Field[];
  #at: number;
  /**
   * Whether the parser skipped a BETWEEN or a CASE. From then on, an AND may be a part of the skipped expression
   * instead of separating two conditions, so no filter is used.
   */
  #isLost = false;

  constructor({ tokens, names, where = 0 }: SimpleSelect, bound: readonly SqliteValue[], fields: readonly Field[]) {
    this.#tokens = tokens;
    this.#table = names;
    this.#bound = bound;
    this.#fields = fields;
    this.#at = where;
  }

  read(): string | undefined {
    const { sql } = this.#any();
    return this.#isLost ? undefined : sql;
  }

  /** Parses conditions joined by OR. The result is usable only if all conditions are usable. */
  #any(): Condition {
    const all = this.#row('or', () => this.#every());
    if (all.some((sql) => sql === undefined)) return { sql: undefined };
    return { sql: all.length > 1 ? `(${all.join(' OR ')})` : all[0] };
  }

  /** Parses conditions joined by AND. The result has only the usable conditions. */
  #every(): Condition {
    const known = this.#row('and', () => this.#one()).filter((sql) => sql !== undefined);
    return { sql: known.length > 0 ? known.join(' AND ') : undefined };
  }

  #row(between: string, read: () => Condition): (string | undefined)[] {
    const all = [read().sql];
    while (this.#takes(between)) all.push(read().sql);
    return all;
  }

  #one(): Condition {
    const start = this.#at;
    const found = this.#takes('(') ? this.#inner() : this.#comparison();
    if (found && this.#isBoundary()) return found;
    this.#at = start;
    this.#skip();
    return { sql: undefined };
  }

  #inner(): Condition | undefined {
    const inner = this.#any();
    if (!this.#takes(')')) return undefined;
    return { sql: inner.sql === undefined ? undefined : `(${inner.sql})` };
  }

  #skip(): void {
    for (let depth = 0; this.#at < this.#tokens.length; this.#at++) {
      const word = this.#word();
      if (depth === 0 && this.#isBoundary()) return;
      if (word === '(') depth++;
      if (word === ')') depth--;
      // BETWEEN and CASE can contain an AND that does not separate conditions.
      if (depth === 0 && (word === 'between' || word === 'case')) this.#isLost = true;
    }
  }

  #comparison(): Condition | undefined {
    const field = this.#column();
    if (field) return this.#about(field);
    const literal = this.#literal();
    const operator = literal && this.#operator();
    const column = operator !== undefined ? this.#column() : undefined;
    return literal && operator !== undefined && column ? this.#compared(column, flipped(operator), literal) : undefined;
  }

  #about(field: Field): Condition | undefined {
    if (this.#takes('is')) {
      const isNot = this.#takes('not');
      if (!this.#takes('null')) return undefined;
      // NaN is null in SQLite, but not in a table. So IS NULL on a column that may have NaN would omit rows; IS NOT
      // NULL only returns too many rows.
      const isSame = isNot || hasPlainNulls(field);
      return { sql: isSame && isAsked(field) ? `${asked(field)} IS ${isNot ? 'NOT ' : ''}NULL` : undefined };
    }
    if (this.#takes('between')) {
      const from = this.#literal();
      const to = from && this.#takes('and') ? this.#literal() : undefined;
      if (!from || !to) return undefined;
      const [least, most] = [this.#compared(field, '>=', from).sql, this.#compared(field, '<=', to).sql];
      return { sql: least !== undefined && most !== undefined ? `(${least} AND ${most})` : undefined };
    }
    if (this.#takes('in')) return this.#in(field);
    const operator = this.#operator();
    const literal = operator === undefined ? undefined : this.#literal();
    return operator !== undefined && literal ? this.#compared(field, operator, literal) : undefined;
  }

  #in(field: Field): Condition | undefined {
    if (!this.#takes('(')) return undefined;
    const values: (string | undefined)[] = [];
    do {
      const literal = this.#literal();
      if (!literal) return undefined;
      values.push(engineLiteral(field.type, literal));
    } while (this.#takes(','));
    if (!this.#takes(')')) return undefined;
    const isAskable = isAsked(field) && values.length <= maxValues && values.every((value) => value !== undefined);
    return { sql: isAskable ? `${asked(field)} IN (${values.join(', ')})` : undefined };
  }

  #compared(field: Field, operator: string, literal: Literal): { sql: string | undefined } {
    const value = engineLiteral(field.type, literal);
    if (value === undefined || !isAsked(field)) return { sql: undefined };
    const sign = operator === '==' ? '=' : operator === '<>' ? '!=' : operator;
    return { sql: `${asked(field)} ${sign} ${value}` };
  }

  /** Parses `name`, `alias.name` or `namespace.table.name`. */
  #column(): Field | undefined {
    const start = this.#at;
    const path: string[] = [];
    for (;;) {
      const token = this.#tokens[this.#at];
      const name = token && plainName(token);
      if (name === undefined) break;
      path.push(name.toLowerCase());
      this.#at++;
      if (!this.#takes('.')) break;
    }
    const name = path.pop();
    const isOfTable = path.length === 0 || this.#table.includes(path.join('.'));
    const field = isOfTable ? this.#fields.find((each) => each.name.toLowerCase() === name) : undefined;
    if (!field) this.#at = start;
    return field;
  }

  #literal(): Literal | undefined {
    const isNegative = this.#takes('-');
    const token = this.#tokens[this.#at];
    if (token?.kind === 'number') {
      this.#at++;
      // Up to 15 digits are exact in a double; with more digits, the two dialects may round differently.
      if (token.text.replace('.', '').length > 15) return { value: undefined };
      return { value: Number(token.text) * (isNegative ? -1 : 1) };
    }
    if (isNegative || !token) return undefined;
    if (token.text === '?') {
      const before = this.#tokens.slice(0, this.#at).filter(({ text }) => text === '?').length;
      this.#at++;
      return { value: this.#bound[before] };
    }
    if (!token.text.startsWith("'")) return undefined;
    this.#at++;
    return { value: token.text.slice(1, -1).replaceAll("''", "'") };
  }

  #operator(): string | undefined {
    const [first = '', second = ''] = [this.#tokens[this.#at]?.text, this.#tokens[this.#at + 1]?.text];
    const operator = comparisons.has(first + second) ? first + second : first;
    if (!comparisons.has(operator)) return undefined;
    this.#at += operator.length;
    return operator;
  }

  #takes(word: string): boolean {
    if (this.#word() !== word) return false;
    this.#at++;
    return true;
  }

  /** Returns the current token, words in lower case; an empty string if the token is quoted. */
  #word(): string {
    const token = this.#tokens[this.#at];
    return token === undefined || token.kind === 'quoted' ? '' : token.text.toLowerCase();
  }

  #isBoundary(): boolean {
    return this.#at >= this.#tokens.length || boundaries.has(this.#word());
  }
}

const hasPlainNulls = ({ type }: Field): boolean =>
  DataType.isInt(type) || DataType.isBool(type) || DataType.isUtf8(type) || DataType.isLargeUtf8(type);

/** Whether the name needs no escapes inside the quotes. */
const isAsked = ({ name }: Field): boolean => /^[a-z_]\w*$/i.test(name);
const asked = ({ name }: Field): string => `\`${name}\``;
