import type { Field } from '#arrow';
import { isCatalogError } from '#shared/errors.ts';
import type { RowError } from '#shared/jobs/jobEvents.ts';
import { markValues } from '#jobs/definition/registration.ts';
import { valuesKey } from '#jobs/definition/storedFunction.ts';
import type { JobSpec } from '#jobs/jobSpec.ts';
import type { RunContext } from '#jobs/runners/runner.ts';
import { answerRows, type AnsweredRows, type AnswerRequest } from './answers.ts';
import { Checkpoints } from './checkpoints/checkpoints.ts';
import { ChunkWriter } from './checkpoints/chunkWriter.ts';
import { FolderStore } from './checkpoints/folderStore.ts';
import { takeLease, type Lease } from './checkpoints/lease.ts';
import { openBesideTable } from './checkpoints/openStore.ts';
import { PendingMerges } from './checkpoints/pendingMerge.ts';
import { openComputing } from './openComputing.ts';
import { findKey } from './keyColumn.ts';
import { KeyIndex } from './keyIndex.ts';
import { Reusable } from './reusable.ts';
import { bytesOf, rowStates, type ComputedRows } from './rows.ts';
import { countScope, type ScopeCount } from './scopeCount.ts';
import { scopeOf } from './scope.ts';
import { openSource, type Source } from './source.ts';
import { secondsSince, Tally } from './tally.ts';
import { WriteBack } from './writeBack.ts';

/** What waits to be written in one version at most, in bytes. A merge has all of its rows in memory. */
const mostBytes = 256 * 2 ** 20;

/** Rows that a worker gets at a time: few enough that all have some, and that progress is seen. */
const mostRows = 1024;

/** All that a run goes by, once it has found out what there is to do. */
type Run = {
  readonly context: RunContext;
  readonly source: Source;
  readonly lease: Lease | undefined;
  readonly answers: AnswerRequest;
  readonly count: ScopeCount;
  readonly chunks: ChunkWriter;
  readonly back: WriteBack;
  readonly tally: Tally;
};

/**
 * Fills a column through the catalog: reads the rows at one version, computes them, keeps what was computed, and writes
 * it back by a key. Works wherever tables can be read and merged into; needs no access to their files.
 * @throws JobError, CatalogError; the signal's reason when it was cancelled
 */
export async function runLocal(context: RunContext): Promise<void> {
  const { spec, request, signal, emit } = context;
  await using source = await openSource(request.table, { ...spec, function: undefined }, signal);
  using opened = await openBesideTable(request.table, spec.table);
  const store = opened.isBesideTable ? opened.store : new FolderStore(context.folder);
  const notice = (text: string): void => emit({ kind: 'notice', text });
  await using lease = opened.isBesideTable ? await takeLease(store, { spec, notice, signal }) : undefined;
  const key = await findKey(source.pinned, request.key, spec.column, signal);
  notice(`Rows are written back by "${key.name}": ${key.reason}.`);
  const scope = scopeOf(spec);
  const { inputs } = spec.function;
  const count = await countScope(source.pinned, scope, spec.numFrags, signal);
  const checkpoints = new Checkpoints(store, spec, source.column);
  const reusing = { table: source.pinned, readVersion: source.readVersion, scope, inputs, openAt: source.openAt };
  const reusable = await Reusable.find(checkpoints, reusing, signal);
  tellPlan(context, source, count, reusable);
  using tally = new Tally(inputs, emit);
  await using computing = await openComputing({
    ...spec,
    ...context,
    ...source,
    onError: request.onError ?? spec.function.onError,
    batchRows: Math.min(spec.checkpointSize, spec.taskSize ?? mostRows, mostRows),
    key: key.name,
    onBusy: (seconds) => void (tally.computeSeconds += seconds),
  });
  const keyField = (await source.table.schema({ signal })).fields.find(({ name }) => name === key.name)!;
  const index = new KeyIndex(source.table, key.name, (version) => back.isOwn(version));
  const back: WriteBack = new WriteBack(
    {
      ...source,
      key: keyField,
      inputs,
      scope,
      isDefaultScope: spec.where === undefined,
      index,
      pending: new PendingMerges(store, `${checkpoints.path}/merge.pending`, keyField, source.column),
      compute: (rows, version) => computing.again(rows, version),
      emit,
    },
    source.readVersion,
  );
  const header = {
    jobId: spec.jobId,
    functionHash: spec.function.hash,
    column: spec.column,
    where: spec.where ?? null,
  };
  const chunks = new ChunkWriter(checkpoints, { ...header, readVersion: source.readVersion }, spec.checkpointSize);
  const answers = { table: source.pinned, scope, inputs, key: key.name, to: count.end, reusable, ...computing.request };
  let othersWrote: boolean;
  try {
    await back.settle(signal);
    await fill({ context, source, lease, answers, count, chunks, back, tally }, signal);
    othersWrote = await back.othersWrote(signal);
  } catch (error) {
    throw store.reasonOf(error);
  } finally {
    // Cancelled or not, what was put on the table goes from it.
    await index
      .leave(AbortSignal.timeout(60_000))
      .catch((error: unknown) => context.log(`The index stays: ${String(error)}\n`));
  }
  const fragments = new Set(count.fragments.keys());
  await finish(context, source, { tally, back, othersWrote, checkpoints, fragments });
}

