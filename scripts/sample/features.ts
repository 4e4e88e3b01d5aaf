import type { Table } from '#arrow';
import { bool, float64, int32, int64, tableOf } from './columns.ts';
import { bell, below, seeded } from './random.ts';

const rowCount = 1_000;
const columnCount = 400;

const signals = ['views', 'clicks', 'carts', 'orders', 'returns', 'amount', 'visits', 'searches'] as const;
const spans = ['1h', '6h', '1d', '7d', '30d'] as const;
const statistics = ['count', 'mean', 'min', 'max', 'std', 'sum', 'p50', 'p95', 'trend', 'is_new'] as const;

/** Creates a table of 400 columns, as models are trained on: an id, and statistics of signals over several spans. */
export function makeFeatures(): Table {
  const random = seeded(400);
  const names = signals.flatMap((signal) =>
    spans.flatMap((span) => statistics.map((statistic) => ({ name: `${signal}_${span}_${statistic}`, statistic }))),
  );
  const columns = names.slice(0, columnCount - 1).map(({ name, statistic }) => {
    if (statistic === 'count')
      return [name, int32(Int32Array.from({ length: rowCount }, () => below(random, 5_000)))] as const;
    if (statistic === 'is_new') return [name, bool(Array.from({ length: rowCount }, () => random() < 0.1))] as const;
    const scale = 10 ** below(random, 5);
    const rounded = (): number => {
      const value = Math.round(scale * bell(random) * 1_000) / 1_000;
      return statistic === 'std' ? Math.abs(value) : value;
    };
    return [name, float64(Float64Array.from({ length: rowCount }, rounded))] as const;
  });
  return tableOf({
    customer_id: int64(BigInt64Array.from({ length: rowCount }, (_, row) => BigInt(row + 1))),
    ...Object.fromEntries(columns),
  });
}
