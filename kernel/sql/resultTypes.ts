import {
  type Data,
  DataType,
  Field,
  FixedSizeList,
  List,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  TimeUnit,
} from '#arrow';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { findOrigins } from './columnOrigins.ts';
import type { SqlTable } from './sqlTable.ts';
import type { SyntaxTree, TreeNode } from './syntaxTree.ts';

/** The columns of a result with the types of their tables. */
export type Restored = { schema: Schema; convert: (batch: RecordBatch) => RecordBatch };

/**
 * Gives columns of a result the types that they have in their tables. The engine has no zones, and one unit of times
 * with a zone, so a timestamp in milliseconds for Berlin comes back in microseconds for UTC.
 * @param tableOf the table of a reference's node
 */
export function restoreTypes(
  schema: Schema,
  tree: SyntaxTree,
  tableOf: (node: TreeNode) => SqlTable | undefined,
): Restored {
  const origins = findOrigins(tree, tableOf);
  const isKnown = origins?.length === schema.fields.length;
  const converters = schema.fields.map(({ type }, index) =>
    isKnown ? converterTo(type as DataType, origins[index]) : undefined,
  );
  if (converters.every((converter) => converter === undefined)) return { schema, convert: (batch) => batch };
  const fields = schema.fields.map(
    ({ name, type }, index) => new Field(name, converters[index]?.type ?? (type as DataType), true),
  );
  const restored = new Schema(fields);
  return {
    schema: restored,
    convert: ({ data, numRows }) => {
      const children = data.children.map((child, index) => converters[index]?.convert(child) ?? child);
      const rows = makeData({ type: new Struct(fields), length: numRows, nullCount: 0, children });
      return new RecordBatch(restored, rows);
    },
  };
}

type Converter = { type: DataType; convert(data: Data): Data };

/** Returns how to convert a column to another type without a change of its values; undefined if there is no way. */
function converterTo(from: DataType, to: DataType | undefined): Converter | undefined {
  if (!to || typeText(from) === typeText(to)) return undefined;
  const values = valueConverter(from, to);
  if (values) return { type: to, convert: (data) => rebuilt(data, to, { data: values(data) }) };
  return listConverter(from, to);
}

function listConverter(from: DataType, to: DataType): Converter | undefined {
  const isList = DataType.isList(from) && DataType.isList(to);
  const isVector = DataType.isFixedSizeList(from) && DataType.isFixedSizeList(to) && from.listSize === to.listSize;
  if (!isList && !isVector) return undefined;
  const item = converterTo(from.children[0]!.type as DataType, to.children[0]!.type as DataType);
  if (!item) return undefined;
  const child = new Field(from.children[0]!.name, item.type, true);
  const type = DataType.isFixedSizeList(from) ? new FixedSizeList(from.listSize, child) : new List(child);
  return {
    type,
    convert: (data) => rebuilt(data, type, { valueOffsets: data.valueOffsets, child: item.convert(data.children[0]!) }),
  };
}

const rebuilt = ({ length, nullCount, nullBitmap }: Data, type: DataType, rest: object): Data =>
  makeData({ type, length, nullCount, nullBitmap: nullCount > 0 ? nullBitmap : undefined, ...rest } as never);

const unitMicros: Readonly<Record<number, bigint>> = {
  [TimeUnit.SECOND]: 1_000_000n,
  [TimeUnit.MILLISECOND]: 1000n,
  [TimeUnit.MICROSECOND]: 1n,
};
const dayMs = 86_400_000n;

/** Returns a function for the values of a column; results have no offsets, because the engine creates them. */
function valueConverter(from: DataType, to: DataType): ((data: Data) => ArrayBufferView) | undefined {
  if (DataType.isTimestamp(from) && DataType.isTimestamp(to)) {
    if (from.unit === to.unit) return ({ values }) => values;
    const factor = from.unit === TimeUnit.MICROSECOND ? unitMicros[to.unit] : undefined;
    return factor === undefined ? undefined : ({ values }) => divided(values, factor);
  }
  if (DataType.isTime(from) && DataType.isTime(to) && to.bitWidth === 32) {
    const factor = unitMicros[to.unit]!;
    return ({ values }) => Int32Array.from(values as BigInt64Array, (value) => Number(value / factor));
  }
  if (DataType.isDate(from) && DataType.isDate(to))
    return ({ values }) => BigInt64Array.from(values as Int32Array, (days) => BigInt(days) * dayMs);
  if (!DataType.isDuration(to)) return fixedBytes(from, to);
  if (DataType.isInt(from)) return to.unit === TimeUnit.NANOSECOND ? ({ values }) => values : undefined;
  const factor = unitMicros[to.unit];
  if (!DataType.isInterval(from) || factor === undefined) return undefined;
  // An interval of a column has microseconds only: months and days are 0.
  return ({ values: { buffer, byteOffset, length } }) =>
    BigInt64Array.from(
      { length: length / 4 },
      (_, row) => new BigInt64Array(buffer as ArrayBuffer, byteOffset, length / 2)[2 * row + 1]! / 1000n / factor,
    );
}

const divided = (values: BigInt64Array, factor: bigint): BigInt64Array =>
  BigInt64Array.from(values, (value) => value / factor);

function fixedBytes(from: DataType, to: DataType): ((data: Data) => Uint8Array) | undefined {
  if (!DataType.isBinary(from) || !DataType.isFixedSizeBinary(to)) return undefined;
  const { byteWidth } = to;
  return ({ values, valueOffsets, length }) => {
    const bytes = new Uint8Array(length * byteWidth);
    for (let row = 0; row < length; row++)
      bytes.set((values as Uint8Array).subarray(valueOffsets[row], valueOffsets[row + 1]), row * byteWidth);
    return bytes;
  };
}
