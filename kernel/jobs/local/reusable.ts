import type { Data } from '#arrow';
import { isCatalogError } from '#shared/errors.ts';
import type { Table } from '#client/table.ts';
import type { CheckpointFolder, ChunkName } from './checkpointFolder.ts';
import type { Chunk } from './chunkFile.ts';
import { firstAddress, hashesOf, rowStates } from './rows.ts';
import { scanRows } from './scanRows.ts';

/** The table at the version that is computed now, and a way to those that chunks were made at. */
export type ReuseSource = {
  readonly table: Table;
  readonly readVersion: number;
  readonly scope: string;
  readonly inputs: readonly string[];
  readonly openAt: (version: number) => Promise<Table>;
};

/** Rows of chunks that still hold, of one fragment. */
export class ReusableRows {
  readonly #chunks: readonly { readonly chunk: Chunk; readonly isValid: Uint8Array }[];

  constructor(chunks: readonly { readonly chunk: Chunk; readonly isValid: Uint8Array }[]) {
    this.#chunks = chunks;
  }

  /** Where the value of a row is: a number by which stretches of rows in one chunk are told, -1 where there is none. */
  find(address: bigint): number {
    for (const [index, { chunk, isValid }] of this.#chunks.entries()) {
      const row = indexOf(chunk.addresses, address);
      if (row >= 0 && isValid[row] === 1) return index * perChunk + row;
    }
    return -1;
  }

  /** Values and states of `length` rows from what `find` gave for the first one. */
  take(found: number, length: number): { value: Data; states: Uint8Array } {
    const { chunk } = this.#chunks[Math.floor(found / perChunk)]!;
    const row = found % perChunk;
    return { value: chunk.value.slice(row, length), states: chunk.states.subarray(row, row + length) };
  }
}

const perChunk = 2 ** 32;

type ValidChunks = ReadonlyMap<number, readonly { readonly name: ChunkName; readonly isValid: Uint8Array }[]>;

/** What chunks of an earlier run, by whichever runner, spare this one. */
export class Reusable {
  readonly rows: number;
  readonly #folder: CheckpointFolder;
  readonly #valid: ValidChunks;

  private constructor(folder: CheckpointFolder, valid: ValidChunks, rows: number) {
    this.#folder = folder;
    this.#valid = valid;
    this.rows = rows;
  }

  /**
   * Looks through the chunks. A row of one holds while it is in scope and what it was computed from is as it was then: both
   * versions are read and compared.
   */
  static async find(folder: CheckpointFolder, source: ReuseSource, signal: AbortSignal): Promise<Reusable> {
    const valid = new Map<number, { name: ChunkName; isValid: Uint8Array }[]>();
    let rows = 0;
    for (const [fragment, names] of byFragment(await folder.list())) {
      let now: ReadonlyMap<bigint, bigint> | undefined;
      const taken = new Set<bigint>();
      const kept: { name: ChunkName; isValid: Uint8Array }[] = [];
      for (const name of names) {
        const chunk = await folder.read(name);
        if (!chunk || chunk.fragment !== fragment) continue;
        now ??= await hashesAt(source.table, source, source.scope, fragment, signal);
        const then = chunk.readVersion === source.readVersion ? now : await earlier(source, chunk, signal);
        if (!then) continue;
        const isValid = new Uint8Array(chunk.addresses.length);
        chunk.addresses.forEach((address, row) => {
          const hash = now?.get(address);
          if (hash === undefined || hash !== then.get(address) || chunk.states[row] === rowStates.skipped) return;
          if (taken.has(address)) return;
          taken.add(address);
          isValid[row] = 1;
        });
        kept.push({ name, isValid });
      }
      rows += taken.size;
      if (taken.size > 0) valid.set(fragment, kept);
    }
    return new Reusable(folder, valid, rows);
  }

  /** Rows of a fragment that need not be computed. */
  async of(fragment: number): Promise<ReusableRows> {
    const chunks = await Promise.all(
      (this.#valid.get(fragment) ?? []).map(async ({ name, isValid }) => ({
        chunk: await this.#folder.read(name),
        isValid,
      })),
    );
    return new ReusableRows(chunks.flatMap(({ chunk, isValid }) => (chunk ? [{ chunk, isValid }] : [])));
  }
}

function byFragment(names: readonly ChunkName[]): Map<number, ChunkName[]> {
  const found = new Map<number, ChunkName[]>();
  for (const name of names) found.set(name.fragment, [...(found.get(name.fragment) ?? []), name]);
  return found;
}

async function earlier(
  source: ReuseSource,
  chunk: Chunk,
  signal: AbortSignal,
): Promise<Map<bigint, bigint> | undefined> {
  try {
    const table = await source.openAt(chunk.readVersion);
    return await hashesAt(table, source, 'TRUE', chunk.fragment, signal);
  } catch (error) {
    // Cleaned up since: nobody can say any more what was computed from.
    if (isCatalogError(error, 'VersionNotFound') || isCatalogError(error, 'ColumnNotFound')) return undefined;
    throw error;
  }
}

async function hashesAt(
  table: Table,
  { inputs }: ReuseSource,
  scope: string,
  fragment: number,
  signal: AbortSignal,
): Promise<Map<bigint, bigint>> {
  const found = new Map<bigint, bigint>();
  const [from, to] = [firstAddress(fragment), firstAddress(fragment + 1)];
  for await (const rows of scanRows({ table, scope, inputs, from, to }, signal)) {
    const hashes = hashesOf(rows.inputs, inputs);
    rows.addresses.forEach((address, row) => found.set(address, hashes[row]!));
  }
  return found;
}

/** The index of a number in an ascending list, -1 where it is not in it. */
function indexOf(sorted: BigUint64Array, wanted: bigint): number {
  let [low, high] = [0, sorted.length - 1];
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const value = sorted[middle]!;
    if (value === wanted) return middle;
    if (value < wanted) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
