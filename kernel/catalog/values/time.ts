import { timeText } from '#shared/format/times.ts';
import { TimeCount } from './timeCount.ts';
import { unitNumber } from './timeUnits.ts';

const brand = Symbol.for('lance-catalog.Time');

/**
 * A time of day as a count of a unit since midnight. The object can't be changed. Text and JSON have all digits
 * (`12:00:00`); conversion to a number gives milliseconds.
 */
export class Time extends TimeCount {
  static {
    Object.defineProperty(this.prototype, brand, { value: true });
  }

  toString(): string {
    return timeText(this.count, unitNumber(this.unit));
  }
}

export const isTime = (value: unknown): value is Time => typeof value === 'object' && value !== null && brand in value;
