import { DataType, Precision } from '#arrow';
import { sqlLiteral } from '#client/sqlLiteral.ts';
import type { Stored } from './sqlValues.ts';

/** A value that a query compares with; undefined for one that nothing is said about. */
export type Literal = { value: Stored | undefined };

const mirrored: Readonly<Record<string, string>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' };

/** `3 < a` as `a > 3`. */
export const flipped = (operator: string): string => mirrored[operator] ?? operator;

/**
 * A value in the SQL of tables, where a column of this type compares with it as it does in SQLite; else undefined. So no
 * text for numbers, which SQLite converts, no whole number beyond the column's own, which a table refuses, no fraction
 * that a single float would round.
 */
export function engineLiteral(type: DataType, { value }: Literal): string | undefined {
  if (typeof value === 'string') {
    if (!DataType.isUtf8(type) && !DataType.isLargeUtf8(type)) return undefined;
    return /[\0\p{Surrogate}]/u.test(value) ? undefined : sqlLiteral(value);
  }
  if (typeof value !== 'number' && typeof value !== 'bigint') return undefined;
  const number = Number(value);
  if (DataType.isBool(type)) return number === 0 ? 'FALSE' : number === 1 ? 'TRUE' : undefined;
  if (DataType.isInt(type)) return isWithin(value, type) ? sqlLiteral(BigInt(value)) : undefined;
  if (!DataType.isFloat(type) || !Number.isFinite(number)) return undefined;
  if (typeof value === 'bigint' && !Number.isSafeInteger(number)) return undefined;
  const { precision } = type;
  const isExact = precision === Precision.DOUBLE || (precision === Precision.SINGLE && Math.fround(number) === number);
  return isExact ? sqlLiteral(number) : undefined;
}

function isWithin(value: number | bigint, { bitWidth, isSigned }: { bitWidth: number; isSigned: boolean }): boolean {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) return false;
  const whole = BigInt(value);
  return isSigned ? BigInt.asIntN(bitWidth, whole) === whole : BigInt.asUintN(bitWidth, whole) === whole;
}
