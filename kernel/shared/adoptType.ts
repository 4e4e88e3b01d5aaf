import {
  Binary,
  BinaryView,
  Bool,
  DataType,
  Date_,
  Decimal,
  Dictionary,
  Duration,
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
  Struct,
  Time,
  Timestamp,
  Type,
  Union,
  Utf8,
  Utf8View,
} from '#arrow';
import type { Field } from '#arrow';
import { CatalogError } from './errors.ts';

/** A type object of any copy of apache-arrow. Which of the properties it has depends on `typeId`. */
export type ForeignType = {
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

export type ForeignField = {
  readonly name: string;
  readonly type: ForeignType;
  readonly nullable?: boolean;
  readonly metadata?: unknown;
};

/** Fields with one dictionary id must share one type object, or a schema refuses them. */
export type DictionaryTypes = Map<number, Dictionary>;

/** Whether the type and all types in it were made by the classes of our `#arrow`. */
export const isOwnType = (type: DataType): boolean =>
  Object.prototype.isPrototypeOf.call(DataType.prototype, type) &&
  (!DataType.isDictionary(type) || isOwnType(type.dictionary as DataType)) &&
  (type.children ?? []).every((child: Field) => isOwnType(child.type));

const dictionaryId: number = Type.Dictionary;

/** What makes a type of ours: the foreign type, its fields taken over. */
type Maker = (type: ForeignType, children: Field[]) => DataType;

// The numbers of units, precisions and widths are the format's own, the same in every copy; our classes want them as
// their enums, which a foreign number can only be taken for.
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
 * The type of our `#arrow` that says the same as a foreign one.
 * @param name the column, for the message
 * @throws CatalogError Unsupported (0) on a type id that this version of Arrow doesn't know
 */
export function adoptType(
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
