import { DuckDBVector } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import { type Data, DataType, type Field, Int64, makeData, Precision, type Struct, util } from '#arrow';
import { CatalogError } from '#shared/errors.ts';

// Collects vectors of results in Arrow columns. A vector is valid only until its chunk is released, so every builder
// copies.

/** Which rows of a vector to take: a range, or positions in any order. */
export type Rows = { start: number; count: number } | Uint32Array;

const countOf = (rows: Rows): number => (rows instanceof Uint32Array ? rows.length : rows.count);
const reachOf = (rows: Rows): number =>
  rows instanceof Uint32Array ? rows.reduce((most, row) => Math.max(most, row + 1), 0) : rows.start + rows.count;
const rowAt = (rows: Rows, index: number): number => (rows instanceof Uint32Array ? rows[index]! : rows.start + index);

/** Collects bytes in a buffer that doubles. */
class Bytes {
  #bytes = new Uint8Array(1024);
  length = 0;

  /** Returns room for more bytes. */
  extend(count: number): Uint8Array {
    const needed = this.length + count;
    if (needed > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
      larger.set(this.#bytes.subarray(0, this.length));
      this.#bytes = larger;
    }
    this.length = needed;
    return this.#bytes.subarray(needed - count, needed);
  }

  take(): Uint8Array {
    const taken = this.#bytes.slice(0, this.length);
    this.length = 0;
    return taken;
  }
}

/** A column of a batch that grows by chunks. */
export abstract class ColumnBuilder {
  readonly type: DataType;
  protected length = 0;
  readonly #valid = new Bytes();
  #nulls = 0;

  constructor(type: DataType) {
    this.type = type;
  }

  /** Approximate size of the values in bytes. */
  abstract get bytes(): number;

  append(vector: duckdb.Vector, rows: Rows): void {
    const count = countOf(rows);
    if (count === 0) return;
    const validity = duckdb.vector_get_validity(vector, Math.ceil(reachOf(rows) / 64) * 8) as Uint8Array | null;
    const valid = this.#valid.extend(count);
    for (let index = 0; index < count; index++) {
      const row = rowAt(rows, index);
      valid[index] = validity ? (validity[row >> 3]! >> (row & 7)) & 1 : 1;
      if (valid[index] === 0) this.#nulls++;
    }
    this.appendValues(vector, rows, valid);
    this.length += count;
  }

  /** Returns the column and starts the next one. */
  finish(): Data {
    const { length } = this;
    const valid = this.#valid.take();
    const common = {
      length,
      nullCount: this.#nulls,
      nullBitmap: this.#nulls > 0 ? util.packBools(valid) : undefined,
    };
    this.#nulls = 0;
    this.length = 0;
    return this.build(common);
  }

  /** @param valid 0 for each null among the rows; the values of nulls are undefined */
  protected abstract appendValues(vector: duckdb.Vector, rows: Rows, valid: Uint8Array): void;
  protected abstract build(common: Common): Data;
}

type Common = { length: number; nullCount: number; nullBitmap: Uint8Array | undefined };

const make = (type: DataType, common: Common, rest: object): Data => makeData({ type, ...common, ...rest } as never);

/** Values of a fixed width, whose bytes are those of the Arrow column. */
class FixedBuilder extends ColumnBuilder {
  protected readonly values = new Bytes();
  readonly #width: number;

  constructor(type: DataType, width: number) {
    super(type);
    this.#width = width;
  }

  get bytes(): number {
    return this.values.length;
  }

  protected appendValues(vector: duckdb.Vector, rows: Rows): void {
    const width = this.#width;
    const source = duckdb.vector_get_data(vector, reachOf(rows) * width);
    const target = this.values.extend(countOf(rows) * width);
    if (!(rows instanceof Uint32Array)) return target.set(source.subarray(rows.start * width));
    for (const [index, row] of rows.entries())
      target.set(source.subarray(row * width, (row + 1) * width), index * width);
  }

