import { DataType, DateUnit, type Field, type Map_, Precision, type Struct } from '#arrow';
import { Decimal, isDecimal } from '#catalog/values/decimal.ts';
import { type Duration, isDuration } from '#catalog/values/duration.ts';
import { isTime, type Time } from '#catalog/values/time.ts';
import { exactTime } from '#catalog/values/timestamp.ts';
import { convertUnit, longUnitName, unitNumber } from '#catalog/values/timeUnits.ts';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import type { TimeUnit } from '#shared/format/times.ts';
import { CatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import { mapRowEntries, structRowMembers, vectorItems } from './arrowValues.ts';

/** Position of a value, for errors. Without `row` the value is the new value of a whole column. */
export type Place = { row?: number | undefined; column: string };

/** The class name of an object of any realm, because a notebook cell may run in a realm with another `Date` class. */
export const builtinTag = (value: object): string => Object.prototype.toString.call(value).slice(8, -1);

type TypedArray = ArrayLike<number | bigint> & ArrayBufferView;

export const isTypedArray = (value: unknown): value is TypedArray =>
  ArrayBuffer.isView(value) && builtinTag(value) !== 'DataView';

/** @throws CatalogError SchemaValidation (20), always */
export function fail(place: Place, problem: string, hint: string): never {
  const where =
    place.row === undefined ? `The value for "${place.column}"` : `Column "${place.column}" of row ${place.row}`;
  throw new CatalogError('SchemaValidation', `${where} ${problem}.`, hint);
}

/**
 * Converts a value to the form that `buildColumn` takes for its Arrow type: times as counts of their unit, decimals as
 * unscaled bigints, lists as arrays, structs as lists of their members, maps as lists of `[key, value]`. Rejects values
 * of another type, and values that the type can't hold exactly, because writing them would store wrong data silently.
 * @throws CatalogError SchemaValidation (20) naming row and column
 */
export function convertValue(type: DataType, value: unknown, place: Place): unknown {
  if (value === null || value === undefined) return null;
  if (DataType.isDictionary(type)) return convertValue(type.dictionary as DataType, value, place);
  if (DataType.isInt(type)) return toInt(type.bitWidth, type.isSigned, value, place);
  if (DataType.isFloat(type)) return toFloat(type.precision, value, place);
  if (DataType.isBool(type)) return typeof value === 'boolean' ? value : misfit(type, value, place);
  if (DataType.isUtf8(type) || DataType.isLargeUtf8(type)) {
    return typeof value === 'string' ? value : misfit(type, value, place);
  }
  if (DataType.isBinary(type) || DataType.isLargeBinary(type) || DataType.isFixedSizeBinary(type)) {
    if (!isTypedArray(value) || builtinTag(value) !== 'Uint8Array') return misfit(type, value, place);
    if (DataType.isFixedSizeBinary(type) && value.length !== type.byteWidth) {
      return fail(place, `has ${value.length} bytes`, `Pass ${type.byteWidth} bytes.`);
    }
    return value;
  }
  if (DataType.isTimestamp(type)) return toTimestamp(type.unit, value, place);
  if (DataType.isDate(type)) return toDate(type.unit, value, place);
  if (DataType.isTime(type)) {
    return toCount(
      type,
      isTime(value) ? value : undefined,
      value,
      place,
      'a Time, for instance new Time(43_200n, "s")',
    );
  }
  if (DataType.isDuration(type)) {
    const example = 'a Duration, for instance new Duration(1500n, "ms")';
    return toCount(type, isDuration(value) ? value : undefined, value, place, example);
  }
  if (DataType.isDecimal(type)) return toDecimal(type, value, place);
  if (DataType.isList(type) || DataType.isFixedSizeList(type) || DataType.isLargeList(type)) {
    const item = type.valueType as DataType;
    const items = holdsAll(item, value) ? value : listItems(value);
    if (!items) return misfit(type, value, place);
    if (DataType.isFixedSizeList(type) && items.length !== type.listSize) {
      const hint = `Pass ${type.listSize} elements. Lists of any length need the type List in the schema of the table.`;
      return fail(place, `has ${items.length} elements`, hint);
    }
    if (!Array.isArray(items)) return items;
    return items.map((element) => convertValue(item, element, place));
  }
  if (DataType.isStruct(type)) return toStruct(type, value, place);
  if (DataType.isMap(type)) return toMap(type, value, place);
  return fail(
    place,
    `has the type ${typeText(type)}, which objects can't be converted to`,
    'Pass an Arrow table instead.',
  );
}

/** Whether a float type holds every element of a typed array unchanged, so that no check and no copy are needed. */
const holdsAll = (type: DataType, value: unknown): value is Float32Array | Float64Array =>
  DataType.isFloat(type) &&
  isTypedArray(value) &&
  ((builtinTag(value) === 'Float32Array' && type.precision !== Precision.HALF) ||
    (builtinTag(value) === 'Float64Array' && type.precision === Precision.DOUBLE));

/** Returns the items of an array, a typed array or an Arrow vector; `undefined` for other values. */
const listItems = (value: unknown): unknown[] | undefined =>
  Array.isArray(value) || isTypedArray(value) ? Array.from<unknown>(value) : vectorItems(value);

const misfit = (type: DataType, value: unknown, place: Place): never =>
  fail(place, `is ${describe(value)} where ${typeText(type)} is expected`, 'Convert it, or change the schema.');

const describe = (value: unknown): string =>
  typeof value === 'object' && value !== null ? `a ${value.constructor?.name ?? 'object'}` : `a ${typeof value}`;

function toInt(bits: number, signed: boolean, value: unknown, place: Place): number | bigint {
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return fail(
      place,
      `is ${value}, and a number of this size may have been rounded`,
      'Use a bigint, for instance 123n.',
    );
  }
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    const hint = 'Use a whole number. For fractions, add a column with the expression "CAST(… AS DOUBLE)".';
    return fail(place, `is ${value}, but its type is ${signed ? 'Int' : 'Uint'}${bits}`, hint);
  }
  if (typeof value !== 'bigint' && typeof value !== 'number') {
    return fail(place, `is ${describe(value)}`, 'Use a whole number or a bigint.');
  }
  const whole = BigInt(value);
  const fits = signed ? BigInt.asIntN(bits, whole) : BigInt.asUintN(bits, whole);
  if (fits !== whole)
    return fail(place, `is ${whole}, which ${signed ? 'Int' : 'Uint'}${bits} can't hold`, 'Use a wider type.');
  return bits === 64 ? whole : Number(whole);
}

