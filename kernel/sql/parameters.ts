import { isDecimal } from '#catalog/values/decimal.ts';
import { type Duration, isDuration } from '#catalog/values/duration.ts';
import { isTime, type Time } from '#catalog/values/time.ts';
import { exactTime } from '#catalog/values/timestamp.ts';
import { convertUnit, unitNumber } from '#catalog/values/timeUnits.ts';
import { CatalogError } from '#shared/errors.ts';
import type { Parameter } from './messages.ts';

const microseconds = 2;
const nanoseconds = 3;
const maxInteger = 2n ** 127n;

/**
 * Converts a value to a parameter of a query.
 * @throws CatalogError InvalidInput (13) naming the type, if a query can't have the value
 */
export function toParameter(value: unknown): Parameter {
  if (value === null) return { type: 'null' };
  if (typeof value === 'string') return { type: 'text', value };
  if (typeof value === 'boolean') return { type: 'boolean', value };
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && !Object.is(value, -0)
      ? { type: 'integer', value: BigInt(value) }
      : { type: 'double', value };
  if (typeof value === 'bigint') {
    if (value >= maxInteger || value <= -maxInteger)
      throw invalid(`The query has the integer ${value}, which 128 bits can't hold.`, 'Pass it as a string.');
    return { type: 'integer', value };
  }
  if (value instanceof Float32Array) return { type: 'floats', value };
  if (value instanceof Float64Array) return { type: 'doubles', value: Array.from(value) };
  if (value instanceof Uint8Array) return { type: 'bytes', value };
  if (Array.isArray(value)) return listParameter(value);
  const special = typeof value === 'object' ? objectParameter(value) : undefined;
  if (special) return special;
  throw invalid(
    `Can't use a value of type ${value === undefined ? 'undefined' : typeof value} in a query.`,
    'Pass a string, a number, a boolean, null, a Date, a Decimal, a Time, a Duration, bytes, or an array of these.',
  );
}

const invalid = (what: string, hint: string): CatalogError => new CatalogError('InvalidInput', what, hint);

function objectParameter(value: object): Parameter | undefined {
  if (isDecimal(value)) {
    // A decimal of the engine has no negative scale.
    const scale = Math.max(value.scale, 0);
    const unscaled = value.unscaled * 10n ** BigInt(scale - value.scale);
    if (scale <= 38 && String(unscaled).replace('-', '').length <= 38) return { type: 'decimal', unscaled, scale };
    throw invalid('The query has a decimal with more than 38 digits.', 'Pass it as a string.');
  }
  if (isTime(value))
    return { type: 'time', micros: convertUnit(value.count, unitNumber(value.unit), microseconds) ?? inexact(value) };
  if (isDuration(value))
    return {
      type: 'interval',
      micros: convertUnit(value.count, unitNumber(value.unit), microseconds) ?? inexact(value),
    };
  if (!(value instanceof Date)) return undefined;
  const exact = exactTime(value);
  if (exact?.unit === nanoseconds && exact.count % 1000n !== 0n) return { type: 'timestampNs', nanos: exact.count };
  if (exact) return { type: 'timestamp', micros: convertUnit(exact.count, exact.unit, microseconds)! };
  const time = value.getTime();
  if (Number.isNaN(time)) throw invalid('The query has an invalid Date.', 'Check how the Date was created.');
  return { type: 'timestamp', micros: BigInt(time) * 1000n };
}

function inexact(value: Time | Duration): never {
  throw invalid(`The query has the value ${value.toString()}, but SQL has microseconds.`, 'Pass it as a string.');
}

function listParameter(values: readonly unknown[]): Parameter {
  if (values.every((value) => typeof value === 'number' || typeof value === 'bigint')) {
    const isWhole = values.every((value) => typeof value === 'bigint' || Number.isSafeInteger(value));
    return isWhole
      ? { type: 'integers', value: values.map((value) => BigInt(value)) }
      : { type: 'doubles', value: values.map(Number) };
  }
  if (values.every((value) => typeof value === 'string')) return { type: 'texts', value: values };
  throw invalid(
    'A list in a query has neither only numbers nor only strings.',
    'Write a list of other values in parentheses after in: in (${list}).',
  );
}