  protected build(common: Common): Data {
    const { buffer } = this.values.take();
    return make(this.type, common, { data: new (arrayOf(this.type))(buffer as ArrayBuffer) });
  }
}

/** Returns the class of the array that Arrow has for values of a type. */
function arrayOf(type: DataType): new (buffer: ArrayBuffer) => ArrayBufferView {
  return type.ArrayType;
}

class BoolBuilder extends FixedBuilder {
  constructor(type: DataType) {
    super(type, 1);
  }

  protected override build(common: Common): Data {
    return make(this.type, common, { data: util.packBools(this.values.take()) });
  }
}

/** Decimals: the engine has integers of 2 to 16 bytes, Arrow has 16 bytes. */
class DecimalBuilder extends FixedBuilder {
  readonly #source: number;

  constructor(type: DataType, sourceWidth: number) {
    super(type, 16);
    this.#source = sourceWidth;
  }

  protected override appendValues(vector: duckdb.Vector, rows: Rows): void {
    const width = this.#source;
    const source = duckdb.vector_get_data(vector, reachOf(rows) * width);
    const count = countOf(rows);
    const target = this.values.extend(count * 16);
    for (let index = 0; index < count; index++) {
      const from = rowAt(rows, index) * width;
      target.set(source.subarray(from, from + width), index * 16);
      if (width < 16) target.fill(source[from + width - 1]! & 0x80 ? 0xff : 0, index * 16 + width, (index + 1) * 16);
    }
  }
}

/**
 * 128-bit integers, as sums of integers have. The column becomes `Int64` if all values fit, because most code expects
 * a sum of integers to be an integer.
 */
export class HugeIntBuilder extends DecimalBuilder {
  /** Whether all values so far fit in 64 bits. */
  isSmall = true;

  readonly #isSigned: boolean;

  constructor(type: DataType, isSigned: boolean) {
    super(type, 16);
    this.#isSigned = isSigned;
  }

