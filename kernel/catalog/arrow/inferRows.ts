import {
  Binary,
  Bool,
  Field,
  FixedSizeList,
  Float32,
  Float64,
  Int64,
  List,
  RecordBatch,
  Schema,
  Struct,
  Table as ArrowTable,
  TimestampMicrosecond,
  Utf8,
  makeData,
  vectorFromArray,
  type DataType,
} from '#arrow';
import { CatalogError } from '#shared/errors.ts';
import { convertValue, fail, isTypedArray, builtinTag, type Place } from './convertValue.ts';
import { storageType, withType } from './timestamps.ts';

export type Row = Readonly<Record<string, unknown>>;

/**
 * Creates an Arrow table from rows. The inference is the same for every implementation, because an engine's inference
 * would turn every number into a float:
 *
 * - safe whole numbers and `bigint`: Int64; other numbers: Float64
 * - arrays of numbers: FixedSizeList<Float32> if equally long, else List; also List if a Float32 would change a whole
 *   number
 * - `Date`: Timestamp in microseconds UTC; `Uint8Array`: Binary; objects: Struct
 * - `null` and `undefined`: null
 *
 * A given schema overrides the inference.
 * @throws CatalogError SchemaValidation (20) naming row and column if the values of a column have different types
 */
export function inferRows(rows: readonly Row[], schema?: Schema): ArrowTable {
  rows.forEach((row, index) => {
    if (typeof row === 'object' && row !== null && !Array.isArray(row)) return;
    throw new CatalogError('SchemaValidation', `Row ${index} is not an object.`, 'Pass rows as objects.');
  });
  const fields = schema ? schema.fields : inferFields(rows);
  if (fields.length === 0 && rows.length > 0 && !schema) {
    throw new CatalogError(
      'SchemaValidation',
      rows.length === 1 ? 'Row 0 has no columns.' : 'No row has a column.',
      'Pass rows with at least one property, or set the option schema.',
    );
  }
  if (fields.length === 0) {
    throw new CatalogError(
      'SchemaValidation',
      'There are no rows and no schema, so the columns are unknown.',
      'Pass at least one row, set the option schema, or use createEmptyTable.',
    );
  }
  const names = new Set(fields.map((field) => field.name));
  rows.forEach((row, index) => {
    const extra = Object.keys(row).find((name) => !names.has(name));
    if (extra !== undefined)
      fail({ row: index, column: extra }, 'is not in the schema', 'Add it to the schema or leave it out.');
  });
  const made = new Schema([...fields], schema?.metadata);
  const columns = fields.map((field) =>
    vectorFromArray(
      rows.map((row, index) => {
        const place = { row: index, column: field.name };
        const value = row[field.name];
        if ((value === null || value === undefined) && !field.nullable)
          fail(place, 'is null', 'Set a value, or make the column nullable in the schema.');
        return convertValue(field.type, value, place);
      }),
      storageType(field.type),
    ),
  );
  const data = makeData({
    type: new Struct(made.fields),
    length: rows.length,
    nullCount: 0,
    children: columns.map((column, index) => withType(column.data[0]!, fields[index]!.type)),
  });
  return new ArrowTable(made, [new RecordBatch(made, data)]);
}

// The inferred type of a column so far. A number is wide if it is a whole number that a Float32 can't hold exactly. A
// list without `item` has had no elements yet, so their type is unknown.
type Shape =
  | { kind: 'whole' | 'float'; wide: boolean }
  | { kind: 'text' | 'bool' | 'date' | 'bytes' }
  | { kind: 'list'; length: number | 'varies'; item: Shape | undefined }
  | { kind: 'struct'; fields: Map<string, Shape | undefined> };

function inferFields(rows: readonly Row[]): Field[] {
  const shapes = new Map<string, Shape | undefined>();
  rows.forEach((row, index) => {
    for (const [name, value] of Object.entries(row)) {
      shapes.set(
        name,
        merge(shapes.get(name), shapeOf(value, { row: index, column: name }), { row: index, column: name }),
      );
    }
  });
  return [...shapes].map(([name, shape]) => new Field(name, typeOf(shape, name), true));
}

/** Infers the shape of a value; `within` are the objects that contain the value. They are needed to detect cycles. */
function shapeOf(value: unknown, place: Place, within: readonly object[] = []): Shape | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'object') return shapeOfObject(value, place, within);
  if (typeof value === 'number') {
    return { kind: Number.isSafeInteger(value) && !Object.is(value, -0) ? 'whole' : 'float', wide: isWide(value) };
  }
  // A bigint is always a whole number, never a vector element, so that it is read back unchanged.
  if (typeof value === 'bigint') return { kind: 'whole', wide: true };
  if (typeof value === 'string') return { kind: 'text' };
  if (typeof value === 'boolean') return { kind: 'bool' };
  const hint = 'Use a number, string, boolean, Date, Uint8Array, array or plain object.';
  return fail(place, `is a ${typeof value}`, hint);
}

