import * as a from '#arrow';
import { columnFormatter, unlimited } from '#shared/format/cellText.ts';

export const field = (name: string, type: a.DataType) => new a.Field(name, type, true);
export const item = (type: a.DataType) => field('item', type);

/** Returns the texts of a column, with `∅` for null. The column is first serialized, as columns always are. */
export function texts(vector: a.Vector, limits = unlimited): string[] {
  const back = a.tableFromIPC(a.tableToIPC(new a.Table({ column: vector }), 'stream')).getChildAt(0)!;
  const read = columnFormatter(back, { limits });
  return Array.from({ length: back.length }, (_, row) => {
    const cell = read(row);
    return cell.kind === 'null' ? '∅' : cell.text;
  });
}

export const of = (type: a.DataType, values: unknown[]): a.Vector => a.vectorFromArray(values, type);
/** Creates a column from Arrow's stored form, for types whose builders round. */
export const raw = (type: a.DataType, data: ArrayLike<number> | ArrayLike<bigint>, length = data.length): a.Vector =>
  new a.Vector([a.makeData({ type, length, nullCount: 0, data } as never)]);

export const { f16round } = Math as unknown as { f16round: (value: number) => number };

export const seconds = (iso: string): bigint => BigInt(Date.parse(iso) / 1000);

export const words = (value: bigint, count: number): number[] =>
  Array.from({ length: count }, (_, i) => Number(BigInt.asUintN(32, value >> BigInt(32 * i))));
export const decimals = (scale: number, bits: number, ...values: bigint[]): a.Vector =>
  raw(
    new a.Decimal(scale, bits === 128 ? 38 : 76, bits),
    Uint32Array.from(values.flatMap((value) => words(value, bits / 32))),
    values.length,
  );
