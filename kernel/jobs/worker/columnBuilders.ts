import { Bool, DataType, Precision, Utf8, makeData, type Data, type FixedSizeList } from '#arrow';
import { convertValue, fail, isTypedArray } from '#catalog/arrow/convertValue.ts';
import { buildColumn } from '#catalog/arrow/buildColumn.ts';

/** Builds a column from values in any order; missing values are null. */
export type ColumnBuilder = {
  /** @throws CatalogError SchemaValidation (20) for a value that the column can't hold */
  set(row: number, value: unknown): void;
  finish(): Data;
};

/**
 * Creates a builder for one column of a batch. Arrow's own builders store wrong data for values of another type, and
 * are slow for the most common types. So this file has builders for those types.
 */
export function columnBuilder(column: string, type: DataType, rows: number): ColumnBuilder {
  if (isStored(type)) return DataType.isInt(type) ? wholeNumbers(column, type, rows) : floats(column, type, rows);
  if (DataType.isUtf8(type)) return texts(column, rows);
  if (DataType.isBool(type)) return truths(column, rows);
  if (DataType.isFixedSizeList(type) && isStored(type.children[0]!.type)) return vectors(column, type, rows);
  return anyValues(column, type, rows);
}

/** Types whose values are JavaScript numbers. */
const isStored = (type: DataType): boolean =>
  (DataType.isInt(type) && type.bitWidth < 64) || (DataType.isFloat(type) && type.precision !== Precision.HALF);

type Numbers = { readonly length: number; [row: number]: number };
const numbersOf = (type: DataType, rows: number): Numbers =>
  new (type.ArrayType as new (length: number) => Numbers)(rows);

class Validity {
  readonly #bits: Uint8Array;
  readonly #rows: number;
  #count = 0;

  constructor(rows: number) {
    this.#rows = rows;
    this.#bits = new Uint8Array((rows + 7) >> 3);
  }

  set(row: number): void {
    const bit = 1 << (row & 7);
    const at = row >> 3;
    if (((this.#bits[at] ?? 0) & bit) !== 0) return;
    this.#bits[at] = (this.#bits[at] ?? 0) | bit;
    this.#count++;
  }

  get parts(): { length: number; nullCount: number; nullBitmap?: Uint8Array } {
    const nullCount = this.#rows - this.#count;
    return { length: this.#rows, nullCount, ...(nullCount > 0 && { nullBitmap: this.#bits }) };
  }
}

function wholeNumbers(column: string, type: DataType, rows: number): ColumnBuilder {
  const values = numbersOf(type, rows);
  const validity = new Validity(rows);
  return {
    set(row, value) {
      if (value === null || value === undefined) return;
      if (typeof value === 'number') {
        values[row] = value;
        // A number that the type can't hold has another value when it is read back. -0 counts as 0, as in databases.
        if (values[row] === value) return validity.set(row);
      }
      values[row] = convertValue(type, value, { column }) as number;
      validity.set(row);
    },
    finish: () => makeData({ type, data: values, ...validity.parts } as Parameters<typeof makeData>[0]),
  };
}

function floats(column: string, type: DataType, rows: number): ColumnBuilder {
  const values = numbersOf(type, rows);
  const validity = new Validity(rows);
  return {
    set(row, value) {
      if (value === null || value === undefined) return;
      // The value is not compared, because results of floating-point functions are meant to be rounded.
      if (typeof value === 'number') values[row] = value;
      else values[row] = convertValue(type, value, { column }) as number;
      validity.set(row);
    },
    finish: () => makeData({ type, data: values, ...validity.parts } as Parameters<typeof makeData>[0]),
  };
}

function truths(column: string, rows: number): ColumnBuilder {
  const bits = new Uint8Array((rows + 7) >> 3);
  const validity = new Validity(rows);
  return {
    set(row, value) {
      if (value === null || value === undefined) return;
      if (convertValue(new Bool(), value, { column }) === true)
        bits[row >> 3] = (bits[row >> 3] ?? 0) | (1 << (row & 7));
      validity.set(row);
    },
    finish: () => makeData({ type: new Bool(), data: bits, ...validity.parts }),
  };
}

/** Vectors are long, so their numbers are written directly into one array. */
function vectors(column: string, type: FixedSizeList, rows: number): ColumnBuilder {
  const { listSize } = type;
  const item = type.children[0]!.type as DataType;
  const numbers = columnBuilder(`${column}[]`, item, rows * listSize);
  const validity = new Validity(rows);
  return {
    set(row, value) {
      if (value === null || value === undefined) return;
      const list = vectorOf(value, listSize) ?? (convertValue(type, value, { column }) as number[]);
      for (let i = 0; i < listSize; i++) numbers.set(row * listSize + i, list[i]);
      validity.set(row);
    },
    finish: () => makeData({ type, child: numbers.finish(), ...validity.parts }),
  };
}

const vectorOf = (value: unknown, length: number): ArrayLike<unknown> | undefined =>
  (Array.isArray(value) || isTypedArray(value)) && value.length === length ? value : undefined;

/** Maximum bytes of a batch's strings: offsets have 31 bits. */
const maxTextBytes = 2 ** 31 - 1;

function texts(column: string, rows: number): ColumnBuilder {
  const values: string[] = Array.from({ length: rows }, () => '');
  const validity = new Validity(rows);
  return {
    set(row, value) {
      if (value === null || value === undefined) return;
      values[row] = typeof value === 'string' ? value : (convertValue(new Utf8(), value, { column }) as string);
      validity.set(row);
    },
    finish() {
      const offsets = new Int32Array(rows + 1);
      let bytes = 0;
      for (let row = 0; row < rows; row++) {
        bytes += Buffer.byteLength(values[row] ?? '');
        if (bytes > maxTextBytes)
          fail({ column, row }, 'brings the strings of this batch to more than 2 GiB', 'Use smaller batches.');
        offsets[row + 1] = bytes;
      }
      const data = Buffer.allocUnsafeSlow(bytes);
      for (let row = 0; row < rows; row++) data.write(values[row] ?? '', offsets[row] ?? 0);
      return makeData({ type: new Utf8(), valueOffsets: offsets, data, ...validity.parts });
    },
  };
}

function anyValues(column: string, type: DataType, rows: number): ColumnBuilder {
  const values: unknown[] = Array.from({ length: rows }, () => null);
  return {
    set(row, value) {
      values[row] = convertValue(type, value, { column });
    },
    finish: () => buildColumn(type, values),
  };
}
