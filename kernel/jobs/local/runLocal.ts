import type { Field } from '#arrow';
import { isCatalogError } from '#shared/errors.ts';
import { isJobError } from '#shared/jobs/jobErrors.ts';
import type { Table } from '#catalog/table/table.ts';
import { markValues } from '#jobs/definition/registration.ts';
import { madeAll } from '#jobs/definition/storedFunction.ts';
import { isOpenEnded, type JobSpec } from '#jobs/jobSpec.ts';
import type { RunContext } from '#jobs/runners/runner.ts';
import { Checkpoints } from '#jobs/local/checkpoints/checkpoints.ts';
import { ChunkWriter } from '#jobs/local/checkpoints/chunkWriter.ts';
import { FolderStore } from '#jobs/local/checkpoints/folderStore.ts';
import { takeLease, type Lease } from '#jobs/local/checkpoints/lease.ts';
import { openBesideTable } from '#jobs/local/checkpoints/openStore.ts';
import { PendingMerges } from '#jobs/local/checkpoints/pendingMerge.ts';
import type { CheckpointStore } from '#jobs/local/checkpoints/store.ts';
import { fillRows } from './fillRows.ts';
import { openComputing, type OpenComputing } from './openComputing.ts';
import { findKey } from './keyColumn.ts';
import { KeyIndex } from './keyIndex.ts';
import { Reusable } from './reusable.ts';
import { firstAddress } from './rows.ts';
import { countScope, type ScopeCount } from './scopeCount.ts';
import { openSource, scopeOf, type Source } from './source.ts';
import { ProgressReporter } from './progressReporter.ts';
import { WriteBack } from './writeBack.ts';

/** Maximum number of passes over the table. Each pass after the first computes the rows that were added meanwhile. */
const mostPasses = 5;

/** State that all passes share. */
type Run = {
  readonly context: RunContext;
  readonly source: Source;
  readonly store: CheckpointStore;
  readonly lease: Lease | undefined;
  readonly key: Field;
  readonly scope: string;
  readonly checkpoints: Checkpoints;
  readonly computing: OpenComputing;
  readonly tally: ProgressReporter;
  /** Rows to compute in all passes so far. */
  readonly planned: { fragments: Set<number>; rows: number; reusedRows: number };
};

type Pass = {
  readonly table: Table;
  readonly readVersion: number;
  /** First row address of the pass. */
  readonly from: bigint;
  readonly count: ScopeCount;
  readonly reusable: Reusable | undefined;
};

/**
 * Fills a column through the catalog: reads rows at one version, computes them, stores checkpoints and merges the
 * values by a key, then continues with rows that were added meanwhile. Needs a catalog that can read and merge rows,
 * but no access to the files of the table.
 * @throws JobError, CatalogError; the reason of `signal` if the job was cancelled
 */
export async function runLocal(context: RunContext): Promise<void> {
  const { spec, request, signal, emit } = context;
  await using source = await openSource(request.table, { ...spec, function: undefined }, signal);
  using opened = await openBesideTable(request.table, spec.table);
  const store = opened.isBesideTable ? opened.store : new FolderStore(context.folder);
  const notice = (text: string): void => emit({ kind: 'notice', text });
  await using lease = opened.isBesideTable ? await takeLease(store, { spec, notice, signal }) : undefined;
  const { name: key, reason } = await findKey(source.pinned, request.key, spec.column, signal);
  notice(`Rows are written back by "${key}": ${reason}.`);
  const scope = scopeOf(spec);
  const { inputs } = spec.function;
  const count = await countScope({ table: source.pinned, scope }, spec.numFrags, signal);
  const checkpoints = new Checkpoints(store, spec, source.column);
  const reusing = { table: source.pinned, readVersion: source.readVersion, scope, inputs, openAt: source.openAt };
  const reusable = await Reusable.find(checkpoints, reusing, signal);
  const first: Pass = { table: source.pinned, readVersion: source.readVersion, from: 0n, count, reusable };
  const planned: Run['planned'] = { fragments: new Set(), rows: 0, reusedRows: 0 };
  tellPlan(context, planned, first);
  using tally = new ProgressReporter(inputs, emit);
  await using computing = await openComputing({
    ...spec,
    ...context,
    ...source,
    onError: request.onError ?? spec.function.onError,
    batchRows: Math.min(spec.checkpointSize, spec.taskSize ?? spec.checkpointSize),
    key,
    onBusy: (seconds) => void (tally.computeSeconds += seconds),
  });
  const keyField = (await source.table.schema({ signal })).fields.find(({ name }) => name === key)!;
  const run: Run = { context, source, store, lease, key: keyField, scope, checkpoints, computing, tally, planned };
  let bytesWritten = 0;
  let isComplete = false;
  for (let [pass, number]: [Pass | undefined, number] = [first, 1]; pass; number++) {
    const done: Done = await fillPass(run, pass, number === 1);
    bytesWritten += done.bytesWritten;
    isComplete = !done.othersWrote;
    pass = isComplete ? undefined : await nextPass(run, pass, number);
    if (pass?.count.rows === 0) [pass, isComplete] = [undefined, true];
  }
  await finish(run, bytesWritten, isComplete);
}

