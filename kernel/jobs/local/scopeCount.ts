import type { Table } from '#client/table.ts';
import { firstAddress } from './rows.ts';
import { scanRows } from './scanRows.ts';

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
  table: Table,
  scope: string,
  numFrags: number | undefined,
  signal: AbortSignal,
): Promise<ScopeCount> {
  const fragments = new Map<number, number>();
  let rows = 0;
  for await (const { fragment, addresses } of scanRows({ table, scope, inputs: [] }, signal)) {
    if (numFrags !== undefined && !fragments.has(fragment) && fragments.size >= numFrags) {
      return { rows, fragments, end: firstAddress(fragment) };
    }
    fragments.set(fragment, (fragments.get(fragment) ?? 0) + addresses.length);
    rows += addresses.length;
  }
  return { rows, fragments, end: undefined };
}
