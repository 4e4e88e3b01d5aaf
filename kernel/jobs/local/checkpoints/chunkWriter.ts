import type { Data } from '#arrow';
import type { ScannedRows } from '#jobs/local/answers.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { ChunkHeader } from './chunkFile.ts';
import { rowOffset } from '#jobs/local/rows.ts';

/** Maximum milliseconds between two chunks, even if there are few rows, as in the Python driver. */
const longest = 10_000;

type Pending = {
  since: number;
  fragment: number;
  rows: number;
  addresses: BigUint64Array[];
  values: Data[];
  errors: (readonly (string | null)[])[];
  states: Uint8Array[];
};

/** Writes computed rows as chunks, by number of rows and by time. */
export class ChunkWriter {
  readonly #checkpoints: Checkpoints;
  readonly #header: Omit<ChunkHeader, 'fragment' | 'first' | 'rows'>;
  readonly #size: number;
  readonly #now: () => number;
  #pending: Pending | undefined;

  /**
   * @param size rows of a chunk
   * @param now a clock in milliseconds
   */
  constructor(
    checkpoints: Checkpoints,
    header: Omit<ChunkHeader, 'fragment' | 'first' | 'rows'>,
    size: number,
    now = () => performance.now(),
  ) {
    this.#checkpoints = checkpoints;
    this.#header = header;
    this.#size = size;
    this.#now = now;
  }

  /** Adds rows that must follow the previous rows. @throws JobError StorageFull, StorageFailed */
  async add({ rows, errors }: ScannedRows): Promise<void> {
    if (this.#pending && this.#pending.fragment !== rows.fragment) await this.flush();
    const pending = (this.#pending ??= {
      since: this.#now(),
      fragment: rows.fragment,
      rows: 0,
      addresses: [],
      values: [],
      errors: [],
      states: [],
    });
    pending.rows += rows.addresses.length;
    pending.addresses.push(rows.addresses);
    pending.values.push(rows.value);
    pending.errors.push(errors);
    pending.states.push(rows.states);
    if (pending.rows >= this.#size || this.#now() - pending.since > longest) await this.flush();
  }

  /**
   * Writes the pending rows as a chunk. `fillRows` also calls this before it handles reused rows, so that the span of a
   * chunk never includes rows that the chunk does not hold.
   */
  async flush(): Promise<void> {
    const pending = this.#pending;
    this.#pending = undefined;
    if (!pending) return;
    const first = rowOffset(pending.addresses[0]![0]!);
    const last = rowOffset(pending.addresses.at(-1)!.at(-1)!);
    await this.#checkpoints.write(
      { ...this.#header, fragment: pending.fragment, first, rows: last - first + 1 },
      pending,
    );
  }
}
