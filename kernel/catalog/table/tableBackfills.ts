import { CatalogError } from '#shared/errors.ts';
import type { BackfillPlan } from '#shared/jobs/jobPlan.ts';
import type { BackfillJob, TableBackfillOptions, TableTrial } from '#catalog/backfill.ts';
import type { Table } from './table.ts';

export type TableBackfills = {
  backfill(table: Table, column: string, options: TableBackfillOptions): BackfillJob;
  plan(table: Table, column: string, options: TableBackfillOptions): Promise<BackfillPlan>;
  try(table: Table, column: string, options: TableBackfillOptions): Promise<TableTrial>;
};

let registered: TableBackfills | undefined;

/**
 * Sets the implementation of backfills in this process. This module can't import the implementation, because jobs
 * depend on catalogs.
 */
export function registerBackfills(backfills: TableBackfills | undefined): void {
  registered = backfills;
}

/** @throws CatalogError Unsupported (0) if no implementation is registered */
export function tableBackfills(): TableBackfills {
  if (registered) return registered;
  throw new CatalogError(
    'Unsupported',
    "This process can't run backfills.",
    'Run it in a notebook, in the editor, or with lance-catalog backfill.',
  );
}
