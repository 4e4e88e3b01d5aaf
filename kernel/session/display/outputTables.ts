import { randomUUID } from 'node:crypto';
import { type RecordBatch, Table as ArrowTable, tableToIPC } from '#arrow';
import { Query } from '#catalog/query/query.ts';
import { placeOfTable } from '#catalog/tableReference.ts';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import type { OutputRowsRequest, OutputTable, OutputTableRequest } from '#shared/protocol/outputTables.ts';
import { withSmallDictionaries } from './smallDictionaries.ts';
import { arrowTable, isCatalogTable } from './typeGuards.ts';

/** Bytes of tables that are kept although no variable holds them any more. The oldest are given up first. */
const maxBytes = 256 * 1024 * 1024;
/** Bytes that are read of a query whose output has only the first rows. */
const maxQueryBytes = 256 * 1024 * 1024;
const maxOutputs = 10_000;

/** A table that is completely in memory. */
type Rows = { readonly table: ArrowTable; readonly isCut: boolean; readonly isReadAgain: boolean };

/** The value of an output. A value that is given up is still found as long as a variable holds it. */
type Kept = {
  readonly value: WeakRef<object>;
  strong: object | undefined;
  bytes: number;
  /** The rows of a query or a catalog table, once they were read. */
  read?: Promise<Rows> | undefined;
};

/** The tables that outputs show, for a user who opens all of their rows in a panel. */
export class OutputTables {
  /** Whether the client can show tables in a panel. */
  isKeeping = false;
  readonly #outputs = new Map<string, Kept>();
  readonly #maxBytes: number;

  constructor(limit = maxBytes) {
    this.#maxBytes = limit;
  }

  /** Keeps the value of an output. @returns the id of the output; undefined if the client has no panels */
  keep(value: object): string | undefined {
    if (!this.isKeeping) return undefined;
    const id = randomUUID();
    this.#outputs.set(id, { value: new WeakRef(value), strong: value, bytes: bytesOf(value) });
    this.#evict();
    return id;
  }

  /** Gives the table of one output to another one, which shows it now. An output without a table has none then. */
  move(from: string | undefined, to: string): void {
    const kept = from === undefined ? undefined : this.#outputs.get(from);
    if (from !== undefined) this.#outputs.delete(from);
    this.#outputs.delete(to);
    if (kept) this.#outputs.set(to, kept);
  }

  /** Returns the table of an output; null if it is no longer known. @throws CatalogError if it can't be read */
  async find(
    { output, hasRows }: OutputTableRequest,
    variableOf: (value: object) => string | undefined,
  ): Promise<OutputTable | null> {
    const kept = this.#outputs.get(output);
    const value = kept && (kept.strong ?? kept.value.deref());
    if (!kept || !value) return null;
    if (!hasRows && isCatalogTable(value)) {
      const place = await placeOfTable(value);
      if (place) return { kind: 'catalog', table: place };
    }
    const { table, isCut, isReadAgain } = await this.#rows(kept, value);
    return {
      kind: 'rows',
      variable: variableOf(value) ?? null,
      columns: columnsOf(table.schema),
      numRows: table.numRows,
      isCut,
      isReadAgain,
    };
  }

  /** Returns rows of an output as an Arrow stream; null if they are no longer known. */
  async rows({ output, start, end, columns }: OutputRowsRequest): Promise<Uint8Array | null> {
    const kept = this.#outputs.get(output);
    const value = kept && (kept.strong ?? kept.value.deref());
    if (!kept || !value) return null;
    const { table } = await this.#rows(kept, value);
    const part = table.slice(start, end);
    return tableToIPC(withSmallDictionaries(columns ? part.select([...columns]) : part), 'stream');
  }

  async #rows(kept: Kept, value: object): Promise<Rows> {
    const query = value instanceof Query ? value : isCatalogTable(value) ? value.query() : undefined;
    if (!query) return { table: arrowTable(value)!, isCut: false, isReadAgain: false };
    const reading = (kept.read ??= readQuery(query));
    try {
      const rows = await reading;
      kept.bytes = bytesOf(rows.table);
      return rows;
    } catch (error) {
      if (kept.read === reading) kept.read = undefined;
      throw error;
    }
  }

  #evict(): void {
    let bytes = 0;
    let outputs = 0;
    for (const [id, kept] of Array.from(this.#outputs).toReversed()) {
      if (++outputs > maxOutputs) this.#outputs.delete(id);
      if (!kept.strong) continue;
      bytes += kept.bytes;
      if (bytes <= this.#maxBytes) continue;
      kept.strong = undefined;
      kept.read = undefined;
      kept.bytes = 0;
    }
  }
}

async function readQuery(query: Query): Promise<Rows> {
  const { schema, batches } = await query.execute();
  const all: RecordBatch[] = [];
  let bytes = 0;
  for await (const batch of batches) {
    all.push(batch);
    bytes += batch.data.byteLength;
    if (bytes > maxQueryBytes) return { table: new ArrowTable(schema, all), isCut: true, isReadAgain: true };
  }
  return { table: new ArrowTable(schema, all), isCut: false, isReadAgain: true };
}

/** Returns about how much memory a table takes. Queries and tables of catalogs are small until they are read. */
function bytesOf(value: object): number {
  if (value instanceof Query || isCatalogTable(value)) return 0;
  return arrowTable(value)?.batches.reduce((sum, { data }) => sum + data.byteLength, 0) ?? 0;
}

/** The tables of this kernel's outputs. */
export const outputTables = new OutputTables();
