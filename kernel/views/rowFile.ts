import { type RecordBatch, type Schema, Table, tableFromIPC, tableToIPC } from '#arrow';
import type { ExportedRows } from '#catalog/export/exportFormats.ts';
import { CatalogError, isCatalogError, messageOf } from '#shared/errors.ts';
import { SpillFile } from '#processes/spillFile.ts';

/** Where a batch is: its first row, and its Arrow stream in the file. */
type Entry = { firstRow: number; rows: number; position: number; length: number };

/** Number of decoded batches that are kept, because the next page is usually in the same batch. */
const maxDecoded = 2;

/**
 * Rows in a temporary file, so that a result of any size needs little memory.
 */
export class RowFile {
  readonly schema: Schema;
  readonly #file: SpillFile;
  readonly #entries: Entry[] = [];
  /** The last batches that were read, by the index of their entry. */
  readonly #decoded = new Map<number, Promise<Table>>();
  #rows = 0;
  #bytes = 0;

  private constructor(schema: Schema, file: SpillFile) {
    this.schema = schema;
    this.#file = file;
  }

  /** @throws CatalogError ServiceUnavailable (17) if the file can't be created */
  static async create(schema: Schema): Promise<RowFile> {
    try {
      return new RowFile(schema, await SpillFile.create());
    } catch (cause) {
      throw unwritable(cause);
    }
  }

  /** The number of rows that can be read. */
  get rows(): number {
    return this.#rows;
  }

  /** The size of the file. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Appends a batch. Call it again only when the last call has ended. @throws CatalogError ServiceUnavailable (17) */
  async append(batch: RecordBatch): Promise<void> {
    if (batch.numRows === 0) return;
    const bytes = tableToIPC(new Table([batch]), 'stream');
    try {
      await this.#file.write(bytes, this.#bytes);
    } catch (cause) {
      throw unwritable(cause);
    }
    this.#entries.push({ firstRow: this.#rows, rows: batch.numRows, position: this.#bytes, length: bytes.length });
    this.#bytes += bytes.length;
    this.#rows += batch.numRows;
  }

  /**
   * Returns rows [start, end) as an Arrow stream, of all columns or of some.
   * @throws CatalogError InvalidInput (13) if a row is not there
   */
  async read(start: number, end: number, columns?: readonly string[]): Promise<Uint8Array> {
    if (start > end || end > this.#rows)
      throw new CatalogError('InvalidInput', `The result has no rows ${start} to ${end}.`, 'Run the query again.');
    const batches: RecordBatch[] = [];
    for (let index = this.#entryAt(start); index < this.#entries.length; index++) {
      const { firstRow, rows } = this.#entries[index]!;
      if (firstRow >= end) break;
      const table = await this.#batch(index);
      batches.push(...table.slice(Math.max(start - firstRow, 0), Math.min(end - firstRow, rows)).batches);
    }
    // Each batch of the file has a separate schema, which is equal but not the same object.
    const rows = batches.length > 0 ? new Table(batches) : new Table(this.schema);
    return tableToIPC(columns ? rows.select([...columns]) : rows, 'stream');
  }

  /** Reads rows [start, end) in batches, of all columns or of some, so that memory does not grow with them. */
  batches(start: number, end: number, columns?: readonly string[]): ExportedRows {
    const schema = columns ? this.schema.select([...columns]) : this.schema;
    return { schema, batches: this.#readBatches(start, end, schema) };
  }

  async *#readBatches(start: number, end: number, schema: Schema): AsyncGenerator<RecordBatch, void, undefined> {
    const names = schema.fields.map(({ name }) => name);
    for (let index = this.#entryAt(start); index < this.#entries.length; index++) {
      const { firstRow, rows } = this.#entries[index]!;
      if (firstRow >= end) break;
      const table = await this.#decode(this.#entries[index]!);
      yield* table.slice(Math.max(start - firstRow, 0), Math.min(end - firstRow, rows)).select(names).batches;
    }
  }

  async close(): Promise<void> {
    this.#decoded.clear();
    await this.#file.close();
  }

  /** Returns the index of the entry with a row, by bisection. */
  #entryAt(row: number): number {
    let [low, high] = [0, this.#entries.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#entries[middle]!.firstRow <= row) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #batch(index: number): Promise<Table> {
    const table = this.#decoded.get(index) ?? this.#decode(this.#entries[index]!);
    // The batch that was used last is the last one of the map.
    this.#decoded.delete(index);
    this.#decoded.set(index, table);
    table.catch(() => this.#decoded.delete(index));
    for (const oldest of this.#decoded.keys()) if (this.#decoded.size > maxDecoded) this.#decoded.delete(oldest);
    return table;
  }

  async #decode({ position, length }: Entry): Promise<Table> {
    const bytes = new Uint8Array(length);
    await this.#file.read(bytes, position);
    return tableFromIPC(bytes);
  }
}

const unwritable = (cause: unknown): unknown =>
  isCatalogError(cause)
    ? cause
    : new CatalogError(
        'ServiceUnavailable',
        `Can't write the rows of the result to a temporary file: ${messageOf(cause)}.`,
        'Free space in the folder for temporary files, or add a limit to the query.',
        { cause },
      );