/** Rounds fractions as floats do; rejects whole numbers that the type does not hold exactly. */
function toFloat(precision: Precision, value: unknown, place: Place): number {
  if (typeof value !== 'number' && typeof value !== 'bigint') {
    return fail(place, `is ${describe(value)}`, 'Use a number.');
  }
  const number = Number(value);
  if (typeof value === 'bigint' && BigInt(number) !== value) {
    return fail(place, `is ${value}, which a float can't hold exactly`, 'Use an integer type.');
  }
  const type = precision === Precision.HALF ? 'Float16' : 'Float32';
  if (Number.isInteger(number) && !holdsWhole(precision, number))
    return fail(place, `is ${value}, which a ${type} can't hold exactly`, 'Use a wider type.');
  if (Number.isFinite(number) && isTooLarge(precision, number))
    return fail(place, `is ${value}, which is out of the range of a ${type}`, 'Use a wider type.');
  return number;
}

/** Whether the type would hold an infinity instead of the number. */
function isTooLarge(precision: Precision, number: number): boolean {
  if (precision === Precision.DOUBLE) return false;
  // A half rounds numbers below 65,520 to at most 65,504, its largest number, and all others to infinity.
  if (precision === Precision.HALF) return Math.abs(number) >= 65_520;
  return !Number.isFinite(Math.fround(number));
}

