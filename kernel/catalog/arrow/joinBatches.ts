import { DataType, makeData, RecordBatch, Struct, type Data } from '#arrow';

/** Default maximum rows of a joined batch. */
const enoughRows = 4096;

/**
 * Joins consecutive small batches to batches of at most `maxRows` rows. A caller may get a batch for each span of rows,
 * for instance between scattered nulls. Writing tens of thousands of batches would take minutes, and more bytes than
 * the values.
 */
export function joinBatches(batches: readonly RecordBatch[], maxRows = enoughRows): RecordBatch[] {
  const joined: RecordBatch[] = [];
  let some: RecordBatch[] = [];
  let rows = 0;
  const end = (): void => {
    joined.push(...joinSome(some));
    some = [];
    rows = 0;
  };
  for (const batch of batches) {
    if (rows + batch.numRows > maxRows) end();
    some.push(batch);
    rows += batch.numRows;
  }
  end();
  return joined;
}

function joinSome(batches: readonly RecordBatch[]): readonly RecordBatch[] {
  const [first, second] = batches;
  if (!first || !second || !first.schema.fields.every(({ type }) => canJoin(type))) return batches;
  const children = first.data.children.map((_, column) => joinData(batches.map(({ data }) => data.children[column]!)));
  const length = batches.reduce((total, { numRows }) => total + numRows, 0);
  const type = new Struct(first.schema.fields);
  return [new RecordBatch(first.schema, makeData({ type, length, nullCount: 0, children }))];
}

/**
 * Whether columns of a type can be joined. This holds for types that store their values one after another, with or
 * without offsets, and for lists and structs of such types.
 */
const canJoin = (type: DataType): boolean =>
  (DataType.isInt(type) ||
    DataType.isFloat(type) ||
    DataType.isBool(type) ||
    DataType.isDecimal(type) ||
    DataType.isDate(type) ||
    DataType.isTime(type) ||
    DataType.isTimestamp(type) ||
    DataType.isDuration(type) ||
    DataType.isFixedSizeBinary(type) ||
    hasOffsets(type) ||
    DataType.isFixedSizeList(type) ||
    DataType.isStruct(type)) &&
  (type.children ?? []).every((child) => canJoin(child.type));

const hasOffsets = (type: DataType): boolean =>
  DataType.isUtf8(type) ||
  DataType.isLargeUtf8(type) ||
  DataType.isBinary(type) ||
  DataType.isLargeBinary(type) ||
  DataType.isList(type) ||
  DataType.isMap(type);

function joinData(pieces: readonly Data[]): Data {
  const { type } = pieces[0]!;
  const length = pieces.reduce((total, piece) => total + piece.length, 0);
  const nullCount = pieces.reduce((total, piece) => total + piece.nullCount, 0);
  const nullBitmap = nullCount > 0 ? bitsOf(pieces, length, (piece, row) => piece.getValid(row)) : undefined;
  return makeData({ type, length, nullCount, nullBitmap, ...partsOf(type, pieces, length) } as never);
}

function partsOf(type: DataType, pieces: readonly Data[], length: number): object {
  if (DataType.isBool(type)) return { data: bitsOf(pieces, length, isSet) };
  if (hasOffsets(type)) {
    const valueOffsets = offsetsOf(type, pieces, length);
    const ends = pieces.map(
      ({ valueOffsets: of, length: rows }) => [Number(of[0] ?? 0), Number(of[rows] ?? 0)] as const,
    );
    if (type.children?.length) {
      const children = pieces.map(({ children: [child] }, at) =>
        child!.slice(ends[at]![0], ends[at]![1] - ends[at]![0]),
      );
      return { valueOffsets, child: joinData(children) };
    }
    return { valueOffsets, data: concat(pieces.map(({ values }, at) => bytesOf(values).subarray(...ends[at]!))) };
  }
  if (DataType.isFixedSizeList(type)) return { child: joinData(pieces.map(({ children }) => children[0]!)) };
  if (DataType.isStruct(type)) {
    return { children: type.children.map((_, at) => joinData(pieces.map(({ children }) => children[at]!))) };
  }
  return { data: valuesOf(pieces) };
}

function valuesOf(pieces: readonly Data[]): unknown {
  const parts = pieces.filter(({ length }) => length > 0).map(ownValues);
  if (parts.length === 0) return undefined;
  const Values = parts[0]!.constructor as Uint8ArrayConstructor;
  return new Values(concat(parts.map(bytesOf)).buffer);
}

/** Returns a chunk's part of a buffer that may be shared. */
const ownValues = ({ values, stride, length }: Data): Uint8Array => (values as Uint8Array).subarray(0, stride * length);

function offsetsOf(type: DataType, pieces: readonly Data[], length: number): unknown {
  const isLarge = DataType.isLargeUtf8(type) || DataType.isLargeBinary(type);
  const offsets = isLarge ? new BigInt64Array(length + 1) : new Int32Array(length + 1);
  let row = 0;
  let end = 0;
  for (const { valueOffsets: of, length: rows } of pieces) {
    const start = end - Number(of[0] ?? 0);
    for (let at = 1; at <= rows; at++) {
      end = start + Number(of[at]);
      row++;
      if (offsets instanceof BigInt64Array) offsets[row] = BigInt(end);
      else offsets[row] = end;
    }
  }
  return offsets;
}

const isSet = ({ values, offset }: Data, row: number): boolean =>
  (((values as Uint8Array)[(offset + row) >> 3] ?? 0) & (1 << ((offset + row) & 7))) !== 0;

function bitsOf(pieces: readonly Data[], length: number, of: (piece: Data, row: number) => boolean): Uint8Array {
  const bits = new Uint8Array((length + 7) >> 3);
  let at = 0;
  for (const piece of pieces) {
    for (let row = 0; row < piece.length; row++, at++) if (of(piece, row)) bits[at >> 3]! |= 1 << (at & 7);
  }
  return bits;
}

const bytesOf = (values: ArrayBufferView): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((total, { length }) => total + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
