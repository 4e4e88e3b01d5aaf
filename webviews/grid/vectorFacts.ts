import { countText, roughText } from '#shared/format/numbers.ts';

/** What the grid says about a vector. */
export type VectorFacts = {
  /** `128 · norm 1.02` */
  readonly text: string;
  /** What makes the vector useless for a search: `zero`, `3 NaN`. */
  readonly problem: string | undefined;
};

/** Returns the dimension and the norm of a vector, and whether it is zero or has values that are not numbers. */
export function vectorFacts(values: Float64Array): VectorFacts {
  let [sum, nans] = [0, 0];
  for (const value of values) {
    if (Number.isNaN(value)) nans++;
    else sum += value * value;
  }
  const dimension = countText(values.length);
  if (nans > 0) return { text: dimension, problem: `${countText(nans)} NaN` };
  if (sum === 0 && values.length > 0) return { text: dimension, problem: 'zero' };
  return { text: `${dimension} · norm ${roughText(Math.sqrt(sum))}`, problem: undefined };
}
