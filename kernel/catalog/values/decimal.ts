import { decimalText } from '#shared/format/numbers.ts';
import { type InspectOptions, inspectSymbol, styled } from './inspectStyle.ts';

// A notebook may import another copy of this module. The brand works across copies, `instanceof` does not.
const brand = Symbol.for('lance-catalog.Decimal');

/**
 * A decimal number with all its digits: `18.90` is the integer `unscaled` 1890 with the `scale` 2. The object can't be
 * changed. Arithmetic and comparisons use the nearest JavaScript number (`price * 1.2`); text and JSON have every
 * digit.
 */
export class Decimal {
  /** The value without its decimal point. */
  readonly unscaled: bigint;
  /** The number of digits after the decimal point. If it is negative, that number of zeros follows the value. */
  readonly scale: number;

  static {
    Object.defineProperty(this.prototype, brand, { value: true });
  }

  /** @throws RangeError if an argument is not a whole number */
  constructor(unscaled: bigint | number, scale: number) {
    if (!Number.isSafeInteger(scale)) throw new RangeError(`Expected a whole number for "scale", got ${scale}.`);
    this.unscaled = BigInt(unscaled);
    this.scale = scale;
    Object.freeze(this);
  }

  /** Parses a number such as `'18.90'`. The scale is its number of decimals. @throws RangeError for other text */
  static from(value: string | number | bigint): Decimal {
    const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d*))?$/.exec(String(value)) ?? [];
    if (whole === undefined) throw new RangeError(`Expected a decimal number such as "18.90", got "${value}".`);
    const digits = BigInt(whole + fraction);
    return new Decimal(sign === '-' ? -digits : digits, fraction.length);
  }

  toString(): string {
    return decimalText(this.unscaled, this.scale);
  }

  toJSON(): string {
    return this.toString();
  }

  /** Returns the nearest number. */
  valueOf(): number {
    return Number(this.toString());
  }

  [inspectSymbol](_depth: unknown, options?: InspectOptions): string {
    return styled(this.toString(), 'number', options);
  }
}

export const isDecimal = (value: unknown): value is Decimal =>
  typeof value === 'object' && value !== null && brand in value;
