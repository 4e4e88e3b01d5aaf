/**
 * How the distance of two vectors is measured; `hamming` counts the bits that differ, for vectors of unsigned bytes.
 */
export type DistanceType = 'l2' | 'cosine' | 'dot' | 'hamming';

export const distanceTypes = ['l2', 'cosine', 'dot', 'hamming'] as const satisfies DistanceType[];

/** The column with the distances of a search. */
export const distanceColumn = '_distance';

/** What a column of vectors holds. */
export type VectorType = {
  readonly dimension: number;
  /** Whether each row has a list of vectors. */
  readonly isMulti: boolean;
  /** Whether the numbers are unsigned bytes. */
  readonly isBytes: boolean;
  /** How distances can be measured. The first one is the default of a column without an index. */
  readonly distanceTypes: readonly DistanceType[];
};

const forNumbers: readonly DistanceType[] = ['l2', 'cosine', 'dot'];

/** Reads the text of a type, such as `fixed_size_list<float>[128]`; `undefined` if the engine can't search it. */
export function parseVectorType(type: string): VectorType | undefined {
  const list = /^(?:large_)?list<(.*)>$/.exec(type)?.[1];
  const [, element, dimension] = /^fixed_size_list<(\w+)>\[(\d+)\]$/.exec(list ?? type) ?? [];
  const isBytes = element === 'uint8';
  const isNumbers = element === 'halffloat' || element === 'float' || element === 'double';
  if (dimension === undefined || !(isNumbers || (isBytes && list === undefined))) return undefined;
  const isMulti = list !== undefined;
  const measured: readonly DistanceType[] = isMulti ? ['cosine'] : isBytes ? ['hamming'] : forNumbers;
  return { dimension: Number(dimension), isMulti, isBytes, distanceTypes: measured };
}

/** Whether a type looks like vectors to a reader, also if the engine can't search it. */
export const looksLikeVectors = (type: string): boolean => /^(?:(?:large_)?list<)*fixed_size_list</.test(type);

/** Returns why the engine can't search a type that looks like vectors, as an end of a sentence. */
export const whyUnsearchable = (type: string): string =>
  `the engine searches vectors of 16, 32 or 64-bit floats and of unsigned bytes, not ${type}`;

/**
 * Returns why a search can't use these vectors, as a sentence without a period; `undefined` if it can. A column of lists of
 * vectors takes several.
 */
export function vectorProblem(
  vectors: readonly ArrayLike<number>[],
  { dimension, isMulti, isBytes }: VectorType,
  distanceType?: DistanceType,
): string | undefined {
  if (vectors.length === 0) return 'There is no vector to search by';
  if (vectors.length > 1 && !isMulti) return `Expected one vector, got ${vectors.length}`;
  for (const vector of vectors) {
    if (vector.length !== dimension) return `Expected ${dimension} numbers, got ${vector.length}`;
    const values = Array.from(vector);
    const wrong = values.findIndex((value) => !Number.isFinite(value));
    if (wrong >= 0) return `The vector has ${values[wrong]} at position ${wrong + 1}, so it has no distance to others`;
    const notByte = isBytes ? values.find((value) => !Number.isInteger(value) || value < 0 || value > 255) : undefined;
    if (notByte !== undefined) return `Expected whole numbers from 0 to 255, got ${notByte}`;
    if (distanceType === 'cosine' && values.every((value) => value === 0))
      return 'The vector is zero, and a zero vector has no cosine distance';
  }
  return undefined;
}
