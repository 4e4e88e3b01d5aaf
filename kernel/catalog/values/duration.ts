import { arrowDurationText } from '#shared/format/times.ts';
import { TimeCount } from './timeCount.ts';
import { unitNumber } from './timeUnits.ts';

const brand = Symbol.for('lance-catalog.Duration');

/**
 * A length of time as a count of its unit. It can't be changed. Text and JSON have all digits (`1h 1.500s`); as a number
 * it is milliseconds.
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
