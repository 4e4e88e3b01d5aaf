import { isTypedArray, builtinTag } from '#catalog/arrow/convertValue.ts';
import { type Decimal, isDecimal } from '#catalog/values/decimal.ts';
import { type Duration, isDuration } from '#catalog/values/duration.ts';
import { isTime, type Time } from '#catalog/values/time.ts';
import { quotedText } from '#shared/sqlTokens.ts';
import { exactTime } from '#catalog/values/timestamp.ts';
import { unitNumber } from '#catalog/values/timeUnits.ts';
import { CatalogError } from '#shared/errors.ts';

/**
 * Returns a JavaScript value as a literal of the engine's SQL. Supported are strings, finite numbers, bigints from -2⁶³
 * to 2⁶⁴-1, booleans, `null`, `Date` (as a timestamp in UTC), `Timestamp`, `Time`, `Duration`, `Decimal`, `Uint8Array`
 * (as bytes), and lists of these values that are not empty and have no null.
 * @param name the column of the value, for errors
 * @throws CatalogError InvalidInput (13) naming the value, if it has no literal
 */
export function sqlLiteral(value: unknown, name = 'value'): string {
  if (value === null || value === undefined) return 'NULL';
  if (typeof value === 'string') return textLiteral(value, name);
  if (typeof value === 'number') return numberLiteral(value, name);
  if (typeof value === 'bigint') return bigintLiteral(value, name);
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  if (typeof value === 'object') return objectLiteral(value, name);
  return refuse(name, `is a ${typeof value}`);
}

function textLiteral(text: string, name: string): string {
  // Refuses half of a surrogate pair, because UTF-8 would replace it by another character.
  if (/\p{Surrogate}/u.test(text)) return refuse(name, 'contains half of a surrogate pair');
  return quotedText(text);
}

function numberLiteral(value: number, name: string): string {
  if (!Number.isFinite(value)) return refuse(name, `is ${value}`);
  // A whole number beyond the safe range is a float, so it is written with an exponent. SQL would read plain digits as
  // an exact number.
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return value.toExponential();
  return Object.is(value, -0) ? '-0.0' : String(value);
}

function bigintLiteral(value: bigint, name: string): string {
  if (value < -(2n ** 63n) || value >= 2n ** 64n) return refuse(name, `is ${value}, which 64 bits can't hold`);
  // SQL reads the number without the minus first. 2⁶³ does not fit a BIGINT, so -2⁶³ is written as a string and cast.
  return value === -(2n ** 63n) ? `CAST('${value}' AS BIGINT)` : String(value);
}

function objectLiteral(value: object, name: string): string {
  const exact = exactLiteral(value, name);
  if (exact !== undefined) return exact;
  const tag = builtinTag(value);
  if (tag === 'Date') return dateLiteral(Date.prototype.getTime.call(value), name);
  if (tag === 'Uint8Array') return `X'${Buffer.from(value as Uint8Array).toString('hex')}'`;
  if (!Array.isArray(value) && !isTypedArray(value)) return refuse(name, 'is an object');
  const items: unknown[] = Array.from(value);
  if (items.length === 0) return refuse(name, 'is an empty list, whose type is unknown');
  const hole = items.findIndex((item) => item === null || item === undefined);
  if (hole >= 0) return refuse(name, `has no value at position ${hole}`);
  // All items need the same type: if an item has a fraction, whole numbers are written as floats too.
  const isFloat = items.some((item) => typeof item === 'number' && !Number.isSafeInteger(item));
  const literals = items.map((item, position) => {
    const literal = sqlLiteral(item, `${name}[${position}]`);
    return isFloat && /^-?\d+$/.test(literal) ? `${literal}.0` : literal;
  });
  return `[${literals.join(', ')}]`;
}

const unitNames = ['Second', 'Millisecond', 'Microsecond', 'Nanosecond'] as const;

/** Returns the literal of a `Decimal`, `Time`, `Duration` or exact `Timestamp`; `undefined` for other values. */
function exactLiteral(value: object, name: string): string | undefined {
  if (isDecimal(value)) return decimalLiteral(value, name);
  if (isTime(value)) return timeLiteral(value, name);
  if (isDuration(value)) return castLiteral(bigintLiteral(value.count, name), `Duration(${unitOf(value)})`);
  const exact = builtinTag(value) === 'Date' ? exactTime(value) : undefined;
  return exact && castLiteral(bigintLiteral(exact.count, name), `Timestamp(${unitNames[exact.unit]}, Some("UTC"))`);
}

const castLiteral = (literal: string, type: string): string => `arrow_cast(${literal}, '${type}')`;

const unitOf = ({ unit }: Time | Duration): string => unitNames[unitNumber(unit)];

function timeLiteral(value: Time, name: string): string {
  const count = bigintLiteral(value.count, name);
  // Times in seconds and milliseconds have 32 bits, and the engine casts only integers of the same width.
  return unitNumber(value.unit) < 2
    ? castLiteral(castLiteral(count, 'Int32'), `Time32(${unitOf(value)})`)
    : castLiteral(count, `Time64(${unitOf(value)})`);
}

function decimalLiteral(value: Decimal, name: string): string {
  const text = value.toString();
  const digits = text.replace(/[-.]/g, '').length;
  if (digits > 76) return refuse(name, `has ${digits} digits, and a decimal has at most 76`);
  const scale = Math.max(0, value.scale);
  return castLiteral(`'${text}'`, digits > 38 ? `Decimal256(76, ${scale})` : `Decimal128(38, ${scale})`);
}

function dateLiteral(time: number, name: string): string {
  if (Number.isNaN(time)) return refuse(name, 'is an invalid Date');
  const text = new Date(time).toISOString();
  // JavaScript writes years beyond four digits with a sign. SQL can't parse the sign.
  if (!/^\d{4}-/.test(text)) return refuse(name, `is in the year ${new Date(time).getUTCFullYear()}`);
  return `timestamp '${text.replace('T', ' ').replace('Z', '')}'`;
}

function refuse(name: string, problem: string): never {
  throw new CatalogError(
    'InvalidInput',
    `The value for "${name}" ${problem}.`,
    'Use a string, a finite number, a bigint, a boolean, null, a Date, a Decimal, a Time, a Duration, a Uint8Array or a list of them; or set SQL in valuesSql.',
  );
}

/** Writes a column name for the engine's SQL. */
export const sqlName = (column: string): string => `\`${column.replaceAll('`', '``')}\``;
