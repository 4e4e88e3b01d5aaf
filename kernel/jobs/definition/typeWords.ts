import {
  Decimal,
  Duration,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  List,
  Struct,
  Timestamp,
  type DataType,
  type TimeUnit,
} from '#arrow';
import { plainTypeNames, plainTypeOf, timeUnits } from '#client/plainTypes.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';

// The words by which a person says what a function gives, in a job file or a terminal. Those that the product shows
// (`typeText`) are among them, so that what is read on a screen can be typed.

/** What can be said, for errors and help. */
const knownTypeWords = `${plainTypeNames.join(', ')}, float32[768] (a vector), list<string>, timestamp[us], timestamp[us, UTC], duration[ms], decimal128(10, 2), fixed_size_binary[16], struct<x: int32, y: string>`;

/**
 * The type that a word means.
 * @throws JobError FunctionInvalid that lists what is known
 */
export function typeOfWords(words: string): DataType {
  const parser = new Parser(words);
  const type = parser.type(0);
  parser.end();
  return type;
}

/** More levels than any column has. */
const maxDepth = 16;

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** A type, and the lengths of vectors behind it. */
  type(depth: number): DataType {
    if (depth > maxDepth) return this.#wrong();
    let type = this.#item(depth);
    while (this.#takes('[')) {
      type = new FixedSizeList(this.#count(), new Field('item', type, true));
      this.#need(']');
    }
    return type;
  }

  end(): void {
    this.#space();
    if (this.#at < this.#text.length) this.#wrong();
  }

  #item(depth: number): DataType {
    const name = this.#word(/[a-z_][a-z_0-9]*/iy).toLowerCase();
    const plain = plainTypeOf(name);
    if (plain) return plain;
    switch (name) {
      case 'list':
        return new List(new Field('item', this.#inside(depth), true));
      case 'fixed_size_list':
        return this.#fixedSizeList(depth);
      case 'struct':
        return this.#struct(depth);
      case 'timestamp':
        return this.#timestamp();
      case 'duration':
        this.#need('[');
        return this.#closed(new Duration(this.#unit()), ']');
      case 'fixed_size_binary':
        this.#need('[');
        return this.#closed(new FixedSizeBinary(this.#count()), ']');
      case 'decimal':
      case 'decimal128':
        return this.#decimal();
      default:
        return this.#wrong();
    }
  }

  #inside(depth: number): DataType {
    this.#need('<');
    return this.#closed(this.type(depth + 1), '>');
  }

  #fixedSizeList(depth: number): DataType {
    const item = this.#inside(depth);
    this.#need('[');
    return this.#closed(new FixedSizeList(this.#count(), new Field('item', item, true)), ']');
  }

  #struct(depth: number): DataType {
    this.#need('<');
    const fields: Field[] = [];
    do {
      const name = this.#word(/[^\s:,<>]+/y);
      this.#need(':');
      fields.push(new Field(name, this.type(depth + 1), true));
    } while (this.#takes(','));
    return this.#closed(new Struct(fields), '>');
  }

  #timestamp(): DataType {
    this.#need('[');
    const unit = this.#unit();
    const zone = this.#takes(',') ? this.#word(/[\w/+:-]+/y) : null;
    return this.#closed(new Timestamp(unit, zone), ']');
  }

  #decimal(): DataType {
    this.#need('(');
    const precision = this.#count();
    const scale = this.#takes(',') ? Number(this.#word(/\d+/y)) : 0;
    if (precision > 38 || scale > precision) return this.#wrong();
    return this.#closed(new Decimal(scale, precision, 128), ')');
  }

  #unit(): TimeUnit {
    const unit = timeUnits[this.#word(/[a-z]+/y)];
    return unit ?? this.#wrong();
  }

  #count(): number {
    const count = Number(this.#word(/\d+/y));
    return count > 0 && count < 2 ** 31 ? count : this.#wrong();
  }

  #closed<T>(value: T, bracket: string): T {
    this.#need(bracket);
    return value;
  }

  #space(): void {
    while (/\s/.test(this.#text.charAt(this.#at))) this.#at++;
  }

  #takes(sign: string): boolean {
    this.#space();
    if (this.#text.charAt(this.#at) !== sign) return false;
    this.#at++;
    return true;
  }

  #need(sign: string): void {
    if (!this.#takes(sign)) this.#wrong();
  }

  #word(pattern: RegExp): string {
    this.#space();
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#text) ?? [];
    if (found === undefined) return this.#wrong();
    this.#at += found.length;
    return found;
  }

  #wrong(): never {
    throw new JobError(
      'FunctionInvalid',
      `"${this.#text.slice(0, 200)}" is no type of a column.`,
      `Write one of ${knownTypeWords}.`,
    );
  }
}
