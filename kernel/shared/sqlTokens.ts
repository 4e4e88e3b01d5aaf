export type SqlTokenKind = 'space' | 'quoted' | 'number' | 'word' | 'sign';

/**
 * A token of SQL. The property that is named like the kind of the token has the text of the token; the other kinds are
 * not set. The token ends before the character at `end`.
 */
export type SqlToken = Readonly<Partial<Record<SqlTokenKind, string>>> & {
  readonly text: string;
  readonly end: number;
};

const alphabetic = /\p{Alphabetic}/u;
const blank = /\s/;

const isDigit = (code: number): boolean => code >= 48 && code <= 57;
const isLetter = (code: number): boolean => (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95;
const isWordPart = (code: number): boolean => isLetter(code) || isDigit(code) || code === 36;
const isBlank = (code: number): boolean =>
  code === 32 || (code >= 9 && code <= 13) || (code > 127 && blank.test(String.fromCharCode(code)));

/**
 * Reads SQL token by token, as the engine does: a quote in a string is doubled, comments do not nest, a backslash is an
 * ordinary character. A quote or a comment that is not closed is a `sign`. Tokens are not copied: one thread serves all
 * clients, so a hostile filter of a megabyte must take only milliseconds.
 */
export class SqlCursor {
  readonly #sql: string;
  #kind: SqlTokenKind = 'space';
  #start = 0;
  #end = 0;
  /**
   * False if no mark that closes a comment follows. Without this flag, each `/*` would search to the end of the text.
   */
  #hasClosing = true;

  constructor(sql: string) {
    this.#sql = sql;
  }

  get kind(): SqlTokenKind {
    return this.#kind;
  }

  get start(): number {
    return this.#start;
  }

  get end(): number {
    return this.#end;
  }

  get text(): string {
    return this.#sql.slice(this.#start, this.#end);
  }

  /** Moves to the next token. @returns whether there is one */
  next(): boolean {
    this.#start = this.#end;
    if (this.#start >= this.#sql.length) return false;
    this.#read();
    return true;
  }

  #read(): void {
    const sql = this.#sql;
    const at = this.#start;
    const code = sql.charCodeAt(at);
    if (isBlank(code)) {
      this.#take('space', this.#skip(at + 1, isBlank));
    } else if (code === 45 && sql.charCodeAt(at + 1) === 45) {
      const line = sql.indexOf('\n', at);
      this.#take('space', line < 0 ? sql.length : line);
    } else if (code === 47 && sql.charCodeAt(at + 1) === 42) {
      const close = this.#hasClosing ? sql.indexOf('*/', at + 2) : -1;
      this.#hasClosing = close >= 0;
      if (close < 0) this.#take('sign', at + 1);
      else this.#take('space', close + 2);
    } else if (code === 39 || code === 34 || code === 96) {
      this.#quoted(code);
    } else if (isDigit(code)) {
      const whole = this.#skip(at + 1, isDigit);
      this.#take('number', sql.charCodeAt(whole) === 46 ? this.#skip(whole + 1, isDigit) : whole);
    } else if (isLetter(code)) {
      this.#take('word', this.#skip(at + 1, isWordPart));
    } else if (code > 127) {
      this.#foreign();
    } else {
      this.#take('sign', at + 1);
    }
  }

  /**
   * Reads a string in quotes. A string directly after another string is the same token, because a doubled quote is a
   * quote within a string.
   */
  #quoted(quote: number): void {
    const sql = this.#sql;
    const sign = String.fromCharCode(quote);
    let end = this.#start;
    while (sql.charCodeAt(end) === quote) {
      const close = sql.indexOf(sign, end + 1);
      if (close < 0) break;
      end = close + 1;
    }
    if (end === this.#start) this.#take('sign', end + 1);
    else this.#take('quoted', end);
  }

  /** Reads characters outside ASCII: letters are a word, other characters a sign. */
  #foreign(): void {
    const sql = this.#sql;
    const width = (at: number): number => ((sql.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
    let end = this.#start;
    while (end < sql.length && alphabetic.test(String.fromCodePoint(sql.codePointAt(end) ?? 0))) end += width(end);
    if (end === this.#start) this.#take('sign', end + width(end));
    else this.#take('word', end);
  }

  #skip(from: number, fits: (code: number) => boolean): number {
    let end = from;
    while (end < this.#sql.length && fits(this.#sql.charCodeAt(end))) end++;
    return end;
  }

  #take(kind: SqlTokenKind, end: number): void {
    this.#kind = kind;
    this.#end = end;
  }
}

/** Splits SQL into tokens, including whitespace and comments. */
export function* sqlTokens(sql: string): Generator<SqlToken, void, undefined> {
  const cursor = new SqlCursor(sql);
  while (cursor.next()) {
    const { kind, text, end } = cursor;
    yield { [kind]: text, text, end };
  }
}

/** A token other than whitespace and comments, with its range in the SQL in UTF-16 units. */
export type Token = { kind: Exclude<SqlTokenKind, 'space'>; text: string; start: number; end: number };

/** Returns the tokens of SQL, without whitespace and comments. */
export function tokensOf(sql: string): Token[] {
  const cursor = new SqlCursor(sql);
  const tokens: Token[] = [];
  while (cursor.next()) {
    const { kind, text, start, end } = cursor;
    if (kind !== 'space') tokens.push({ kind, text, start, end });
  }
  return tokens;
}

/** Returns the name that a token denotes; undefined for strings, numbers and signs. */
export function plainName({ kind, text }: Pick<Token, 'kind' | 'text'>): string | undefined {
  if (kind === 'word') return text;
  const [quote = ''] = text;
  if (kind !== 'quoted' || quote === "'") return undefined;
  return text.slice(1, -1).replaceAll(quote + quote, quote);
}

/**
 * Returns an obvious reason why a string is not one expression; `undefined` does not prove that the string is one
 * expression.
 */
export function sqlProblem(sql: string): string | undefined {
  const cursor = new SqlCursor(sql);
  let depth = 0;
  while (cursor.next()) {
    if (cursor.kind !== 'sign') continue;
    const sign = sql[cursor.start];
    if (sign === '(') depth++;
    if (sign === ')' && --depth < 0) return 'closes a parenthesis that is not open';
    if (sign === "'" || sign === '"' || sign === '`') return `has a ${sign} that is not closed`;
    if (sign === '/' && sql[cursor.end] === '*') return 'has a comment that is not closed';
  }
  return depth > 0 ? 'has a parenthesis that is not closed' : undefined;
}

/** Whether tokens other than whitespace and comments follow a semicolon. The engine ignores them. */
export function hasTextAfterSemicolon(sql: string): boolean {
  if (!sql.includes(';')) return false;
  const cursor = new SqlCursor(sql);
  let isOver = false;
  while (cursor.next()) {
    if (cursor.kind === 'space') continue;
    if (isOver) return true;
    isOver = cursor.kind === 'sign' && sql[cursor.start] === ';';
  }
  return false;
}

/** Writes a string as a token. A backslash is an ordinary character. */
export const quotedText = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Writes a name as a token, in double quotes. */
export const quotedName = (name: string): string => `"${name.replaceAll('"', '""')}"`;
