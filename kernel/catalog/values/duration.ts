import { arrowDurationText } from '#shared/format/times.ts';
import { TimeCount } from './timeCount.ts';
import { unitNumber } from './timeUnits.ts';

const brand = Symbol.for('lance-catalog.Duration');

/**
 * A length of time as a count of a unit. The object can't be changed. Text and JSON have all digits (`1h 1.500s`);
 * conversion to a number gives milliseconds.
 */
export class Duration extends TimeCount {
  static {
    Object.defineProperty(this.prototype, brand, { value: true });
  }

  toString(): string {
    return arrowDurationText(this.count, unitNumber(this.unit));
  }
}

export const isDuration = (value: unknown): value is Duration =>
  typeof value === 'object' && value !== null && brand in value;
