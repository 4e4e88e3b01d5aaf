import { sqlName } from '#catalog/sqlText.ts';
import type { Table } from '#catalog/table/table.ts';
import type { JobSpec } from '#jobs/jobSpec.ts';
import { isCatalogError } from '#shared/errors.ts';

export type ServerProgress = {
  readonly plan: {
    readonly readVersion: number;
    readonly fragments: number;
    readonly rows: number;
    readonly committedFragments: number;
    readonly checkpointedFragments: number;
    readonly reusedRows: number;
  };
  /**
   * Rows that received a value since the start, `undefined` if unknown. Servers don't report this number. For default
   * rows it follows from the number of nulls.
   */
  done(signal: AbortSignal): Promise<number | undefined>;
};

export async function serverProgress(table: Table, spec: JobSpec, signal: AbortSignal): Promise<ServerProgress> {
  const { column } = spec;
  const empty = `${sqlName(column)} IS NULL`;
  const isDefault = spec.where === undefined && spec.numFrags === undefined;
  const [readVersion, rows, fragments] = await Promise.all([
    spec.readVersion ?? table.version({ signal }),
    table.countRows(spec.where ?? empty, { signal }),
    fragmentsOf(table, signal),
  ]);
  return {
    plan: {
      readVersion,
      rows,
      fragments: Math.min(fragments, spec.numFrags ?? fragments),
      committedFragments: 0,
      checkpointedFragments: 0,
      reusedRows: 0,
    },
    done: async (own) => {
      if (!isDefault) return undefined;
      // Appended rows have no value either, so the difference may be negative.
      return Math.max(0, rows - (await table.countRows(empty, { signal: own })));
    },
  };
}

/** Returns the number of fragments, which not every server reports. */
async function fragmentsOf(table: Table, signal: AbortSignal): Promise<number> {
  try {
    return (await table.stats({ signal })).numFragments;
  } catch (error) {
    if (isCatalogError(error, 'Unsupported')) return 1;
    throw error;
  }
}
