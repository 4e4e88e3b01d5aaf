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
  const children = () => (type.children ?? []).map((child) => adoptField(child));
  // Interfaces of apache-arrow name enums of numbers that are the format's own; a foreign number is taken as one.
  const unit = (type.unit ?? 0) as never;
  switch (type.typeId as Type) {
    case Type.Null:
      return new Null();
    case Type.Int:
      return new Int((type.isSigned ?? true) as never, (type.bitWidth ?? 32) as never);
    case Type.Float:
      return new Float((type.precision ?? 2) as never);
    case Type.Binary:
      return new Binary();
    case Type.LargeBinary:
      return new LargeBinary();
    case Type.BinaryView:
      return new BinaryView();
    case Type.Utf8:
      return new Utf8();
    case Type.LargeUtf8:
      return new LargeUtf8();
    case Type.Utf8View:
      return new Utf8View();
    case Type.Bool:
      return new Bool();
    case Type.Decimal:
      return new Decimal(type.scale ?? 0, type.precision ?? 38, type.bitWidth ?? 128);
    case Type.Date:
      return new Date_(unit);
    case Type.Time:
      return new Time(unit, (type.bitWidth ?? 32) as never);
    case Type.Timestamp:
      return new Timestamp(unit, type.timezone);
    case Type.Interval:
      return new Interval(unit);
    case Type.Duration:
      return new Duration(unit);
    case Type.FixedSizeBinary:
      return new FixedSizeBinary(type.byteWidth ?? 0);
    case Type.List:
      return new List(children()[0]!);
    case Type.LargeList:
      return new LargeList(children()[0]!);
    case Type.FixedSizeList:
      return new FixedSizeList(type.listSize ?? 0, children()[0]!);
    case Type.Struct:
      return new Struct(children());
    case Type.Map:
      return new Map_(children()[0] as never, type.keysSorted);
    case Type.Union:
      return new Union((type.mode ?? 0) as never, Array.from(type.typeIds ?? []), children());
    case Type.Dictionary:
      return adoptDictionaryType(type, name, dictionaries, adoptField);
    default:
      throw new CatalogError(
        'Unsupported',
        `Column "${name}" has an Arrow type (number ${type.typeId}) that this version can't read.`,
        'Cast the column to another type, or leave it out.',
      );
  }
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
  const made = new Dictionary(values, indices as never, type.id, type.isOrdered);
  dictionaries.set(made.id, made);
  return made;
}
