import type { BackfillOptions, BackfillRequest } from '#shared/jobs/backfill.ts';
import type { ComputedColumn } from '#shared/jobs/computedFunction.ts';
import { isJobError, JobError } from '#shared/jobs/jobErrors.ts';
import type { BackfillPlan } from '#shared/jobs/jobPlan.ts';
import { displayPath } from '#shared/names.ts';
import type { ColumnInfo } from '#shared/protocol/webviewMessages.ts';
import type { ClusterProfiles } from '../../cluster/clusterProfiles.ts';
import { pickOne, withProgress } from '../../host/ask.ts';
import type { PickStep } from '../../host/askStep.ts';
import type { TablePlace } from '../../panels/tableSource.ts';
import { connectToRay, type ConnectToRayDeps } from '../connectToRay.ts';
import type { JobPage } from '../jobPage.ts';
import type { JobPages } from '../jobPages.ts';
import type { JobsHost } from '../jobsHost.ts';
import type { Backfills } from '../runBackfills.ts';
import type { TableReferences } from '../tableReferences.ts';
import { askBackfill, type StepNumber } from './backfillWizard.ts';
import { askFileFunction } from './chooseFunction.ts';
import { chooseTable, type ChooseTableDeps } from './chooseTable.ts';
import type { ColumnChoice } from './columnChoices.ts';
import { PlanSession, type PlanSessionDeps } from './planSession.ts';
import { runnerChoices } from './runnerChoices.ts';
import { setUpPython } from './setUpPython.ts';

export type BackfillCommandDeps = ChooseTableDeps &
  ConnectToRayDeps & {
    readonly pick: PickStep;
    readonly host: JobsHost;
    readonly backfills: Backfills;
    readonly references: TableReferences;
    readonly pages: JobPages;
    readonly profiles: Pick<ClusterProfiles, 'list'>;
    readonly session: PlanSessionDeps;
    readonly dist: (name: string) => string;
  };

/**
 * Prompts for the column, function and runner of a backfill of a table, step by step, and shows its plan.
 * @returns the page of the plan; `undefined` if the user cancels
 */
export async function backfillColumn(parts: BackfillCommandDeps, given: unknown): Promise<JobPage | undefined> {
  const chosen = await chooseTable(parts, given);
  if (!chosen) return undefined;
  const { place } = chosen;
  const table = await parts.references.of(place);
  const name = displayPath([place.connection, ...place.path], place.table);
  const { columns, computed } = await withProgress(`Reading ${name}…`, (signal) => columnsOf(parts, place, signal));
  let planned: Planned | undefined;
  const isChosen = await askBackfill(
    { name, columns, computed, pointed: chosen.column },
    {
      ask: parts.ask,
      pick: parts.pick,
      read: (column, source, signal) => parts.host.request('readFunction', { table, column, source }, signal),
      askFile: askFileFunction,
      checkColumn: (column) => checkColumn(column, name),
      plan: async ({ column, made }, step) => {
        const asked: BackfillRequest = { table, column: column.name, ...(made !== 'stored' && { function: made }) };
        const result = await planFor(parts, asked, columns, step);
        if (result === 'back' || result === undefined) return result;
        planned = result;
        return 'next';
      },
    },
  );
  if (!isChosen || !planned) return undefined;
  const { request, plan } = planned;
  return parts.pages.showPlan(new PlanSession(parts.session, request, parts.references.tableOf(place), plan));
}

/** @throws JobError RequestInvalid for a column that the engine computes */
function checkColumn(column: ColumnChoice, table: string): void {
  if (column.kind !== 'computed' || column.computed.keptBy !== 'engine') return;
  throw new JobError(
    'RequestInvalid',
    `Can't backfill column "${column.name}" of "${table}": the engine computes it.`,
    `In a notebook, run "await table.refreshColumn(${JSON.stringify(column.name)})".`,
  );
}

async function columnsOf(
  { host, catalogs, references }: BackfillCommandDeps,
  place: TablePlace,
  signal: AbortSignal,
): Promise<{ columns: readonly ColumnInfo[]; computed: readonly ComputedColumn[] }> {
  const catalog = await catalogs.get(place.connection);
  const [{ columns }, computed] = await Promise.all([
    catalog.describeTable(place.table, { namespacePath: place.path, signal }),
    references.of(place).then((table) => host.request('computedColumns', { table }, signal)),
  ]);
  return { columns, computed };
}

type Planned = { readonly request: BackfillRequest; readonly plan: BackfillPlan };

/** Plans the backfill with the recommended runner. Plans again if the user picks another runner. */
async function planFor(
  parts: BackfillCommandDeps,
  asked: BackfillRequest,
  columns: readonly ColumnInfo[],
  step: StepNumber,
): Promise<Planned | 'back' | undefined> {
  const first = await planWithKey(parts, asked, columns);
  if (!first) return undefined;
  const options = await askRunner(parts, first.plan, step);
  if (options === undefined || options === 'back') return options;
  if (Object.keys(options).length === 0) return first;
  return planWithKey(parts, { ...first.request, ...(await parts.references.withRay(options)) }, columns);
}

/** Returns the options that the user changed, `{}` if the user accepts the plan, or `undefined` if the user cancels. */
async function askRunner(
  parts: BackfillCommandDeps,
  plan: BackfillPlan,
  step: StepNumber,
): Promise<BackfillOptions | 'back' | undefined> {
  const profiles = parts.profiles.list().flatMap((one) => ('profile' in one ? [one.name] : []));
  const known = { addresses: parts.rays.list(), profiles };
  const title = `Select where to compute "${plan.column}"`;
  const answer = await parts.pick({ title, step, choices: runnerChoices(plan, known) });
  if (answer === undefined || answer === 'back') return answer;
  const choice = answer.value;
  switch (choice.kind) {
    case 'planned':
      return {};
    case 'runner':
      return { runner: choice.runner };
    case 'ray':
      return { runner: 'ray', ray: choice.ray };
    case 'python':
      return (await setUpPython(parts.dist('cli.cjs'))) ? { runner: 'local-python' } : undefined;
    case 'connect': {
      const address = await connectToRay(parts);
      return address === undefined ? undefined : { runner: 'ray', ray: { address } };
    }
  }
}

/** Plans the backfill. If rows can only be written back by a key column, prompts for the key column. */
async function planWithKey(
  { backfills }: BackfillCommandDeps,
  request: BackfillRequest,
  columns: readonly ColumnInfo[],
): Promise<Planned | undefined> {
  const planned = async (asked: BackfillRequest): Promise<Planned | undefined> => {
    const title = `Planning the backfill of "${asked.column}"…`;
    const plan = await withProgress(title, (signal) => backfills.plan(asked, signal));
    return plan && { request: asked, plan };
  };
  try {
    return await planned(request);
  } catch (error) {
    if (!isJobError(error) || error.kind !== 'KeyMissing' || request.key !== undefined) throw error;
    const key = await pickOne(
      'Select the column that identifies each row, so that values can be written back',
      columns
        .filter(({ name }) => name !== request.column)
        .map(({ name, type }) => ({ label: name, description: type, value: name })),
    );
    if (key === undefined) return undefined;
    return planned({ ...request, key });
  }
}
