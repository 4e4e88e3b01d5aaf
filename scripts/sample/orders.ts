import { Decimal, Field, Int64, Schema, TimestampMicrosecond, Utf8, type Table } from '#arrow';
import { choices, float64, int32, int64, tableOf, timestamp } from './columns.ts';
import { below, seeded } from './random.ts';

const orderCount = 1_000_000;

const countries = ['DE', 'FR', 'ES', 'IT', 'NL', 'PL', 'SE', 'AT', 'BE', 'PT', 'IE', 'DK'] as const;
const notes = [
  'leave at the door',
  'gift wrapping, please',
  'call before delivery',
  'second floor, no lift',
  'ring twice',
  'neighbour may take it',
  'for the office',
  'birthday present',
  'paid by voucher',
  'standard delivery',
  'express delivery',
  'pick up in the shop',
] as const;

const start = BigInt(Date.UTC(2025, 0, 1)) * 1000n;
const year = 365 * 86_400;

/** Creates a million orders sorted by time, each for one product. `cents` has the product prices. */
export function makeOrders(cents: Int32Array): Table {
  const random = seeded(365);
  const id = new BigInt64Array(orderCount);
  const product = new BigInt64Array(orderCount);
  const quantity = new Int32Array(orderCount);
  const amount = new Float64Array(orderCount);
  const note = new Int32Array(orderCount);
  const ordered = new BigInt64Array(orderCount);
  const country = new Int32Array(orderCount);
  for (let row = 0; row < orderCount; row++) {
    // Powers of the random number make the first products, the first countries and small quantities more frequent, as
    // in real shops.
    const which = Math.floor(random() ** 2 * cents.length);
    const many = 1 + Math.floor(random() ** 3 * 6);
    id[row] = BigInt(row + 1);
    product[row] = BigInt(which + 1);
    quantity[row] = many;
    amount[row] = (cents[which]! * many) / 100;
    note[row] = random() < 0.03 ? -1 : below(random, notes.length);
    const seconds = Math.floor((row / orderCount) * year);
    ordered[row] = start + BigInt(seconds * 1_000_000 + below(random, 1_000_000));
    country[row] = Math.floor(random() ** 2 * countries.length);
  }
  return tableOf({
    id: int64(id),
    product_id: int64(product),
    quantity: int32(quantity),
    amount: float64(amount),
    note: choices(notes, note),
    ordered: timestamp(ordered),
    country: choices(countries, country),
  });
}

/** The schema of the returns table, which has no rows. */
export const returnsSchema = new Schema([
  new Field('order_id', new Int64(), false),
  new Field('reason', new Utf8(), true),
  new Field('refund', new Decimal(2, 10, 128), false),
  new Field('returned', new TimestampMicrosecond('UTC'), false),
]);
