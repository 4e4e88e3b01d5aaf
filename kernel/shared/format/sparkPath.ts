/** Size of a vector's line in pixels, and the minimum and maximum number of points. */
export const spark = { width: 72, height: 20, minPoints: 8, maxPoints: 144 } as const;

/**
 * Returns the `d` of an SVG path through the values, scaled to their range. The line has a gap at each missing value.
 */
export function sparkPath(values: Float64Array, maxPoints: number = spark.maxPoints): string {
  const step = Math.max(1, Math.ceil(values.length / maxPoints));
  const points = values.filter((_, i) => i % step === 0);
  const finite = points.filter((value) => Number.isFinite(value));
  const least = Math.min(...finite);
  const span = Math.max(...finite) - least || 1;
  let pen = 'M';
  let path = '';
  for (const [i, value] of points.entries()) {
    if (!Number.isFinite(value)) {
      pen = 'M';
      continue;
    }
    const x = (i / Math.max(1, points.length - 1)) * (spark.width - 2) + 1;
    const y = spark.height - 2 - ((value - least) / span) * (spark.height - 4);
    path += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
    pen = 'L';
  }
  return path;
}
