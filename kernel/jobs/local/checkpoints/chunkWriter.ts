import type { Data } from '#arrow';
import type { AnsweredRows } from '#jobs/local/answers.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { ChunkHeader } from './chunkFile.ts';
import { placeOf } from '#jobs/local/rows.ts';

type Pending = {
  fragment: number;
  rows: number;
  addresses: BigUint64Array[];
  values: Data[];
  errors: (readonly (string | null)[])[];
  states: Uint8Array[];
};

/** Keeps rows that were computed, so many at a time. */
export class ChunkWriter {
  readonly #checkpoints: Checkpoints;
  readonly #header: Omit<ChunkHeader, 'fragment' | 'first' | 'rows'>;
  readonly #size: number;
  #pending: Pending | undefined;

  /** @param size rows after which they are kept */
  constructor(checkpoints: Checkpoints, header: Omit<ChunkHeader, 'fragment' | 'first' | 'rows'>, size: number) {
    this.#checkpoints = checkpoints;
    this.#header = header;
    this.#size = size;
  }

  /** Takes rows that follow those before. @throws JobError StorageFull, StorageFailed */
  async add({ rows, errors }: AnsweredRows): Promise<void> {
    if (this.#pending && this.#pending.fragment !== rows.fragment) await this.flush();
    const pending = (this.#pending ??= {
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
    if (pending.rows >= this.#size) await this.flush();
  }

  /** Keeps what is there: at the end, and before rows that another chunk has, so that none covers rows it does not hold. */
  async flush(): Promise<void> {
    const pending = this.#pending;
    this.#pending = undefined;
    if (!pending) return;
    const first = placeOf(pending.addresses[0]![0]!);
    const last = placeOf(pending.addresses.at(-1)!.at(-1)!);
    await this.#checkpoints.write(
      { ...this.#header, fragment: pending.fragment, first, rows: last - first + 1 },
      pending,
    );
  }
}
