import type { BackfillOptions, BackfillRequest } from '#shared/jobs/backfill.ts';
import type { ComputedColumn } from '#shared/jobs/computedFunction.ts';
import { isJobError, JobError } from '#shared/jobs/jobErrors.ts';
import type { BackfillPlan } from '#shared/jobs/jobPlan.ts';
import { displayPath } from '#shared/names.ts';
import type { ColumnInfo } from '#shared/protocol/webviewMessages.ts';
import type { ClusterProfiles } from '../../cluster/clusterProfiles.ts';
import { pickOne, askText, withProgress } from '../../host/ask.ts';
import type { TablePlace } from '../../panels/tableSource.ts';
import { connectToRay, type ConnectToRayDeps } from '../connectToRay.ts';
import type { JobPage } from '../jobPage.ts';
import type { JobPages } from '../jobPages.ts';
import type { JobsHost } from '../jobsHost.ts';
import type { Backfills } from '../runBackfills.ts';
import type { TableReferences } from '../tableReferences.ts';
import { chooseFunction } from './chooseFunction.ts';
import { chooseTable, type ChooseTableDeps } from './chooseTable.ts';
import { type ColumnChoice, columnChoices, nameProblem } from './columnChoices.ts';
import { PlanSession, type PlanSessionDeps } from './planSession.ts';
import { runnerChoices } from './runnerChoices.ts';
import { setUpPython } from './setUpPython.ts';

/** Returns the given column, else the column that the user picks. `undefined` if the user cancels. */
async function chooseColumn(
  table: string,
  columns: readonly ColumnInfo[],
  computed: readonly ComputedColumn[],
  pointed: string | undefined,
): Promise<ColumnChoice | undefined> {
  const choices = columnChoices(columns, computed);
  const found = choices.find(({ value }) => value !== 'new' && value.name === pointed)?.value;
  const chosen = found ?? (await pickOne(`Select the column of ${table} to backfill`, choices));
  return chosen === 'new' ? newColumn(table, columns) : chosen;
}

async function newColumn(table: string, columns: readonly ColumnInfo[]): Promise<ColumnChoice | undefined> {
  const name = await askText({
    title: `New column of ${table}`,
    prompt: 'Name of the column. The backfill adds it when it starts.',
    placeHolder: 'caption_length',
    check: (typed) => nameProblem(typed, columns),
  });
  return name === undefined ? undefined : { kind: 'new', name };
}

export type BackfillCommandDeps = ChooseTableDeps &
  ConnectToRayDeps & {
    readonly host: JobsHost;
    readonly backfills: Backfills;
    readonly references: TableReferences;
    readonly pages: JobPages;
    readonly profiles: Pick<ClusterProfiles, 'list'>;
    readonly session: PlanSessionDeps;
    readonly dist: (name: string) => string;
  };

/**
 * Prompts for the column, function and runner of a backfill of a table, and shows its plan.
 * @returns the page of the plan; `undefined` if the user cancels
 */
export async function backfillColumn(parts: BackfillCommandDeps, given: unknown): Promise<JobPage | undefined> {
  const chosen = await chooseTable(parts, given);
  if (!chosen) return undefined;
  const { place } = chosen;
  const table = await parts.references.of(place);
  const name = displayPath([place.connection, ...place.path], place.table);
  const { columns, computed } = await withProgress(`Reading ${name}…`, (signal) => columnsOf(parts, place, signal));
  const column = await chooseColumn(name, columns, computed, chosen.column);
  if (!column) return undefined;
  if (column.kind === 'computed' && column.computed.keptBy === 'engine')
    throw new JobError(
      'RequestInvalid',
      `Can't backfill column "${column.name}" of "${name}": the engine computes it.`,
      `In a notebook, run "await table.refreshColumn(${JSON.stringify(column.name)})".`,
    );
  const made = await chooseFunction(column, columns, {
    ask: parts.ask,
    read: (source, signal) => parts.host.request('readFunction', { table, column: column.name, source }, signal),
  });
  if (made === undefined) return undefined;
  const asked: BackfillRequest = { table, column: column.name, ...(made !== 'stored' && { function: made }) };
  const planned = await planFor(parts, asked, columns);
  if (!planned) return undefined;
  const { request, plan } = planned;
  return parts.pages.showPlan(new PlanSession(parts.session, request, parts.references.tableOf(place), plan));
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
): Promise<Planned | undefined> {
  const first = await planWithKey(parts, asked, columns);
  if (!first) return undefined;
  const options = await askRunner(parts, first.plan);
  if (!options) return undefined;
  if (Object.keys(options).length === 0) return first;
  return planWithKey(parts, { ...first.request, ...(await parts.references.withRay(options)) }, columns);
}

/** Returns the options that the user changed, `{}` if the user accepts the plan, or `undefined` if the user cancels. */
async function askRunner(parts: BackfillCommandDeps, plan: BackfillPlan): Promise<BackfillOptions | undefined> {
  const profiles = parts.profiles.list().flatMap((one) => ('profile' in one ? [one.name] : []));
  const known = { addresses: parts.rays.list(), profiles };
  const choice = await pickOne(`Select where to compute "${plan.column}"`, runnerChoices(plan, known));
  switch (choice?.kind) {
    case undefined:
      return undefined;
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
