/** What is known about a vector. Minimum, maximum and mean are those of its finite values. */
export type VectorStats = {
  readonly norm: number;
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  /** Values that are NaN, infinite or null. */
  readonly notFinite: number;
  readonly isZero: boolean;
};

export function vectorStats(values: Float64Array): VectorStats {
  let [min, max, sum, count] = [Infinity, -Infinity, 0, 0];
  let largest = 0;
  for (const value of values) largest = Math.max(largest, Number.isFinite(value) ? Math.abs(value) : 0);
  // Squares of large values are infinite, so the values are scaled.
  let squares = 0;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    count++;
    sum += value;
    min = Math.min(min, value);
    max = Math.max(max, value);
    if (largest > 0) squares += (value / largest) ** 2;
  }
  return {
    norm: count < values.length ? Number.NaN : largest * Math.sqrt(squares),
    min,
    max,
    mean: count === 0 ? Number.NaN : sum / count,
    notFinite: values.length - count,
    isZero: count === values.length && largest === 0,
  };
}

/** Size of the plot in its own units. */
export const plot = { width: 600, height: 120, margin: 4 } as const;

/**
 * Returns the `d` of an SVG path through the values. If there are more values than units, each unit is a line from the
 * least to the largest of its values, so that no peak is lost. The line has a gap at values that are not finite.
 */
export function plotPath(values: Float64Array, { min, max }: Pick<VectorStats, 'min' | 'max'>): string {
  const span = max - min;
  const y = (value: number): string => {
    const part = span > 0 && Number.isFinite(span) ? (value - min) / span : 0.5;
    return (plot.height - plot.margin - part * (plot.height - 2 * plot.margin)).toFixed(1);
  };
  const points = Math.min(values.length, plot.width);
  let path = '';
  let pen = 'M';
  for (let point = 0; point < points; point++) {
    const start = Math.floor((point * values.length) / points);
    const end = Math.max(start + 1, Math.floor(((point + 1) * values.length) / points));
    const part = values.subarray(start, end).filter((value) => Number.isFinite(value));
    if (part.length === 0) {
      pen = 'M';
      continue;
    }
    const x = points === 1 ? plot.width / 2 : (point * plot.width) / (points - 1);
    let [least, largest] = [Infinity, -Infinity];
    for (const value of part) [least, largest] = [Math.min(least, value), Math.max(largest, value)];
    path += `${pen}${x.toFixed(1)} ${y(least)}`;
    // A line of no length is drawn as a dot, so that a value between two gaps is visible.
    if (largest !== least || pen === 'M') path += `L${x.toFixed(1)} ${y(largest)}`;
    pen = 'L';
  }
  return path;
}