function tellPlan({ emit }: RunContext, planned: Run['planned'], { readVersion, count, reusable }: Pass): void {
  for (const fragment of count.fragments.keys()) planned.fragments.add(fragment);
  planned.rows += count.rows;
  planned.reusedRows += reusable?.rows ?? 0;
  const { rows, reusedRows } = planned;
  const fragments = planned.fragments.size;
  emit({
    kind: 'planned',
    readVersion,
    fragments,
    rows,
    committedFragments: 0,
    checkpointedFragments: 0,
    reusedRows,
    writesBack: true,
  });
}

type Done = { readonly bytesWritten: number; readonly othersWrote: boolean };

async function fillPass(
  run: Run,
  { table, readVersion, from, count, reusable }: Pass,
  isFirst: boolean,
): Promise<Done> {
  const { context, source, store, key, scope, checkpoints, computing } = run;
  const { spec, signal, emit } = context;
  const { inputs, hash: functionHash } = spec.function;
  const index = new KeyIndex(source.table, key.name, (version) => back.isOwn(version));
  const back: WriteBack = new WriteBack(
    {
      ...source,
      key,
      inputs,
      scope,
      isDefaultScope: spec.where === undefined,
      index,
      pending: new PendingMerges(store, `${checkpoints.path}/merge.pending`, key, source.column),
      compute: (rows, version) => computing.again(rows, version),
      emit,
    },
    readVersion,
  );
  const { jobId, column, where = null, checkpointSize } = spec;
  const chunks = new ChunkWriter(checkpoints, { jobId, functionHash, column, where, readVersion }, checkpointSize);
  const answers = { table, scope, inputs, key: key.name, from, to: count.end, reusable, ...computing.request };
  try {
    if (isFirst) await back.settle(signal);
    await fillRows({ ...run, answers, count, chunks, back }, signal);
    return { bytesWritten: back.bytesWritten, othersWrote: await back.othersWrote(signal) };
  } catch (error) {
    throw store.reasonOf(error);
  } finally {
    // The index is removed even after a cancellation, so that no index of the job stays on the table.
    await index
      .leave(AbortSignal.timeout(60_000))
      .catch((error: unknown) =>
        context.log(`Can't drop the temporary index or complete the index of the key: ${String(error)}\n`),
      );
  }
}

/**
 * Returns a pass over the rows that were added meanwhile. If they are left for the next run, emits a notice and returns
 * `undefined`.
 */
async function nextPass(run: Run, { count, from }: Pass, number: number): Promise<Pass | undefined> {
  const { context, source, key, scope, planned } = run;
  const { spec, signal, emit } = context;
  const left = (why: string): undefined => {
    emit({ kind: 'notice', text: `${why}. New rows are left for the next run.` });
  };
  if (!isOpenEnded(spec)) return left('The table changed meanwhile, and the job selects its rows');
  if (number === mostPasses) return left('Other writers keep changing the table');
  const readVersion = await source.table.version({ signal });
  const table = await source.openAt(readVersion);
  // New fragments have higher ids. So the next pass starts after the last fragment, and skips rows of earlier passes,
  // even rows without a value.
  const newest = Math.max(-1, ...count.fragments.keys());
  const after = newest < 0 ? from : firstAddress(newest + 1);
  const added = await countScope({ table, scope, from: after }, undefined, signal);
  const pass = { table, readVersion, from: after, count: added, reusable: undefined };
  if (added.rows === 0) return pass;
  try {
    await findKey(table, key.name, spec.column, signal);
  } catch (error) {
    if (!isJobError(error)) throw error;
    return left(`The table changed meanwhile: ${error.message.replace(/\.$/, '')}`);
  }
  emit({ kind: 'notice', text: 'The table changed meanwhile: new rows are computed too.' });
  tellPlan(context, planned, pass);
  return pass;
}

async function finish(
  { context, source, tally, checkpoints, planned }: Run,
  bytesWritten: number,
  isComplete: boolean,
) {
  const { spec, emit, signal } = context;
  const { computed, reused, errors, skipped } = tally;
  const isAll = spec.numFrags === undefined && skipped === 0;
  // With `numFrags`, only the checkpoints of the planned fragments are removed, because other fragments may have
  // checkpoints of a cancelled run.
  if (skipped === 0) await checkpoints.clear(spec.numFrags === undefined ? undefined : planned.fragments, signal);
  if (isAll && isComplete && madeAll(spec, source.column)) await markAll(source, spec, signal);
  const version = await source.table.version({ signal });
  emit({
    kind: 'succeeded',
    rows: computed + reused,
    reusedRows: reused,
    errors,
    skipped,
    bytesWritten,
    version,
  });
}

async function markAll({ table, column }: Source, { function: { hash } }: JobSpec, signal: AbortSignal): Promise<void> {
  try {
    await markValues(table, column, hash, signal);
  } catch (error) {
    // Some servers can't store field metadata. Without the hash, stale values can't be detected, but no value is wrong.
    if (!isCatalogError(error, 'Unsupported')) throw error;
  }
}
