import { IpcError } from './ipcError.ts';

/**
 * The bytes of one FlatBuffers message. Every read is checked against the end of the bytes. The generated code of Arrow
 * does not check: it treats bytes beyond the end as 0 and trusts the length of a vector, so that a few bytes could
 * cause a loop of hours.
 */
export class FlatBytes {
  readonly view: DataView;
  /**
   * Remaining bytes that may be read. Without this limit, tables that refer to the same child repeatedly would be read
   * forever.
   */
  #left: number;

  constructor(bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    // More bytes than the message has may be read, because writers may store a shared string or table once.
    this.#left = 4 * bytes.byteLength + 1024;
  }

  /** The table whose position is at the start of the bytes. */
  root(): FlatTable {
    return this.tableAt(this.view.getUint32(0, true));
  }

  tableAt(position: number): FlatTable {
    this.take(8);
    return new FlatTable(this, position);
  }

  take(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) throw new IpcError('invalid', 'The metadata of an Arrow message refers to itself.');
  }
}

/** A vector of a table: where its first element starts, and how many elements it has. */
type FlatVector = { readonly start: number; readonly length: number };

/** A table of a FlatBuffers message. Fields are named by their number in the schema of the format. */
export class FlatTable {
  readonly #bytes: FlatBytes;
  readonly #start: number;
  readonly #vtable: number;
  readonly #size: number;

  constructor(bytes: FlatBytes, start: number) {
    this.#bytes = bytes;
    this.#start = start;
    this.#vtable = start - bytes.view.getInt32(start, true);
    this.#size = bytes.view.getUint16(this.#vtable, true);
  }

  /** The position of a field; `undefined` if the table does not have it. */
  position(field: number): number | undefined {
    const slot = 4 + 2 * field;
    const offset = slot < this.#size ? this.#bytes.view.getUint16(this.#vtable + slot, true) : 0;
    return offset === 0 ? undefined : this.#start + offset;
  }

  byte(field: number): number {
    const at = this.position(field);
    return at === undefined ? 0 : this.#bytes.view.getUint8(at);
  }

  short(field: number, otherwise = 0): number {
    const at = this.position(field);
    return at === undefined ? otherwise : this.#bytes.view.getInt16(at, true);
  }

  int(field: number, otherwise = 0): number {
    const at = this.position(field);
    return at === undefined ? otherwise : this.#bytes.view.getInt32(at, true);
  }

  /** @throws IpcError if the number is not a safe integer */
  long(field: number): number {
    const at = this.position(field);
    return at === undefined ? 0 : readLong(this.#bytes.view, at);
  }

  table(field: number): FlatTable | undefined {
    const at = this.target(field);
    return at === undefined ? undefined : this.#bytes.tableAt(at);
  }

  /** @throws IpcError if the vector ends beyond the bytes */
  vector(field: number, elementBytes: number): FlatVector {
    const at = this.target(field);
    if (at === undefined) return { start: 0, length: 0 };
    const length = this.#bytes.view.getUint32(at, true);
    const start = at + 4;
    if (start + length * elementBytes > this.#bytes.view.byteLength)
      throw new IpcError('invalid', 'A list in the metadata of an Arrow message ends beyond the metadata.');
    this.#bytes.take(4 + length * elementBytes);
    return { start, length };
  }

  /** A vector of 32-bit integers. */
  ints(field: number): number[] {
    const { start, length } = this.vector(field, 4);
    return Array.from({ length }, (_, i) => this.#bytes.view.getInt32(start + 4 * i, true));
  }

  tables(field: number): FlatTable[] {
    const { start, length } = this.vector(field, 4);
    return Array.from({ length }, (_, i) => {
      const at = start + 4 * i;
      return this.#bytes.tableAt(at + this.#bytes.view.getUint32(at, true));
    });
  }

  string(field: number): string {
    const { start, length } = this.vector(field, 1);
    const { buffer, byteOffset } = this.#bytes.view;
    return new TextDecoder().decode(new Uint8Array(buffer, byteOffset + start, length));
  }

  /** The position to which the offset in a field refers. */
  target(field: number): number | undefined {
    const at = this.position(field);
    return at === undefined ? undefined : at + this.#bytes.view.getUint32(at, true);
  }
}

/** @throws IpcError if the number is not a safe integer */
export function readLong(view: DataView, at: number): number {
  const high = view.getInt32(at + 4, true);
  const value = high * 2 ** 32 + view.getUint32(at, true);
  if (Number.isSafeInteger(value)) return value;
  throw new IpcError('invalid', 'A number in the metadata of an Arrow message is too large.');
}
