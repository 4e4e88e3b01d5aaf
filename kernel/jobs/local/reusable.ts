import type { Data } from '#arrow';
import { isCatalogError } from '#shared/errors.ts';
import type { Table } from '#catalog/table/table.ts';
import type { Checkpoints, ChunkName } from '#jobs/local/checkpoints/checkpoints.ts';
import type { Chunk, ChunkPiece } from '#jobs/local/checkpoints/chunkFile.ts';
import { firstAddress, hashesOf, rowStates } from './rows.ts';
import { scanRows } from './scanRows.ts';

/** `openAt` opens the table at the version at which the inputs of a chunk were read. */
type ReuseSource = {
  readonly table: Table;
  readonly readVersion: number;
  readonly scope: string;
  readonly inputs: readonly string[];
  readonly openAt: (version: number) => Promise<Table>;
};

/** Reusable rows of one fragment. */
export class ReusableRows {
  readonly #pieces: readonly ValidPiece[];
  /** Locations by row address. A map is needed, because a slow function leaves many pieces of few rows. */
  readonly #places = new Map<bigint, number>();

  constructor(pieces: readonly ValidPiece[]) {
    this.#pieces = pieces;
    for (const [index, { piece, isValid }] of pieces.entries())
      for (const [row, address] of piece.addresses.entries())
        if (isValid[row] === 1) this.#places.set(address, index * perPiece + row);
  }

  /** Returns the location of a value, or -1. Consecutive rows of a piece have consecutive locations. */
  find(address: bigint): number {
    return this.#places.get(address) ?? -1;
  }

  /** Returns `length` rows from a location that `find` returned. */
  take(found: number, length: number): { value: Data; states: Uint8Array } {
    const { piece } = this.#pieces[Math.floor(found / perPiece)]!;
    const row = found % perPiece;
    return { value: piece.value.slice(row, length), states: piece.states.subarray(row, row + length) };
  }
}

const perPiece = 2 ** 32;

type ValidPiece = { readonly piece: ChunkPiece; readonly isValid: Uint8Array };

/** Flags of the valid rows of each piece. */
type ValidChunk = { readonly name: ChunkName; readonly isValid: readonly Uint8Array[] };
type ValidChunks = ReadonlyMap<number, readonly ValidChunk[]>;

/** Results of earlier runs, with any runner, that this run can reuse. */
export class Reusable {
  readonly rows: number;
  readonly #checkpoints: Checkpoints;
  readonly #valid: ValidChunks;

  private constructor(checkpoints: Checkpoints, valid: ValidChunks, rows: number) {
    this.#checkpoints = checkpoints;
    this.#valid = valid;
    this.rows = rows;
  }

  /**
   * Checks all chunks. A row is valid if it is in scope, and if its inputs are equal in the version of the chunk and in
   * the version of this run.
   */
  static async find(checkpoints: Checkpoints, source: ReuseSource, signal: AbortSignal): Promise<Reusable> {
    const valid = new Map<number, ValidChunk[]>();
    let rows = 0;
    for (const [fragment, names] of byFragment(await checkpoints.list(signal))) {
      let now: ReadonlyMap<bigint, bigint> | undefined;
      const taken = new Set<bigint>();
      const kept: ValidChunk[] = [];
      for (const name of names) {
        const chunk = await checkpoints.read(name, signal);
        if (!chunk || chunk.fragment !== fragment) continue;
        now ??= await hashesAt(source.table, source, source.scope, fragment, signal);
        const then = chunk.readVersion === source.readVersion ? now : await earlier(source, chunk, signal);
        if (!then) continue;
        const holds = (address: bigint, state: number): boolean => {
          const hash = now?.get(address);
          if (hash === undefined || hash !== then.get(address) || state === rowStates.skipped) return false;
          if (state === rowStates.threw && !checkpoints.countsFailed(chunk)) return false;
          return !taken.has(address);
        };
        const isValid = chunk.pieces.map(({ addresses, states }) => {
          const flags = new Uint8Array(addresses.length);
          addresses.forEach((address, row) => {
            if (!holds(address, states[row]!)) return;
            taken.add(address);
            flags[row] = 1;
          });
          return flags;
        });
        kept.push({ name, isValid });
      }
      rows += taken.size;
      if (taken.size > 0) valid.set(fragment, kept);
    }
    return new Reusable(checkpoints, valid, rows);
  }

  async of(fragment: number, signal: AbortSignal): Promise<ReusableRows> {
    const pieces: ValidPiece[] = [];
    for (const { name, isValid } of this.#valid.get(fragment) ?? []) {
      const chunk = await this.#checkpoints.read(name, signal);
      chunk?.pieces.forEach((piece, index) => pieces.push({ piece, isValid: isValid[index]! }));
    }
    return new ReusableRows(pieces);
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
    // The version of the chunk no longer exists, so the inputs of its rows are unknown.
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
