import { type InspectOptions, inspectSymbol, styled } from './inspectStyle.ts';
import { type TimeUnitName, toMilliseconds, unitNumber } from './timeUnits.ts';

/** The base class of `Time` and `Duration`: a whole number of a unit of time. Its objects can't be changed. */
export abstract class TimeCount {
  readonly count: bigint;
  readonly unit: TimeUnitName;

  /** @throws RangeError for an unknown unit, or a count that is not a whole number */
  constructor(count: bigint | number, unit: TimeUnitName) {
    unitNumber(unit);
    this.count = BigInt(count);
    this.unit = unit;
    Object.freeze(this);
  }

  /** Returns text with all digits. */
  abstract toString(): string;

  toJSON(): string {
    return this.toString();
  }

  /** Returns the milliseconds; with a fraction if the count has finer digits. */
  valueOf(): number {
    return toMilliseconds(this.count, this.unit);
  }

  [inspectSymbol](_depth: unknown, options?: InspectOptions): string {
    return styled(this.toString(), 'date', options);
  }
}
