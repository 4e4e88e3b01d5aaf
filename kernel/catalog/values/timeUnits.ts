import { type TimeUnit, timeUnitNames } from '#shared/format/times.ts';

/** Seconds, milliseconds, microseconds or nanoseconds, as Arrow abbreviates them. */
export type TimeUnitName = (typeof timeUnitNames)[number];

/** Returns Arrow's number of a unit. @throws RangeError for another name */
export function unitNumber(unit: TimeUnitName): TimeUnit {
  const number = timeUnitNames.indexOf(unit);
  if (number < 0) throw new RangeError(`Expected "s", "ms", "us" or "ns" for "unit", got "${unit}".`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the index of one of the four names
  return number as TimeUnit;
}

const longNames = ['seconds', 'milliseconds', 'microseconds', 'nanoseconds'] as const;

export const longUnitName = (unit: TimeUnit): string => longNames[unit];

/** Converts a count from one unit to another; `undefined` if the result would not be exact. */
export function convertUnit(count: bigint, from: TimeUnit, to: TimeUnit): bigint | undefined {
  if (to >= from) return count * 1000n ** BigInt(to - from);
  const factor = 1000n ** BigInt(from - to);
  return count % factor === 0n ? count / factor : undefined;
}

/** Converts a count to milliseconds, as near as a number can be. */
export function toMilliseconds(count: bigint, unit: TimeUnitName): number {
  const from = unitNumber(unit);
  if (from <= 1) return Number(convertUnit(count, from, 1));
  const factor = 1000n ** BigInt(from - 1);
  return Number(count / factor) + Number(count % factor) / Number(factor);
}