  protected override appendValues(vector: duckdb.Vector, rows: Rows, valid?: Uint8Array): void {
    super.appendValues(vector, rows);
    const count = countOf(rows);
    const { buffer, byteOffset } = duckdb.vector_get_data(vector, reachOf(rows) * 16);
    const words = new BigInt64Array(buffer, byteOffset, reachOf(rows) * 2);
    for (let index = 0; index < count; index++) {
      if (valid?.[index] === 0) continue;
      const row = rowAt(rows, index);
      const low = words[2 * row]!;
      const high = words[2 * row + 1]!;
      if (high !== (low < 0n ? -1n : 0n)) this.isSmall = false;
      // The highest bit of an unsigned integer makes it look negative here.
      if (high >= maxDecimalHigh || high < (this.#isSigned ? -maxDecimalHigh : 0n)) throw tooLarge();
    }
  }
}

/** The upper 64 bits of the smallest integer with 39 digits, rounded down. */
const maxDecimalHigh = (10n ** 38n) >> 64n;

const tooLarge = (): CatalogError =>
  new CatalogError(
    'InvalidInput',
    'An integer of the result has more than 38 digits.',
    'Cast the column to double: sum(id)::double.',
  );

/** Converts a column of `HugeIntBuilder` whose values all fit in 64 bits. */
export function toInt64(data: Data): Data {
  const words = new BigInt64Array((data.values as Uint32Array).buffer);
  const values = BigInt64Array.from({ length: data.length }, (_, row) => words[2 * row]!);
  const { length, nullCount, nullBitmap } = data;
  return make(new Int64(), { length, nullCount, nullBitmap: nullCount > 0 ? nullBitmap : undefined }, { data: values });
}

/** Intervals: the engine has microseconds where Arrow has nanoseconds. */
class IntervalBuilder extends FixedBuilder {
  constructor(type: DataType) {
    super(type, 16);
  }

  protected override build(common: Common): Data {
    const { buffer } = this.values.take();
    const words = new BigInt64Array(buffer);
    for (let row = 0; row < common.length; row++) words[2 * row + 1]! *= 1000n;
    return make(this.type, common, { data: new Int32Array(buffer) });
  }
}

const recordBytes = 16;
const inlineBytes = 12;
const maxTextBytes = 2 ** 31 - 1;

/** Strings and bytes. */
class TextBuilder extends ColumnBuilder {
  readonly #values = new Bytes();
  readonly #ends: number[] = [0];

  get bytes(): number {
    return this.#values.length;
  }

  protected appendValues(vector: duckdb.Vector, rows: Rows, valid: Uint8Array): void {
    const count = countOf(rows);
    const records = duckdb.vector_get_data(vector, reachOf(rows) * recordBytes);
    const { buffer, byteOffset } = records;
    const view = new DataView(buffer, byteOffset, records.byteLength);
    for (let index = 0; index < count; index++) {
      const at = rowAt(rows, index) * recordBytes;
      const length = valid[index] === 0 ? 0 : view.getUint32(at, true);
      if (length > inlineBytes)
        this.add(duckdb.get_data_from_pointer(buffer as ArrayBuffer, byteOffset + at + 8, length));
      else this.add(records.subarray(at + 4, at + 4 + length));
    }
  }

  protected add(value: Uint8Array): void {
    this.#values.extend(value.length).set(value);
    if (this.#values.length > maxTextBytes)
      throw new CatalogError(
        'InvalidInput',
        'A batch of the result has more than 2 GB of text or bytes.',
        'Select fewer columns, without images.',
      );
    this.#ends.push(this.#values.length);
  }

  protected build(common: Common): Data {
    const valueOffsets = Int32Array.from(this.#ends);
    this.#ends.length = 1;
    return make(this.type, common, { data: this.#values.take(), valueOffsets });
  }
}

/** Values of a type that Arrow does not have, as the text that the engine shows. */
class ShownBuilder extends TextBuilder {
  readonly #encoder = new TextEncoder();

  protected override appendValues(vector: duckdb.Vector, rows: Rows, valid: Uint8Array): void {
    const items = DuckDBVector.create(vector, reachOf(rows));
    for (let index = 0; index < countOf(rows); index++) {
      const item = valid[index] === 0 ? null : items.getItem(rowAt(rows, index));
      this.add(item === null ? new Uint8Array() : this.#encoder.encode(String(item)));
    }
  }
}

/** Lists, and maps, which are lists of structs. */
class ListBuilder extends ColumnBuilder {
  readonly #offsets: number[] = [0];
  readonly #child: ColumnBuilder;

  constructor(type: DataType, child: ColumnBuilder) {
    super(type);
    this.#child = child;
  }

  get bytes(): number {
    return this.#child.bytes + 4 * this.#offsets.length;
  }

  protected appendValues(vector: duckdb.Vector, rows: Rows, valid: Uint8Array): void {
    const count = countOf(rows);
    const entries = duckdb.vector_get_data(vector, reachOf(rows) * recordBytes);
    const view = new DataView(entries.buffer, entries.byteOffset, entries.byteLength);
    const begins = new Uint32Array(count);
    const lengths = new Uint32Array(count);
    let total = 0;
    let isInOrder = true;
    for (let index = 0; index < count; index++) {
      if (valid[index] === 1) {
        const at = rowAt(rows, index) * recordBytes;
        begins[index] = Number(view.getBigUint64(at, true));
        lengths[index] = Number(view.getBigUint64(at + 8, true));
        isInOrder &&= total === 0 || lengths[index] === 0 || begins[index] === begins[0]! + total;
        if (total === 0) begins[0] = begins[index]!;
      }
      total += lengths[index]!;
      this.#offsets.push(this.#offsets.at(-1)! + lengths[index]!);
    }
    const child = duckdb.list_vector_get_child(vector);
    if (isInOrder) return this.#child.append(child, { start: begins[0] ?? 0, count: total });
    const positions = new Uint32Array(total);
    for (let index = 0, at = 0; index < count; index++)
      for (let item = 0; item < lengths[index]!; item++) positions[at++] = begins[index]! + item;
    this.#child.append(child, positions);
  }

  protected build(common: Common): Data {
    const valueOffsets = Int32Array.from(this.#offsets);
    this.#offsets.length = 1;
    return make(this.type, common, { valueOffsets, child: this.#child.finish() });
  }
}

/** Arrays of a fixed size, such as vectors. */
class ArrayBuilder extends ColumnBuilder {
  readonly #size: number;
  readonly #child: ColumnBuilder;

  constructor(type: DataType, size: number, child: ColumnBuilder) {
    super(type);
    this.#size = size;
    this.#child = child;
  }

  get bytes(): number {
    return this.#child.bytes;
  }

  protected appendValues(vector: duckdb.Vector, rows: Rows): void {
    const size = this.#size;
    const child = duckdb.array_vector_get_child(vector);
    if (!(rows instanceof Uint32Array))
      return this.#child.append(child, { start: rows.start * size, count: rows.count * size });
    this.#child.append(
      child,
      Uint32Array.from({ length: rows.length * size }, (_, at) => rows[Math.floor(at / size)]! * size + (at % size)),
    );
  }

  protected build(common: Common): Data {
    return make(this.type, common, { child: this.#child.finish() });
  }
}

class StructBuilder extends ColumnBuilder {
  readonly #children: readonly ColumnBuilder[];

  constructor(type: DataType, children: readonly ColumnBuilder[]) {
    super(type);
    this.#children = children;
  }

  get bytes(): number {
    return this.#children.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  protected appendValues(vector: duckdb.Vector, rows: Rows): void {
    for (const [index, child] of this.#children.entries())
      child.append(duckdb.struct_vector_get_child(vector, index), rows);
  }

  protected build(common: Common): Data {
    return make(this.type, common, { children: this.#children.map((child) => child.finish()) });
  }
}

/** Creates the builder of a result column. */
export function createBuilder(type: DataType, source: duckdb.LogicalType): ColumnBuilder {
  const { Type: EngineType } = duckdb;
  const id = duckdb.get_type_id(source);
  if (id === EngineType.HUGEINT || id === EngineType.UHUGEINT)
    return new HugeIntBuilder(type, id === EngineType.HUGEINT);
  if (id === EngineType.VARCHAR || id === EngineType.BLOB) return new TextBuilder(type);
  if (DataType.isUtf8(type)) return new ShownBuilder(type);
  if (DataType.isBool(type)) return new BoolBuilder(type);
  if (DataType.isInterval(type)) return new IntervalBuilder(type);
  if (DataType.isDecimal(type)) return new DecimalBuilder(type, decimalBytes[duckdb.decimal_internal_type(source)]!);
  if (DataType.isList(type))
    return new ListBuilder(type, childBuilder(type.children[0]!, duckdb.list_type_child_type(source)));
  if (DataType.isFixedSizeList(type))
    return new ArrayBuilder(type, type.listSize, childBuilder(type.children[0]!, duckdb.array_type_child_type(source)));
  if (DataType.isMap(type)) {
    const entries = (type.children[0] as Field).type as Struct;
    const [key, value] = entries.children;
    const children = [
      childBuilder(key!, duckdb.map_type_key_type(source)),
      childBuilder(value!, duckdb.map_type_value_type(source)),
    ];
    return new ListBuilder(type, new StructBuilder(entries, children));
  }
  if (DataType.isStruct(type)) {
    const children = type.children.map((field, index) =>
      childBuilder(field, duckdb.struct_type_child_type(source, index)),
    );
    return new StructBuilder(type, children);
  }
  return new FixedBuilder(type, fixedBytes(type));
}

const childBuilder = (field: Field, source: duckdb.LogicalType): ColumnBuilder =>
  createBuilder(field.type as DataType, source);

const decimalBytes: Readonly<Partial<Record<duckdb.Type, number>>> = {
  [duckdb.Type.SMALLINT]: 2,
  [duckdb.Type.INTEGER]: 4,
  [duckdb.Type.BIGINT]: 8,
  [duckdb.Type.HUGEINT]: 16,
};

function fixedBytes(type: DataType): number {
  if (DataType.isInt(type) || DataType.isTime(type)) return type.bitWidth / 8;
  if (DataType.isFloat(type)) return type.precision === Precision.DOUBLE ? 8 : 4;
  return DataType.isDate(type) ? 4 : 8;
}
