import { fragmentsPerCommit } from '#jobs/jobSpec.ts';
import type { RunContext } from '#jobs/runners/runner.ts';
import type { RowError } from '#shared/jobs/jobEvents.ts';
import { computeScannedRows, type ScannedRows, type AnswerRequest } from './answers.ts';
import type { ChunkWriter } from '#jobs/local/checkpoints/chunkWriter.ts';
import type { Lease } from '#jobs/local/checkpoints/lease.ts';
import { bytesOf, rowStates, type ComputedRows } from './rows.ts';
import type { ScopeCount } from './scopeCount.ts';
import { secondsSince, type ProgressReporter } from './progressReporter.ts';
import type { WriteBack } from './writeBack.ts';

/** Pending rows are written when they reach this number of bytes, because a merge holds all its rows in memory. */
export const mostBytesPerCommit = 256 * 2 ** 20;
/** Bytes of the address, hash and state of a pending row. */
export const pendingBytesPerRow = 17;

type Filling = {
  readonly context: RunContext;
  readonly lease: Lease | undefined;
  readonly answers: AnswerRequest;
  readonly count: ScopeCount;
  readonly chunks: ChunkWriter;
  readonly back: WriteBack;
  readonly tally: ProgressReporter;
};

/** Computed rows that are not yet in the table. */
type Group = { rows: ComputedRows[]; fragments: number[]; bytes: number };
const newGroup = (): Group => ({ rows: [], fragments: [], bytes: 0 });

/**
 * Returns the memory of pending rows. Keys, addresses, hashes and states count too: for booleans they need more memory
 * than the values.
 */
const bytesAtOnce = ({ value, key, addresses }: ComputedRows): number =>
  bytesOf(value) + (key ? bytesOf(key) : 0) + pendingBytesPerRow * addresses.length;

/** Computes the counted rows and writes them back. */
export async function fillRows(run: Filling, signal: AbortSignal): Promise<void> {
  const { chunks, tally, context } = run;
  const granularity = fragmentsPerCommit(context.spec, run.count.fragments.size);
  let group = newGroup();
  let current: FragmentTally | undefined;
  const commit = async (): Promise<void> => {
    if (group.rows.length === 0) return;
    await run.lease?.check();
    const rows = group.rows.reduce((total, { addresses }) => total + addresses.length, 0);
    // The progress before this step is sent first, because the step may take long.
    tally.tell();
    context.emit({ kind: 'writing', rows });
    const start = performance.now();
    const version = await run.back.commit(group.rows, signal);
    tally.writeSeconds += secondsSince(start);
    const milliseconds = performance.now() - start;
    context.emit({ kind: 'committed', fragments: group.fragments, version, milliseconds, rows });
    group = newGroup();
  };
  try {
    for await (const answer of computeScannedRows(run.answers, signal)) {
      const { fragment } = answer.rows;
      current ??= new FragmentTally(fragment);
      if (answer.isReused) await chunks.flush();
      else await chunks.add(answer);
      tally.add(answer, current.samples);
      current.add(answer);
      if (group.fragments.at(-1) !== fragment) group.fragments.push(fragment);
      group.rows.push(answer.rows);
      group.bytes += bytesAtOnce(answer.rows);
      // A fragment is complete when its row count is reached. The first row of the next fragment is not awaited,
      // because it may take long.
      const isDone = current.rows === run.count.fragments.get(fragment);
      if (isDone) {
        await chunks.flush();
        current.tell(context.emit);
        current = undefined;
      }
      if (group.bytes >= mostBytesPerCommit || (isDone && group.fragments.length >= granularity)) await commit();
    }
  } finally {
    // Results are stored even after a failure or a cancellation.
    await chunks.flush();
    tally.tell();
  }
  await commit();
}

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

  add({ rows, isReused }: ScannedRows): void {
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
