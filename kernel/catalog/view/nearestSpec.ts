import { checkChoice, checkOptions } from '#catalog/arguments/options.ts';
import { checkCount, checkFlag, checkText, describeType } from '#catalog/arguments/tableArguments.ts';
import { CatalogError } from '#shared/errors.ts';
import { floatText } from '#shared/format/numbers.ts';
import { type DistanceType, distanceTypes } from '#shared/vectorTypes.ts';

/** Which rows are nearest: those of a view with a search by vector. */
export type NearestSpec = {
  /** A column of vectors, or of lists of vectors. */
  readonly column: string;
  /** The vector to search by. A column of lists of vectors takes several, and finds the lists nearest to all of them. */
  readonly vector: readonly number[] | readonly (readonly number[])[];
  /** Maximum number of rows, at most 10,000. */
  readonly k: number;
  /** Default: that of the index; without an index `l2`, for bytes `hamming`, for lists of vectors `cosine`. */
  readonly distanceType?: DistanceType | undefined;
  /** False: compares the vector with every row. Default: true, if there is an index with this distance. */
  readonly useIndex?: boolean | undefined;
};

export const maxNearest = 10_000;

/**
 * With an index, a search reads this many times as many candidates, and orders them by their true distance. An index of
 * type PQ only estimates distances.
 */
export const refineFactorOf = (k: number): number => (k <= 1_000 ? 4 : 1);

export const vectorsOf = ({ vector }: NearestSpec): readonly (readonly number[])[] =>
  isSeveral(vector) ? vector : [vector];

const isSeveral = (vector: NearestSpec['vector']): vector is readonly (readonly number[])[] =>
  typeof vector[0] === 'object';

/** Writes the vectors of a search as code, which is the same in TypeScript, SQL and Python: `[0.1, -2]`. */
export function vectorCode(nearest: NearestSpec): string {
  const lists = vectorsOf(nearest).map((vector) => `[${vector.map(numberCode).join(', ')}]`);
  return lists.length === 1 ? lists[0]! : `[${lists.join(', ')}]`;
}

/** Most vectors are 32-bit floats, which are short numbers then. */
const numberCode = (value: number): string => (Math.fround(value) === value ? floatText(value) : String(value));

/** @throws CatalogError InvalidInput (13) for an unknown option or an invalid value */
export function checkNearest(call: string, spec: NearestSpec): NearestSpec {
  checkOptions(call, spec, ['column', 'vector', 'k', 'distanceType', 'useIndex']);
  checkText(call, 'column', spec.column);
  if (checkCount(call, 'k', spec.k) > maxNearest) {
    const hint = `Pass at most ${maxNearest}.`;
    throw new CatalogError('InvalidInput', `${call}: ${spec.k} is more rows than a search can list.`, hint);
  }
  checkChoice(call, 'distanceType', spec.distanceType, distanceTypes);
  if (spec.useIndex !== undefined) checkFlag(call, 'useIndex', spec.useIndex);
  const { vector }: { vector: unknown } = spec;
  if (Array.isArray(vector) || ArrayBuffer.isView(vector)) return spec;
  const hint = 'Pass an array of numbers.';
  throw new CatalogError('InvalidInput', `${call}: the vector is ${describeType(vector)}.`, hint);
}