function holdsWhole(precision: Precision, whole: number): boolean {
  if (precision === Precision.DOUBLE) return true;
  if (precision === Precision.SINGLE) return Math.fround(whole) === whole;
  // A half has 11 significant bits and a largest value of 65,504.
  const size = Math.abs(whole);
  const step = 2 ** Math.max(0, Math.floor(Math.log2(size)) - 10);
  return size <= 65_504 && Number.isInteger(size / step);
}

const isDate = (value: unknown): boolean => typeof value === 'object' && value !== null && builtinTag(value) === 'Date';

/**
 * Returns a timestamp as it is stored, counted in its unit. A bigint value is already this count. A `Timestamp` and a
 * bigint can be more precise than a `Date`.
 */
function toTimestamp(unit: TimeUnit, value: unknown, place: Place): bigint {
  if (typeof value !== 'bigint' && !isDate(value)) {
    return fail(
      place,
      `is ${describe(value)}`,
      `Use a Date, or a bigint that counts ${longUnitName(unit)} since 1970.`,
    );
  }
  if (typeof value === 'bigint') return fitting(64, value, `${value}`, unit, place);
  const exact = countOf(value as Date, place);
  const count = convertUnit(exact.count, exact.unit, unit);
  if (count !== undefined) return fitting(64, count, `the year ${yearText(value as Date)}`, unit, place);
  const problem =
    unit === 0 && exact.unit === 1 ? 'is not a whole second' : `has digits finer than ${longUnitName(unit)}`;
  return fail(place, problem, 'Use a finer unit.');
}

/** Returns days for a date in days, else milliseconds. */
function toDate(unit: DateUnit, value: unknown, place: Place): number | bigint {
  if (!isDate(value)) return fail(place, `is ${describe(value)}`, 'Use a Date.');
  const exact = countOf(value as Date, place);
  const ms = convertUnit(exact.count, exact.unit, 1);
  if (unit !== DateUnit.DAY && ms !== undefined) return ms;
  if (ms === undefined || ms % 86_400_000n !== 0n)
    return fail(place, 'is not midnight UTC', 'Pass a Date at midnight UTC.');
  const days = ms / 86_400_000n;
  if (BigInt.asIntN(32, days) !== days)
    return fail(place, `is in the year ${yearText(value as Date)}`, 'Use a timestamp column.');
  return Number(days);
}

/** Returns the exact time of a date. @throws CatalogError SchemaValidation (20) for an invalid `Date` */
function countOf(value: Date, place: Place): { count: bigint; unit: TimeUnit } {
  const exact = exactTime(value);
  if (exact) return exact;
  const time = Date.prototype.getTime.call(value);
  return Number.isNaN(time)
    ? fail(place, 'is an invalid Date', 'Use a valid Date or null.')
    : { count: BigInt(time), unit: 1 };
}

const yearText = (value: Date): string =>
  value.toISOString().replace(/^([+-]?\d+).*$/, (_, year: string) => String(BigInt(year)));

/** Returns a time of day or a duration as it is stored. A bigint value is already the count of the unit. */
function toCount(
  type: { unit: TimeUnit; bitWidth?: number },
  given: Time | Duration | undefined,
  value: unknown,
  place: Place,
  example: string,
): bigint {
  const { unit } = type;
  const bits = type.bitWidth ?? 64;
  if (typeof value === 'bigint') return fitting(bits, value, `${value}`, unit, place);
  if (!given)
    return fail(place, `is ${describe(value)}`, `Use ${example}, or a bigint that counts ${longUnitName(unit)}.`);
  const count = convertUnit(given.count, unitNumber(given.unit), unit);
  return count === undefined
    ? fail(place, `is ${given.toString()}, which has digits finer than ${longUnitName(unit)}`, 'Use a finer unit.')
    : fitting(bits, count, given.toString(), unit, place);
}

