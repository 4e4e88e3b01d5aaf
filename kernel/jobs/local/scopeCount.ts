import { firstAddress } from './rows.ts';
import { scanRows, type ScanRequest } from './scanRows.ts';

export type ScopeCount = {
  readonly rows: number;
  /** Rows by fragment, in the order of fragments. */
  readonly fragments: ReadonlyMap<number, number>;
  /** Exclusive end address, if limited by `numFrags`. */
  readonly end: bigint | undefined;
};

/** Counts the rows in scope of a pinned table, optionally in the first `numFrags` fragments that have any. */
export async function countScope(
  rows: Pick<ScanRequest, 'table' | 'scope' | 'from'>,
  numFrags: number | undefined,
  signal: AbortSignal,
): Promise<ScopeCount> {
  const fragments = new Map<number, number>();
  let total = 0;
  for await (const { fragment, addresses } of scanRows({ ...rows, inputs: [] }, signal)) {
    if (numFrags !== undefined && !fragments.has(fragment) && fragments.size >= numFrags) {
      return { rows: total, fragments, end: firstAddress(fragment) };
    }
    fragments.set(fragment, (fragments.get(fragment) ?? 0) + addresses.length);
    total += addresses.length;
  }
  return { rows: total, fragments, end: undefined };
}