function tellPlan({ emit }: RunContext, source: Source, count: ScopeCount, reusable: Reusable): void {
  emit({
    kind: 'planned',
    readVersion: source.readVersion,
    fragments: count.fragments.size,
    rows: count.rows,
    committedFragments: 0,
    checkpointedFragments: 0,
    reusedRows: reusable.rows,
  });
}

/** Rows of fragments that are computed and not yet in the table. */
type Group = { rows: ComputedRows[]; fragments: number[]; bytes: number };
const newGroup = (): Group => ({ rows: [], fragments: [], bytes: 0 });

/** What rows take while they wait: of a column of flags that is their keys, addresses and hashes, not their values. */
const bytesAtOnce = ({ value, key, addresses }: ComputedRows): number =>
  bytesOf(value) + (key ? bytesOf(key) : 0) + 17 * addresses.length;

/** Computes all rows and writes them back. */
async function fill(run: Run, signal: AbortSignal): Promise<void> {
  const { chunks, tally, context } = run;
  let group = newGroup();
  let current: FragmentTally | undefined;
  const commit = async (): Promise<void> => {
    if (group.rows.length === 0) return;
    await run.lease?.check();
    const start = performance.now();
    const version = await run.back.commit(group.rows, signal);
    tally.writeSeconds += secondsSince(start);
    context.emit({ kind: 'committed', fragments: group.fragments, version, milliseconds: performance.now() - start });
    group = newGroup();
  };
  try {
    for await (const answer of answerRows(run.answers, signal)) {
      const { fragment } = answer.rows;
      current ??= new FragmentTally(fragment);
      if (answer.isReused) await chunks.flush();
      else await chunks.add(answer);
      tally.add(answer, current.samples);
      current.add(answer);
      if (group.fragments.at(-1) !== fragment) group.fragments.push(fragment);
      group.rows.push(answer.rows);
      group.bytes += bytesAtOnce(answer.rows);
      // Counted before: who waits for rows of the next one might wait for long.
      const isDone = current.rows === run.count.fragments.get(fragment);
      if (isDone) {
        await chunks.flush();
        current.tell(context.emit);
        current = undefined;
      }
      if (group.bytes >= mostBytes || (isDone && group.fragments.length >= context.spec.commitGranularity))
        await commit();
    }
  } finally {
    // Also of a run that failed or was cancelled: what was computed stays.
    await chunks.flush();
    tally.tell();
  }
  await commit();
}

/** What is told of a fragment when it is done. */
class FragmentTally {
  readonly fragment: number;
  readonly samples: RowError[] = [];
  #computed = 0;
  #reused = 0;
  #bytes = 0;
  #errors = 0;
  readonly #start = performance.now();

  constructor(fragment: number) {
    this.fragment = fragment;
  }

  get rows(): number {
    return this.#computed + this.#reused;
  }

  add({ rows, isReused }: AnsweredRows): void {
    if (isReused) this.#reused += rows.addresses.length;
    else this.#computed += rows.addresses.length;
    this.#bytes += bytesOf(rows.value);
    if (!isReused) this.#errors += rows.states.filter((state) => state !== rowStates.computed).length;
  }

  tell(emit: RunContext['emit']): void {
    const { fragment, samples } = this;
    if (this.#errors > 0) emit({ kind: 'errors', count: this.#errors, samples });
    const seconds = secondsSince(this.#start);
    const counts = { computedRows: this.#computed, reusedRows: this.#reused, bytesWritten: this.#bytes };
    emit({ kind: 'fragment', fragment, ...counts, seconds });
  }
}

type Filled = {
  readonly tally: Tally;
  readonly back: WriteBack;
  readonly othersWrote: boolean;
  readonly checkpoints: Checkpoints;
  /** Those that were to be computed. */
  readonly fragments: ReadonlySet<number>;
};

async function finish({ spec, emit, signal }: RunContext, source: Source, filled: Filled): Promise<void> {
  const { tally, back, othersWrote, checkpoints, fragments } = filled;
  const { computed, reused, errors, skipped } = tally;
  if (othersWrote) {
    const text = 'Others wrote to the table meanwhile: rows that they added are left for the next run.';
    emit({ kind: 'notice', text });
  }
  const isAll = spec.numFrags === undefined && skipped === 0;
  // Of other fragments a run that was cancelled may have left some.
  if (skipped === 0) await checkpoints.clear(spec.numFrags === undefined ? undefined : fragments, signal);
  if (isAll && !othersWrote && madeAll(spec, source.column)) await markAll(source, spec, signal);
  emit({
    kind: 'succeeded',
    rows: computed + reused,
    errors,
    skipped,
    bytesWritten: back.bytesWritten,
    version: await source.table.version({ signal }),
  });
}

/** Whether all values are of this function now: rows that had one may have it of an earlier version. */
function madeAll({ where, function: { hash } }: JobSpec, { metadata }: Field): boolean {
  if (where !== undefined) return /^\s*true\s*$/i.test(where);
  const made = metadata.get(valuesKey);
  return made === undefined || made === hash;
}

async function markAll({ table, column }: Source, { function: { hash } }: JobSpec, signal: AbortSignal): Promise<void> {
  if (column.metadata.get(valuesKey) === hash) return;
  try {
    await markValues(table, column.name, hash, signal);
  } catch (error) {
    // A server without a place for it: nobody can be told that values are stale there, and no value is wrong for it.
    if (!isCatalogError(error, 'Unsupported')) throw error;
  }
}
