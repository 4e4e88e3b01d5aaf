import {
  Binary,
  BinaryView,
  Bool,
  BufferType,
  Data,
  DataType,
  Date_,
  Decimal,
  Dictionary,
  Duration,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  Float,
  Int,
  Interval,
  LargeBinary,
  LargeList,
  LargeUtf8,
  List,
  Map_,
  Null,
  RecordBatch,
  Schema,
  Struct,
  Table,
  Time,
  Timestamp,
  Type,
  Union,
  Utf8,
  Utf8View,
  Vector,
} from '#arrow';
import { CatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import { typeText } from './arrowTypes.ts';
import { keepPositions } from './columnPositions.ts';

// A notebook may have its own copy of apache-arrow: another version, or another build of the same version. Tables of a
// copy from 21.2 on even pass our `instanceof`, but our writer can't serialize them. All copies share the layout of the
// Arrow columnar format, so new objects of our classes are created around the same buffers, without copying.

/** A type object of any copy of apache-arrow. `typeId` determines which properties exist. */
type ForeignType = {
  readonly typeId: number;
  readonly bitWidth?: number;
  readonly isSigned?: boolean;
  readonly precision?: number;
  readonly scale?: number;
  readonly unit?: number;
  readonly timezone?: string | null;
  readonly byteWidth?: number;
  readonly listSize?: number;
  readonly keysSorted?: boolean;
  readonly mode?: number;
  readonly typeIds?: ArrayLike<number>;
  readonly children?: readonly ForeignField[] | null;
  readonly id?: number;
  readonly isOrdered?: boolean;
  readonly indices?: ForeignType;
  readonly dictionary?: ForeignType;
};

type ForeignField = {
  readonly name: string;
  readonly type: ForeignType;
  readonly nullable?: boolean;
  readonly metadata?: unknown;
};

/** Types by dictionary id, because a schema requires that fields with the same id share one type object. */
type DictionaryTypes = Map<number, Dictionary>;

/** Whether the classes of our `#arrow` created the type and all types in it. */
const isOwnType = (type: DataType): boolean =>
  Object.prototype.isPrototypeOf.call(DataType.prototype, type) &&
  (!DataType.isDictionary(type) || isOwnType(type.dictionary as DataType)) &&
  (type.children ?? []).every((child: Field) => isOwnType(child.type));

const dictionaryId: number = Type.Dictionary;

/** Creates our type for a foreign type whose fields are adopted already. */
type Maker = (type: ForeignType, children: Field[]) => DataType;

// Units, precisions and widths are numbers of the Arrow format and the same in every copy. Our classes expect values of
// their own enum types, so the numbers are cast.
const number = (value: number | undefined, otherwise: number) => (value ?? otherwise) as never;

const makers: Partial<Record<number, Maker>> = {
  [Type.Null]: () => new Null(),
  [Type.Int]: (type) => new Int(type.isSigned ?? true, number(type.bitWidth, 32)),
  [Type.Float]: (type) => new Float(number(type.precision, 2)),
  [Type.Binary]: () => new Binary(),
  [Type.LargeBinary]: () => new LargeBinary(),
  [Type.BinaryView]: () => new BinaryView(),
  [Type.Utf8]: () => new Utf8(),
  [Type.LargeUtf8]: () => new LargeUtf8(),
  [Type.Utf8View]: () => new Utf8View(),
  [Type.Bool]: () => new Bool(),
  [Type.Decimal]: (type) => new Decimal(type.scale ?? 0, type.precision ?? 38, type.bitWidth ?? 128),
  [Type.Date]: (type) => new Date_(number(type.unit, 0)),
  [Type.Time]: (type) => new Time(number(type.unit, 0), number(type.bitWidth, 32)),
  [Type.Timestamp]: (type) => new Timestamp(number(type.unit, 0), type.timezone),
  [Type.Interval]: (type) => new Interval(number(type.unit, 0)),
  [Type.Duration]: (type) => new Duration(number(type.unit, 0)),
  [Type.FixedSizeBinary]: (type) => new FixedSizeBinary(type.byteWidth ?? 0),
  [Type.List]: (_, [item]) => new List(item!),
  [Type.LargeList]: (_, [item]) => new LargeList(item!),
  [Type.FixedSizeList]: (type, [item]) => new FixedSizeList(type.listSize ?? 0, item!),
  [Type.Struct]: (_, fields) => new Struct(fields),
  [Type.Map]: (type, [entries]) => new Map_(entries as never, type.keysSorted),
  [Type.Union]: (type, fields) => new Union(number(type.mode, 0), Array.from(type.typeIds ?? []), fields),
};

/**
 * Returns our equivalent of a foreign type.
 * @param name the column, for the message
 * @throws CatalogError Unsupported (0) on a type id that this version of Arrow doesn't know
 */
function adoptType(
  type: ForeignType,
  name: string,
  dictionaries: DictionaryTypes,
  adoptField: (field: ForeignField) => Field,
): DataType {
  if (type.typeId === dictionaryId) return adoptDictionaryType(type, name, dictionaries, adoptField);
  const make = makers[type.typeId];
  if (make) return make(type, (type.children ?? []).map(adoptField));
  throw new CatalogError(
    'Unsupported',
    `Column "${name}" has an Arrow type (number ${type.typeId}) that this version can't read.`,
    'Cast the column to another type, or leave it out.',
  );
}

function adoptDictionaryType(
  type: ForeignType,
  name: string,
  dictionaries: DictionaryTypes,
  adoptField: (field: ForeignField) => Field,
): Dictionary {
  const known = type.id === undefined ? undefined : dictionaries.get(type.id);
  if (known) return known;
  const values = adoptType(type.dictionary ?? { typeId: Type.NONE }, name, dictionaries, adoptField);
  const indices = adoptType(type.indices ?? { typeId: Type.Int }, name, dictionaries, adoptField);
  const made = new Dictionary(values, indices as never, type.id, type.isOrdered ?? false);
  dictionaries.set(made.id, made);
  return made;
}

type ForeignData = {
  readonly type: ForeignType;
  readonly length: number;
  readonly offset: number;
  readonly nullCount: number;
  readonly children?: readonly ForeignData[];
  readonly dictionary?: { readonly data: readonly ForeignData[] };
  readonly values?: ArrayBufferView;
  readonly valueOffsets?: ArrayBufferView;
  readonly nullBitmap?: ArrayBufferView | null;
  readonly typeIds?: ArrayBufferView;
  readonly variadicBuffers?: readonly Uint8Array[];
};
type ForeignSchema = { readonly fields: readonly ForeignField[]; readonly metadata?: unknown };
type ForeignBatch = { readonly schema: ForeignSchema; readonly data: ForeignData };
type Memo = { readonly dictionaryTypes: DictionaryTypes; readonly vectors: WeakMap<object, Vector> };

// The vectors of dictionaries are referenced weakly, because the dictionaries of a long series of batches would fill
// the memory.
const newMemo = (): Memo => ({ dictionaryTypes: new Map(), vectors: new WeakMap() });

/**
 * Returns a table of our `#arrow` over the buffers of an Arrow table or record batch of any copy of apache-arrow
 * (versions 15 to 21, either build). Our own tables are returned unchanged; other values give `undefined`.
 * @throws CatalogError Unsupported (0) on a table with a column type that this version of Arrow doesn't know
 */
export function adoptTable(foreign: unknown): Table | undefined {
  if (isOwnTable(foreign)) return foreign;
  const memo: Memo = newMemo();
  if (isForeignTable(foreign)) {
    const schema = adoptSchema(foreign.schema, memo);
    return new Table(
      schema,
      foreign.batches.filter((batch) => !isEmptyBatch(batch)).map((batch) => adoptBatch(batch, schema, memo)),
    );
  }
  if (!isForeignBatch(foreign)) return undefined;
  const schema = adoptSchema(foreign.schema, memo);
  return new Table(schema, [adoptBatch(foreign, schema, memo)]);
}

/**
 * Returns a function that adopts record batches of any copy of apache-arrow as batches of `schema`, so that they can
 * form one table or stream. The caller makes sure that `schemaText` is the same for the batch and for `schema`. The
 * function returns `undefined` for values that are not record batches.
 */
export function batchAdopter(schema: Schema): (foreign: unknown) => RecordBatch | undefined {
  const memo = newMemo();
  return (foreign) => {
    if (!isForeignBatch(foreign)) return undefined;
    return isBatchOf(schema, foreign) ? foreign : adoptBatch(foreign, schema, memo);
  };
}

const isBatchOf = (schema: Schema, batch: unknown): batch is RecordBatch =>
  isMadeBy(RecordBatch, batch) && (batch as RecordBatch).schema === schema && isOwnData((batch as RecordBatch).data);

// Whether exactly this class created a value. `instanceof` is not enough: it is also true for tables of another copy of
// 21.2, because its classes share a symbol with ours.
const isMadeBy = (ctor: { prototype: object }, value: unknown): boolean =>
  Object.prototype.isPrototypeOf.call(ctor.prototype, value as object);

function isOwnTable(value: unknown): value is Table {
  if (!isMadeBy(Table, value)) return false;
  const table = value as Table;
  // The batches of a table are checked too: our tables can contain foreign batches, because `concat` and the
  // constructor of Table accept them.
  return (
    table.schema.fields.every((field) => isOwnType(field.type)) &&
    table.batches.every((batch) => isMadeBy(RecordBatch, batch) && isOwnData(batch.data))
  );
}

const isOwnData = (data: Data): boolean =>
  isMadeBy(Data, data) && isOwnType(data.type) && data.children.every((child) => isOwnData(child));

function isForeignTable(value: unknown): value is { schema: ForeignSchema; batches: readonly ForeignBatch[] } {
  if (!isRecord(value) || !isForeignSchema(value['schema'])) return false;
  const batches = value['batches'];
  return Array.isArray(batches) && batches.every((batch) => isForeignBatch(batch) || isEmptyBatch(batch));
}

/** Whether a batch has no rows. Arrow creates such a batch from empty vectors, and its columns have another layout. */
const isEmptyBatch = (value: unknown): boolean =>
  isRecord(value) && isRecord(value['data']) && value['data']['length'] === 0;

function isForeignBatch(value: unknown): value is ForeignBatch {
  if (!isRecord(value) || !isForeignSchema(value['schema'])) return false;
  const data = value['data'];
  return isForeignData(data) && data.children?.length === value['schema'].fields.length;
}

function isForeignData(value: unknown): value is ForeignData {
  if (!isRecord(value) || !isForeignType(value['type'])) return false;
  const children = value['children'] ?? [];
  return (
    typeof value['length'] === 'number' &&
    typeof value['offset'] === 'number' &&
    Array.isArray(children) &&
    children.every((child) => isForeignData(child))
  );
}

const isForeignType = (value: unknown): value is ForeignType => isRecord(value) && typeof value['typeId'] === 'number';

function isForeignSchema(value: unknown): value is ForeignSchema {
  if (!isRecord(value)) return false;
  const fields = value['fields'];
  return (
    Array.isArray(fields) &&
    fields.every((field) => isRecord(field) && typeof field['name'] === 'string' && isForeignType(field['type']))
  );
}

const adoptMetadata = (metadata: unknown): Map<string, string> =>
  // A Map of another realm (a notebook's context) is not an instance of this realm's `Map`, but it can be iterated.
  isRecord(metadata) && Symbol.iterator in metadata ? new Map(metadata as unknown as Map<string, string>) : new Map();

const adoptField = (field: ForeignField, memo: Memo): Field =>
  new Field(
    field.name,
    adoptType(field.type, field.name, memo.dictionaryTypes, (child) => adoptField(child, memo)),
    field.nullable === true,
    adoptMetadata(field.metadata),
  );

const adoptSchema = (schema: ForeignSchema, memo: Memo): Schema =>
  keepPositions(
    new Schema(
      schema.fields.map((field) => adoptField(field, memo)),
      adoptMetadata(schema.metadata),
    ),
  );

function adoptBatch(batch: ForeignBatch, schema: Schema, memo: Memo): RecordBatch {
  const type = new Struct(schema.fields);
  return new RecordBatch(schema, adoptData(batch.data, type, memo) as Data<Struct>);
}

/** @param type the type object of the field; our data must have the same object */
function adoptData(data: ForeignData, type: DataType, memo: Memo): Data {
  const children = (data.children ?? []).map((child, i) => adoptData(child, fieldAt(type, i).type, memo));
  const buffers = {
    [BufferType.OFFSET]: viewAs(type.OffsetArrayType as ViewType<Int32Array>, data.valueOffsets),
    [BufferType.DATA]: viewAs(valueArrayType(type), data.values),
    [BufferType.VALIDITY]: viewAs(Uint8Array, data.nullBitmap),
    [BufferType.TYPE]: viewAs(Int8Array, data.typeIds),
  } as ConstructorParameters<typeof Data>[4];
  const dictionary = DataType.isDictionary(type) ? adoptDictionary(data.dictionary, type, memo) : undefined;
  const variadic = (data.variadicBuffers ?? []).flatMap((buffer) => viewAs(Uint8Array, buffer) ?? []);
  return new Data(type, data.offset, data.length, data.nullCount, buffers, children, dictionary, variadic);
}

// Adopts a dictionary once: columns and batches that share a dictionary must share the result too, because the writer
// rejects two dictionaries with one id.
function adoptDictionary(foreign: ForeignData['dictionary'], type: Dictionary, memo: Memo): Vector | undefined {
  if (!foreign) return undefined;
  const known = memo.vectors.get(foreign);
  if (known) return known;
  const made = new Vector(foreign.data.map((chunk) => adoptData(chunk, type.dictionary as DataType, memo)));
  memo.vectors.set(foreign, made);
  return made;
}

function fieldAt(type: DataType, i: number): Field {
  const field = type.children?.[i];
  if (!field)
    throw new CatalogError(
      'InvalidInput',
      `An Arrow column of type ${typeText(type)} has more children than its type.`,
      'Create the table again with a single copy of apache-arrow.',
    );
  return field;
}

type ViewType<T> = {
  new (buffer: ArrayBufferLike, offset: number, length: number): T;
  readonly BYTES_PER_ELEMENT: number;
};

/**
 * Views the same bytes as another element type: version 15 stores a timestamp as two 32-bit numbers, and version 21
 * stores it as one 64-bit number.
 */
function viewAs<T>(type: ViewType<T>, view: ArrayBufferView | null | undefined): T | undefined {
  if (!view) return undefined;
  const size = type.BYTES_PER_ELEMENT;
  const length = Math.floor(view.byteLength / size);
  if (view.byteOffset % size === 0) return new type(view.buffer, view.byteOffset, length);
  return new type(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength), 0, length);
}

function valueArrayType(type: DataType): ViewType<unknown> {
  // Lists and structs have no values. If a version of Arrow has a buffer in this place, the buffer is kept as bytes.
  if (type.children?.length && !DataType.isDictionary(type)) return Uint8Array;
  return (DataType.isDictionary(type) ? (type.indices as DataType).ArrayType : type.ArrayType) as ViewType<unknown>;
}
