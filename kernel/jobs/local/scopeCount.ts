import { firstAddress } from './rows.ts';
import { scanRows, type ScanRequest } from './scanRows.ts';

/** Rows in scope, counted. */
export type ScopeCount = {
  readonly rows: number;
  /** Fragments that have some, in their order, with how many. */
  readonly fragments: ReadonlyMap<number, number>;
  /** The address behind the last of them, where only some fragments are asked for. */
  readonly end: bigint | undefined;
};

/** Counts the rows in scope of a table that stays at a version; with `numFrags` those of the first so many fragments. */
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
