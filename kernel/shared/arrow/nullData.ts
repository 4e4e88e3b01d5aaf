import {
  DataType,
  IntervalUnit,
  RecordBatch,
  Struct,
  Table,
  Vector,
  makeData,
  type Data,
  type Field,
  type Schema,
} from '#arrow';

// Arrow's JavaScript library creates data without buffers for empty batches, and for columns that are shorter than the
// table. Its own reader treats missing buffers as nulls, but readers in other languages reject them.

/** Returns data that is null in every row, with every buffer that the format requires. */
export function nullData(type: DataType, length: number): Data {
  const common = {
    type,
    length,
    nullCount: length,
    nullBitmap: length === 0 ? undefined : new Uint8Array((length + 7) >> 3),
  };
  if (DataType.isNull(type)) return makeData({ type, length });
  if (DataType.isDictionary(type)) {
    const values: DataType = type.dictionary;
    const data = new (type.indices as DataType).ArrayType(length) as unknown;
    return makeData({ ...common, data, dictionary: new Vector([nullData(values, 0)]) } as never);
  }
  const children = (type.children ?? []) as readonly Field[];
  if (DataType.isStruct(type)) {
    return makeData({ ...common, children: children.map((child) => nullData(child.type, length)) } as never);
  }
  if (DataType.isFixedSizeList(type)) {
    return makeData({ ...common, child: nullData(children[0]!.type, length * type.listSize) } as never);
  }
  if (isOffsetType(type)) {
    const valueOffsets = new (type.OffsetArrayType as Int32ArrayConstructor)(length + 1);
    const child = children[0] && nullData(children[0].type, 0);
    return makeData({ ...common, valueOffsets, ...(child ? { child } : { data: new Uint8Array(0) }) } as never);
  }
  const size = DataType.isBool(type) ? (length + 7) >> 3 : length * strideOf(type);
  return makeData({ ...common, data: new (type.ArrayType as Uint8ArrayConstructor)(size) } as never);
}

const isOffsetType = (type: DataType): boolean =>
  DataType.isUtf8(type) ||
  DataType.isLargeUtf8(type) ||
  DataType.isBinary(type) ||
  DataType.isLargeBinary(type) ||
  DataType.isList(type) ||
  DataType.isLargeList(type) ||
  DataType.isMap(type);

const intervalWords = { [IntervalUnit.YEAR_MONTH]: 1, [IntervalUnit.DAY_TIME]: 2, [IntervalUnit.MONTH_DAY_NANO]: 4 };

/** Elements of the values array per row. */
function strideOf(type: DataType): number {
  if (DataType.isFixedSizeBinary(type)) return type.byteWidth;
  if (DataType.isDecimal(type)) return type.bitWidth / 32;
  if (DataType.isInterval(type)) return intervalWords[type.unit];
  return 1;
}

export function emptyBatch(schema: Schema): RecordBatch {
  const children = schema.fields.map(({ type }) => nullData(type, 0));
  return new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length: 0, nullCount: 0, children }));
}

/** Returns the table with missing buffers added, so that readers in other languages accept it. */
export function withFullValidity(table: Table): Table {
  if (table.batches.every((batch) => batch.data.children.every(isWhole))) return table;
  const batches = table.batches.map((batch) => {
    const children = batch.data.children.map((child) => (isWhole(child) ? child : nullData(child.type, child.length)));
    const type = new Struct(table.schema.fields);
    return new RecordBatch(table.schema, makeData({ type, length: batch.numRows, nullCount: 0, children }));
  });
  return new Table(table.schema, batches);
}

function isWhole(data: Data): boolean {
  const { type, length, nullCount } = data;
  if (length === 0 || nullCount !== length) return true;
  if (isOffsetType(type) && (data.valueOffsets?.length ?? 0) <= length) return false;
  if (DataType.isFixedSizeList(type)) return (data.children[0]?.length ?? 0) >= length * type.listSize;
  if (DataType.isStruct(type)) return data.children.every((child) => child && child.length >= length && isWhole(child));
  if (DataType.isNull(type) || isOffsetType(type) || DataType.isUnion(type)) return true;
  const values = data.values as ArrayLike<unknown> | undefined;
  return (values?.length ?? 0) >= (DataType.isBool(type) ? (length + 7) >> 3 : length * strideOf(type));
}
