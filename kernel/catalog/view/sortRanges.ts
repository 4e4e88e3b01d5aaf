import { type Data, DataType } from '#arrow';
import { columnReader } from '#catalog/arrow/rowValues.ts';
import type { Ordering } from '#catalog/query/querySpec.ts';
import { keyOrder, keyReader, type KeyValue } from './keyOrder.ts';
import { comparedName, conditionName, equalCondition, valueLiteral } from './valueCondition.ts';

/** A key of a sampled row; `value` is null, NaN with a sign, or a value that a condition can have. */
export type SampledKey =
  | { readonly kind: 'null' | 'nan' | 'negative nan' }
  | { readonly kind: 'value'; readonly key: NonNullable<KeyValue>; readonly value: unknown };

/** A range of the first key to sort by. */
export type SortRange = {
  /** The condition of its rows; `undefined` for all rows. */
  readonly condition: string | undefined;
  /** Number of sampled rows in it. */
  readonly sampled: number;
  /** Whether all rows have the same key. */
  readonly isOneKey: boolean;
};

/** The keys that are equal in the order, with the conditions of the rows around them. */
type Group = {
  readonly kind: SampledKey['kind'] | 'zero';
  readonly key: KeyValue;
  count: number;
  /** Of a zero: how many are negative. */
  negative: number;
  readonly value: unknown;
};

/** Returns the keys of one chunk of a column. The sign of NaN counts, because the engine sorts by it. */
export function sampledKeys(data: Data | undefined, column: string, rows: number): SampledKey[] {
  if (!data) return Array.from({ length: rows }, () => ({ kind: 'null' }));
  const readKey = keyReader(data, column);
  const readValue = columnReader(data);
  return Array.from({ length: rows }, (_, row): SampledKey => {
    const key = readKey(row);
    if (key === null) return { kind: 'null' };
    if (typeof key === 'number' && Number.isNaN(key)) return { kind: isNegative(data, row) ? 'negative nan' : 'nan' };
    return { kind: 'value', key, value: readValue(row) };
  });
}

/** Whether a float has the sign bit, which NaN can have, too. */
function isNegative({ values }: Data, row: number): boolean {
  const { buffer, byteOffset, BYTES_PER_ELEMENT: width } = values as Float64Array;
  return (new Uint8Array(buffer, byteOffset + row * width, width).at(-1)! & 0x80) !== 0;
}

/**
 * Divides the rows of a table into ranges of a key, in its order, so that each range has about `most` sampled rows. A key
 * that is in very many rows has a separate range. Ranges have all values between and beyond those of the sample.
 * Returns `undefined` if SQL can't express its values.
 */
export function sortRanges(
  sample: readonly SampledKey[],
  { type, ordering, most }: { type: DataType; ordering: Ordering; most: number },
): SortRange[] | undefined {
  if (conditionName(ordering.column) === undefined) return undefined;
  // The sign of NaN is not read from dictionaries.
  if (DataType.isDictionary(type) && DataType.isFloat(type.dictionary)) return undefined;
  const write = new ConditionWriter(type, ordering);
  const groups = groupKeys(sample, type, ordering);
  const isAlone = (group: Group): boolean => group.count > most / 2 && write.canWrite(group);
  const ranges: SortRange[] = [];
  // The groups of the range that is built.
  let open: Group[] = [];
  let openCount = 0;
  let previous: Bound | undefined;
  const end = (next: Bound | undefined): void => {
    const condition = write.range({ previous, groups: open, next });
    if (condition !== 'none') ranges.push({ condition, sampled: openCount, isOneKey: false });
    open = [];
    openCount = 0;
  };
  for (const group of groups) {
    if (isAlone(group)) {
      end({ group, isIn: false });
      ranges.push(...write.alone(group));
      previous = { group, isIn: false };
      continue;
    }
    const isFull = openCount > 0 && openCount + group.count > most;
    if (isFull && write.canWrite(group) && (group.kind === 'value' || group.kind === 'zero')) {
      end({ group, isIn: false });
      previous = { group, isIn: true };
    }
    open.push(group);
    openCount += group.count;
  }
  end(undefined);
  return ranges;
}

/** Where a range ends: at a group, which is in the range or not. */
type Bound = { readonly group: Group; readonly isIn: boolean };

/** Groups the keys in their order. There are groups for null and NaN always, because a sample may lack them. */
function groupKeys(sample: readonly SampledKey[], type: DataType, ordering: Ordering): Group[] {
  const values: Extract<SampledKey, { kind: 'value' }>[] = [];
  const counts = { null: 0, nan: 0, 'negative nan': 0 };
  for (const each of sample) {
    if (each.kind === 'value') values.push(each);
    else counts[each.kind]++;
  }
  const compare = keyOrder(ordering);
  const groups: Group[] = [];
  for (const { key, value } of values.toSorted((a, b) => compare(a.key, b.key))) {
    const last = groups.at(-1);
    const isZero = DataType.isFloat(type) && key === 0;
    if (last && (isZero ? last.kind === 'zero' : last.key === key)) last.count++;
    else groups.push({ kind: isZero ? 'zero' : 'value', key, value, count: 1, negative: 0 });
    if (Object.is(key, -0)) groups.at(-1)!.negative++;
  }
  const without = (kind: 'null' | 'nan' | 'negative nan'): Group => ({
    kind,
    key: kind === 'null' ? null : NaN,
    value: null,
    count: counts[kind],
    negative: 0,
  });
  if (DataType.isFloat(type)) {
    const [first, last] =
      ordering.descending === true ? (['nan', 'negative nan'] as const) : (['negative nan', 'nan'] as const);
    groups.unshift(without(first));
    groups.push(without(last));
  }
  if (ordering.nullsFirst === true) groups.unshift(without('null'));
  else groups.push(without('null'));
  return groups;
}

