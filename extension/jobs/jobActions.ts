import { JobError } from '#shared/jobs/jobErrors.ts';
import { backfillCode } from '#shared/jobs/backfillCode.ts';
import type { JobAction } from '#shared/jobs/jobPageMessages.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { jobTableText } from '#shared/jobs/jobLabels.ts';
import { confirm } from '../host/ask.ts';
import type { Engine } from '../host/engine.ts';
import { showViewProgress } from '../host/messages.ts';
import { viewIds } from '../manifest.ts';
import type { TablePanels } from '../panels/tablePanels.ts';
import { catalogSource, type PanelCatalog } from '../panels/tableSource.ts';
import { jobOf } from './jobNode.ts';
import type { JobsHost } from './jobsHost.ts';
import { copyCode } from './backfill/planSession.ts';
import type { TableReferences } from './tableReferences.ts';

type JobActionsDeps = {
  readonly host: JobsHost;
  readonly references: TableReferences;
  readonly panels: Pick<TablePanels, 'preview'>;
  readonly engine: Pick<Engine, 'catalog'>;
  readonly catalogOf: (connection: string) => Promise<PanelCatalog>;
};

/** Actions of the user on a job, from its page, its row or a notification. */
export class JobActions {
  readonly #parts: JobActionsDeps;

  constructor(parts: JobActionsDeps) {
    this.#parts = parts;
  }

  /** @throws JobError, CatalogError if the action fails */
  async act(action: JobAction, id: string): Promise<void> {
    const view = jobOf(this.#parts.host.board, id);
    switch (action) {
      case 'cancel':
        return this.cancel(view);
      case 'resume':
      case 'retry':
        return this.resume(view);
      case 'table':
        return this.openTable(view);
      case 'code':
        return copyCode(backfillCode(view.table, view.column, view.options));
      case 'try':
      case 'run':
        throw new JobError(
          'RequestInvalid',
          'This action applies to a plan, not to a job.',
          'Plan a backfill with "Backfill Column…".',
        );
    }
  }

  /** Cancels without confirmation, because computed values stay. */
  async cancel({ id }: JobView): Promise<void> {
    await inView(() => this.#parts.host.request('cancel', { id }));
  }

  /** Resumes a stopped job. The same action retries rows that failed and were left null. */
  async resume(view: JobView): Promise<void> {
    const request = await this.#parts.references.ofJob(view);
    await inView(() => this.#parts.host.request('resume', { id: view.id, request }));
  }

  /** @returns whether the user confirmed */
  async remove({ id, table, column, state }: JobView): Promise<boolean> {
    if (state !== 'succeeded') {
      const what = `Remove the job of "${column}" of ${jobTableText(table)} from the list?`;
      const detail = 'The table and the computed values stay. A new backfill of the column continues from there.';
      if (!(await confirm(what, detail, 'Remove'))) return false;
    }
    await this.#parts.host.request('remove', { id });
    return true;
  }

  /** Shows the table that a job writes to. @throws JobError if no connection has the table */
  async openTable({ table }: JobView): Promise<void> {
    const { references, panels, engine, catalogOf } = this.#parts;
    const place = references.placeOf(table);
    if (place) return void (await panels.preview(catalogSource(place, catalogOf)));
    const { catalog, implementation, namespacePath: path, name } = table;
    if (implementation === 'rest')
      throw new JobError(
        'RequestInvalid',
        `Can't open table "${jobTableText(table)}": VS Code has no connection to its catalog "${catalog}".`,
        'Add it with "Add REST Connection…", then try again.',
      );
    await panels.preview(catalogSource({ connection: catalog, path, table: name }, () => engine.catalog(catalog)));
  }
}

/** Runs a request with progress in the Jobs view. */
const inView = async (run: () => Promise<unknown>): Promise<void> => {
  await showViewProgress(viewIds.jobs, run);
};
