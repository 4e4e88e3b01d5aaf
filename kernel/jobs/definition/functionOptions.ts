import {
  DataType,
  Decimal,
  Duration,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  List,
  Struct,
  Timestamp,
  type TimeUnit,
} from '#arrow';
import { plainTypeNames, plainTypeOf, timeUnits } from '#catalog/arrow/plainTypes.ts';
import { adoptTable } from '#shared/arrow/adoptTable.ts';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { onErrorOfWords, readOnError } from '#shared/jobs/backfill.ts';
import type { OnError } from '#shared/jobs/computedFunction.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { isRecord } from '#shared/records.ts';

// Parses type names of job files and the command line. The parser also accepts the names that the product displays
// (`typeText`).

/** Shown in errors and help. */
const knownTypeWords = `${plainTypeNames.join(', ')}, float32[768] (a vector), list<string>, timestamp[us], timestamp[us, UTC], duration[ms], decimal128(10, 2), fixed_size_binary[16], struct<x: int32, y: string>`;

/**
 * Parses a type name.
 * @throws JobError FunctionInvalid with the list of supported names
 */
export function parseTypeName(words: string): DataType {
  const parser = new Parser(words);
  const type = parser.type(0);
  parser.end();
  return type;
}

/** Maximum depth of nested types. No real column has more levels. */
const maxDepth = 16;

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

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
      `"${this.#text.slice(0, 200)}" is not a column type.`,
      `Use one of ${knownTypeWords}.`,
    );
  }
}

export type FunctionOptions = {
  readonly name: string;
  readonly version: string;
  readonly inputs: readonly string[];
  readonly type: DataType;
  readonly takes: 'row' | 'batch';
  readonly onError: OnError;
};

const known = ['name', 'input', 'output', 'version', 'takes', 'onError'];

/**
 * Checks the options of `udf`.
 * @throws JobError FunctionInvalid with the wrong option and its syntax
 */
export function checkFunctionOptions(options: unknown): FunctionOptions {
  if (!isRecord(options)) {
    throw invalid('The udf call has no options.', "Write udf({ name: 'words', input: ['text'], output: 'int32' }, …).");
  }
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) throw invalid(`udf has no option "${unknown}".`, `Its options are ${known.join(', ')}.`);
  const { name, input, output, version = '', takes = 'row', onError = 'fail' } = options;
  if (typeof name !== 'string' || !/^[\p{L}_][\p{L}\p{N}_.-]{0,99}$/u.test(name))
    throw invalid(
      `Expected a function name for "name", got ${JSON.stringify(name) ?? 'nothing'}.`,
      "Write name: 'caption_length'.",
    );
  const of = `The function "${name}"`;
  if (typeof version !== 'string' && typeof version !== 'number')
    throw invalid(`${of} has a version that is not a string.`, "Write version: '2'.");
  if (takes !== 'row' && takes !== 'batch')
    throw invalid(
      `${of} has an unknown value for "takes": ${JSON.stringify(takes) ?? 'nothing'}.`,
      "Write takes: 'row' or 'batch'.",
    );
  return {
    name,
    version: String(version),
    inputs: inputsOf(of, input),
    type: outputType(of, output),
    takes,
    onError: onErrorOf(of, onError),
  };
}

function inputsOf(of: string, input: unknown): readonly string[] {
  const names: unknown[] = typeof input === 'string' ? [input] : Array.isArray(input) ? input : [];
  const inputs = names.filter((name): name is string => typeof name === 'string' && name !== '');
  if (inputs.length === 0 || inputs.length < names.length)
    throw invalid(`${of} does not name the columns that it reads.`, "Write input: ['text'].");
  const twice = inputs.find((name, index) => inputs.indexOf(name) !== index);
  if (twice !== undefined) throw invalid(`${of} reads "${twice}" twice.`, 'Name each column once.');
  return inputs;
}

/** @throws JobError FunctionInvalid */
function outputType(of: string, output: unknown): DataType {
  if (typeof output === 'string') return checkOutput(of, parseTypeName(output));
  const isType = isRecord(output) && typeof output['typeId'] === 'number';
  if (!isType) throw invalid(`${of} has no output type.`, 'Write output: new arrow.Int32().');
  const field = { name: 'value', type: output, nullable: true };
  const adopted = adoptTable({ schema: { fields: [field] }, batches: [] })?.schema.fields[0]?.type;
  if (!adopted) throw invalid(`${of} has an output that is not an Arrow type.`, 'Write output: new arrow.Int32().');
  return checkOutput(of, adopted);
}

/** Refuses types that a computed column can't have. @throws JobError FunctionInvalid */
export function checkOutput(of: string, type: DataType, hint = 'Use the type of its values.'): DataType {
  if (!DataType.isDictionary(type) && !DataType.isUnion(type) && !DataType.isNull(type)) return type;
  throw invalid(`${of} returns ${typeText(type)}, which a computed column can't have.`, hint);
}

/** Accepts the form that users write and the form that is stored. @throws JobError FunctionInvalid */
function onErrorOf(of: string, value: unknown): OnError {
  const read = onErrorOfWords(value) ?? readOnError(value);
  if (read) return read;
  throw invalid(`${of} has an unknown value for "onError".`, "Write onError: 'fail', 'null', 'skip' or { retry: 3 }.");
}

export const invalid = (what: string, hint: string, cause?: unknown): JobError =>
  new JobError('FunctionInvalid', what, hint, cause === undefined ? {} : { cause });