function fitting(bits: number, count: bigint, text: string, unit: TimeUnit, place: Place): bigint {
  if (BigInt.asIntN(bits, count) === count) return count;
  return fail(place, `is ${text}, which ${bits} bits of ${longUnitName(unit)} can't hold`, 'Use a coarser unit.');
}

/** Returns the unscaled value of a decimal. */
function toDecimal(type: { precision: number; scale: number }, value: unknown, place: Place): bigint {
  const decimal = decimalOf(value);
  if (!decimal) {
    const text = typeof value === 'number' || typeof value === 'string' ? `${value}` : describe(value);
    return fail(place, `is ${text}`, `Use a Decimal, or a number with at most ${type.scale} decimals.`);
  }
  const finer = decimal.scale - type.scale;
  const factor = 10n ** BigInt(Math.abs(finer));
  if (finer > 0 && decimal.unscaled % factor !== 0n)
    return fail(place, `is ${decimal.toString()}`, `Use a number with at most ${type.scale} decimals.`);
  const unscaled = finer > 0 ? decimal.unscaled / factor : decimal.unscaled * factor;
  if (String(unscaled).replace('-', '').length > type.precision && unscaled !== 0n)
    return fail(place, `is ${decimal.toString()}`, `Use at most ${type.precision} digits.`);
  return unscaled;
}

function decimalOf(value: unknown): Decimal | undefined {
  if (isDecimal(value)) return value;
  if (typeof value !== 'bigint' && typeof value !== 'number' && typeof value !== 'string') return undefined;
  return /^-?\d+(?:\.\d*)?$/.test(String(value)) ? Decimal.from(value) : undefined;
}

/** Returns the members in the order of the type. */
function toStruct(
  type: { children: readonly { name: string; type: DataType }[] },
  value: unknown,
  place: Place,
): unknown[] {
  const members = structMembers(value);
  if (!members) return fail(place, `is ${describe(value)}`, 'Use an object.');
  const extra = Object.keys(members).find((name) => !type.children.some((child) => child.name === name));
  if (extra !== undefined)
    return fail({ ...place, column: `${place.column}.${extra}` }, 'is not in the schema', 'Leave it out.');
  return type.children.map(({ name, type: inner }) =>
    convertValue(inner, Object.hasOwn(members, name) ? members[name] : null, {
      ...place,
      column: `${place.column}.${name}`,
    }),
  );
}

/** Returns the members of an object or of a struct that Arrow gives; `undefined` for other values. */
function structMembers(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!isRecord(value)) return undefined;
  const isOther = ArrayBuffer.isView(value) || ['Map', 'Set', 'Date'].includes(builtinTag(value)) || isExact(value);
  return isOther ? undefined : (structRowMembers(value) ?? value);
}

const isExact = (value: unknown): boolean => isDecimal(value) || isTime(value) || isDuration(value);

/** Returns the entries as keys and values. */
function toMap(type: Map_, value: unknown, place: Place): unknown[] {
  const [keyField, valueField] = (type.children[0] as Field<Struct>).type.children as [Field, Field];
  const entries = mapEntries(keyField.type as DataType, value);
  if (!entries) return misfit(type, value, place);
  return entries.map(([key, each]) => {
    if (key === null || key === undefined) return fail(place, 'has a key that is null', 'Leave the entry out.');
    return [
      convertValue(keyField.type as DataType, key, place),
      convertValue(valueField.type as DataType, each, place),
    ];
  });
}

/** Returns the entries of a `Map`, of a map that Arrow gives, or of an object if the keys of the type are strings. */
function mapEntries(keyType: DataType, value: unknown): (readonly [unknown, unknown])[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (builtinTag(value) === 'Map') return [...(value as Map<unknown, unknown>)];
  const entries = mapRowEntries(value);
  if (entries) return entries;
  const isText = DataType.isUtf8(keyType) || DataType.isLargeUtf8(keyType);
  const members = isText ? structMembers(value) : undefined;
  return members && Object.entries(members);
}