function shapeOfObject(value: object, place: Place, above: readonly object[]): Shape {
  if (above.includes(value)) return fail(place, 'contains itself', 'Remove the circular reference.');
  const within = [...above, value];
  const tag = builtinTag(value);
  if (tag === 'Date') return { kind: 'date' };
  if (tag === 'Uint8Array') return { kind: 'bytes' };
  if (isTypedArray(value)) {
    const kind = /Int/.test(tag) ? 'whole' : 'float';
    const wide = tag.startsWith('Big') || (tag !== 'Float32Array' && Array.prototype.some.call(value, isWide));
    return { kind: 'list', length: value.length, item: { kind, wide } };
  }
  if (Array.isArray(value)) {
    let item: Shape | undefined;
    for (const element of value) item = merge(item, shapeOf(element, place, within), place);
    return { kind: 'list', length: value.length, item };
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  // A plain object of a notebook cell may come from another realm. Its prototype is not this realm's
  // `Object.prototype`, but that prototype has no prototype either.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    return fail(
      place,
      `is a ${tag === 'Object' ? value.constructor.name : tag}`,
      'Use a plain object, or convert it first.',
    );
  }
  return {
    kind: 'struct',
    fields: new Map(
      Object.entries(value).map(([name, member]) => [
        name,
        shapeOf(member, { row: place.row, column: `${place.column}.${name}` }, within),
      ]),
    ),
  };
}

function merge(a: Shape | undefined, b: Shape | undefined, place: Place): Shape | undefined {
  if (!a || !b) return a ?? b;
  if (a.kind === 'list' && b.kind === 'list') {
    return { kind: 'list', length: a.length === b.length ? a.length : 'varies', item: merge(a.item, b.item, place) };
  }
  if (a.kind === 'struct' && b.kind === 'struct') {
    const fields = new Map(a.fields);
    for (const [name, shape] of b.fields) {
      const inner = { row: place.row, column: `${place.column}.${name}` };
      fields.set(name, merge(fields.get(name), shape, inner));
    }
    return { kind: 'struct', fields };
  }
  if (isNumber(a) && isNumber(b)) return { kind: a.kind === b.kind ? a.kind : 'float', wide: a.wide || b.wide };
  if (a.kind === b.kind) return a;
  return fail(place, `is ${words[b.kind]}, but earlier rows have ${words[a.kind]}`, 'Use one type per column.');
}

const isNumber = (shape: Shape): shape is Extract<Shape, { wide: boolean }> =>
  shape.kind === 'whole' || shape.kind === 'float';

/** A Float32 does not hold every whole number above 2 ** 24 exactly. */
const isWide = (value: unknown): boolean => Number.isInteger(value) && Math.abs(Number(value)) > 2 ** 24;

const words: Record<Shape['kind'], string> = {
  whole: 'a whole number',
  float: 'a number',
  text: 'a string',
  bool: 'a boolean',
  date: 'a Date',
  bytes: 'bytes',
  list: 'an array',
  struct: 'an object',
};

function typeOf(shape: Shape | undefined, column: string): DataType {
  switch (shape?.kind) {
    case 'whole':
      return new Int64();
    case 'float':
      return new Float64();
    case 'text':
      return new Utf8();
    case 'bool':
      return new Bool();
    case 'date':
      return new TimestampMicrosecond('UTC');
    case 'bytes':
      return new Binary();
    case 'list':
      return listType(shape, column);
    case 'struct':
      return new Struct(
        [...shape.fields].map(([name, member]) => new Field(name, typeOf(member, `${column}.${name}`), true)),
      );
    case undefined:
      throw new CatalogError(
        'SchemaValidation',
        `Can't infer the type of column "${column}": every row has null.`,
        'Set the option schema.',
      );
  }
}

function listType(shape: Extract<Shape, { kind: 'list' }>, column: string): DataType {
  const { item, length } = shape;
  // Vectors are Float32. A list of identifiers or times is not a vector, and Float32 would change its values.
  if (item && isNumber(item) && !item.wide && length !== 'varies' && length > 0) {
    return new FixedSizeList(length, new Field('item', new Float32(), true));
  }
  return new List(new Field('item', typeOf(item, `${column}[]`), true));
}