const infinity = "CAST('Infinity' AS DOUBLE)";
const negativeInfinity = "CAST('-Infinity' AS DOUBLE)";

/**
 * Writes the conditions of ranges. The engine compares floats as it sorts them, NaN included, except that both zeros are
 * equal to it.
 */
class ConditionWriter {
  readonly #type: DataType;
  readonly #ordering: Ordering;
  readonly #name: string;
  /** The column as it can be compared with a literal. */
  readonly #compared: string;

  constructor(type: DataType, ordering: Ordering) {
    this.#type = type;
    this.#ordering = ordering;
    this.#name = conditionName(ordering.column)!;
    this.#compared = comparedName(type, this.#name);
  }

  canWrite({ kind, value }: Group): boolean {
    if (kind !== 'value') return true;
    try {
      valueLiteral(this.#type, value, this.#ordering.column);
      return true;
    } catch {
      // Such a value, for example text with half of a surrogate pair, is only in the middle of a range.
      return false;
    }
  }

  /** Returns the ranges of one key. The zeros of a float are two keys. */
  alone(group: Group): SortRange[] {
    const { kind, count: sampled, negative } = group;
    if (kind !== 'zero') return [{ condition: this.#equal(group), sampled, isOneKey: true }];
    const zeros = [
      { condition: `${this.#compared} = 0 AND 1.0 / ${this.#compared} < 0`, sampled: negative, isOneKey: true },
      {
        condition: `${this.#compared} = 0 AND 1.0 / ${this.#compared} > 0`,
        sampled: sampled - negative,
        isOneKey: true,
      },
    ];
    return this.#ordering.descending === true ? zeros.toReversed() : zeros;
  }

  /** Returns the condition of a range that has some groups; "none" for no rows. */
  range(range: { previous: Bound | undefined; groups: readonly Group[]; next: Bound | undefined }): string | undefined {
    const { previous, groups, next } = range;
    const { descending = false, nullsFirst = false } = this.#ordering;
    const hasNulls = groups.some(({ kind }) => kind === 'null');
    const [above, below] = descending ? ['<', '>'] : ['>', '<'];
    const conditions: string[] = [];
    // Nulls are before or after all values, so they don't limit the values.
    if (previous && previous.group.kind !== 'null') {
      const after = this.#beyond(previous, above, descending);
      if (after === undefined && !hasNulls) return 'none';
      conditions.push(after ?? 'false');
    }
    if (next && next.group.kind !== 'null') {
      const before = this.#beyond(next, below, !descending);
      if (before === undefined && !hasNulls) return 'none';
      conditions.push(before ?? 'false');
    }
    if (hasNulls) {
      if (conditions.includes('false')) return `${this.#name} IS NULL`;
      if (conditions.length === 0) return undefined;
      return `(${conditions.join(' AND ')} OR ${this.#name} IS NULL)`;
    }
    // Nulls that are in another range.
    const isAfterNulls = previous?.group.kind === 'null' && nullsFirst;
    if (previous?.group.kind === 'null' && !isAfterNulls) return 'none';
    if (next?.group.kind === 'null' && nullsFirst) return 'none';
    if (conditions.length > 0) return conditions.join(' AND ');
    return `${this.#name} IS NOT NULL`;
  }

  /**
   * Returns the condition of the values on one side of a bound; `undefined` if there are none.
   * @param isLess whether the side is that of smaller values
   */
  #beyond({ group, isIn }: Bound, operator: string, isLess: boolean): string | undefined {
    const { kind } = group;
    const [isLargest, isLeast] = [kind === 'nan', kind === 'negative nan'];
    if (isLargest) return isLess ? `${this.#compared} <= ${infinity}` : undefined;
    if (isLeast) return isLess ? undefined : `${this.#compared} >= ${negativeInfinity}`;
    const literal = kind === 'zero' ? '0' : valueLiteral(this.#type, group.value, this.#ordering.column);
    return `${this.#compared} ${operator}${isIn ? '=' : ''} ${literal}`;
  }

  #equal({ kind, value }: Group): string {
    if (kind === 'nan') return `${this.#compared} > ${infinity}`;
    if (kind === 'negative nan') return `${this.#compared} < ${negativeInfinity}`;
    return equalCondition(this.#type, kind === 'null' ? null : value, this.#ordering.column);
  }
}
