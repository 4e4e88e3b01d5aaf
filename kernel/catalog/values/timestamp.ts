import type { TimeUnit } from '#shared/format/times.ts';
import { type InspectOptions, inspectSymbol, styled } from './inspectStyle.ts';
import { type TimeUnitName, unitNumber } from './timeUnits.ts';

const brand = Symbol.for('lance-catalog.Timestamp');

/** The last millisecond of a `Date`, in the year 275760. The first one is the same number with a minus. */
export const maxDateMs = 8_640_000_000_000_000;

/** The calendar repeats after 400 years. */
const cycleYears = 400n;
const cycleMs = 146_097n * 86_400_000n;

/**
 * A `Date` that also has the digits below a millisecond, or a time that no `Date` can hold: `count` of `unit` since
 * 1970. ISO text and JSON have all digits. `getTime()` returns milliseconds, or `NaN` for a time beyond the years of a
 * `Date`. After a call of a setter, for instance `setHours`, the object is an ordinary `Date` of whole milliseconds.
 */
export class Timestamp extends Date {
  readonly count: bigint;
  readonly unit: TimeUnitName;

  static {
    Object.defineProperty(this.prototype, brand, { value: true });
  }

  /** @throws RangeError for an unknown unit, or a count that is not a whole number */
  constructor(count: bigint | number, unit: TimeUnitName) {
    super(dateMs(BigInt(count), unitNumber(unit)));
    this.count = BigInt(count);
    this.unit = unit;
    Object.freeze(this);
  }

  /** Returns ISO 8601 with the digits of the unit; years beyond four digits have a sign. */
  override toISOString(): string {
    return isChanged(this) ? super.toISOString() : isoText(this.count, unitNumber(this.unit));
  }

  override toString(): string {
    return isChanged(this) ? super.toString() : this.toISOString();
  }

  override toJSON(): string {
    return isChanged(this) ? super.toJSON() : this.toISOString();
  }

  [inspectSymbol](_depth: unknown, options?: InspectOptions): string {
    return styled(
      Number.isNaN(this.getTime()) && isChanged(this) ? 'Invalid Date' : this.toISOString(),
      'date',
      options,
    );
  }
}

/** Returns the exact time of a `Timestamp`; `undefined` for other values, and after a setter has changed its date. */
export const exactTime = (value: object): { count: bigint; unit: TimeUnit } | undefined =>
  isTimestamp(value) && !isChanged(value) ? { count: value.count, unit: unitNumber(value.unit) } : undefined;

const isTimestamp = (value: object): value is Timestamp => brand in value;

const isChanged = (value: Timestamp): boolean =>
  !Object.is(value.getTime(), dateMs(value.count, unitNumber(value.unit)));

/** Returns the milliseconds of a `Date`, rounded down; `NaN` for a time that no `Date` can hold. */
function dateMs(count: bigint, unit: TimeUnit): number {
  const ms = Number(wholeMs(count, unit));
  return Math.abs(ms) > maxDateMs ? Number.NaN : ms;
}

function wholeMs(count: bigint, unit: TimeUnit): bigint {
  if (unit === 0) return count * 1000n;
  return floorDivide(count, 1000n ** BigInt(unit - 1));
}

const floorDivide = (value: bigint, by: bigint): bigint => {
  const rest = value % by;
  return (rest < 0n ? value - rest - by : value - rest) / by;
};

function isoText(count: bigint, unit: TimeUnit): string {
  const ms = wholeMs(count, unit);
  // Dates end with the year 275760. Later ones are shifted by whole cycles of the calendar.
  const cycles = Math.abs(Number(ms)) > maxDateMs ? floorDivide(ms, cycleMs) : 0n;
  const text = new Date(Number(ms - cycles * cycleMs)).toISOString();
  const [, year = '', rest = ''] = /^([+-]?\d+)(-.*)Z$/.exec(text) ?? [];
  const finer = unit < 2 ? '' : String(count - ms * 1000n ** BigInt(unit - 1)).padStart(3 * (unit - 1), '0');
  return `${cycles === 0n ? year : signedYear(BigInt(year) + cycles * cycleYears)}${rest}${finer}Z`;
}

/** Writes a year as ECMAScript does beyond four digits: with a sign and at least six digits. */
const signedYear = (year: bigint): string =>
  `${year < 0n ? '-' : '+'}${String(year < 0n ? -year : year).padStart(6, '0')}`;
