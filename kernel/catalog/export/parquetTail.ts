/** Bytes at the end of a file that contain the metadata of all but extreme files. */
const tailBytes = 16 * 2 ** 20;

/** The end of a Parquet file that is being written, from which the number of rows in its metadata is read. */
export class ParquetTail {
  #chunks: Uint8Array[] = [];
  #length = 0;

  add(bytes: Uint8Array): void {
    this.#chunks.push(bytes);
    this.#length += bytes.length;
    for (let first = this.#chunks[0]!; this.#length - first.length >= tailBytes; first = this.#chunks[0]!) {
      this.#chunks.shift();
      this.#length -= first.length;
    }
  }

  /**
   * Returns the number of rows in the metadata; undefined if the metadata starts before the kept bytes.
   * @throws RangeError if the metadata is incomplete
   */
  readRowCount(): number | undefined {
    const bytes = Buffer.concat(this.#chunks);
    // A file ends with the metadata, the length of the metadata in 4 bytes, and 4 magic bytes.
    const end = bytes.length - 8;
    const start = end < 4 ? -1 : end - bytes.readUInt32LE(end);
    if (start < 0) return undefined;
    const count = new CompactReader(bytes.subarray(start, end)).findInteger(rowCountField);
    if (count === undefined) throw new RangeError('The metadata of the Parquet file has no number of rows.');
    return count;
  }
}

/** The id of `num_rows` in the struct FileMetaData of parquet.thrift. */
const rowCountField = 3;

/** The types of the Thrift compact protocol. */
const types = {
  stop: 0,
  true: 1,
  false: 2,
  byte: 3,
  i16: 4,
  i32: 5,
  i64: 6,
  double: 7,
  binary: 8,
  list: 9,
  set: 10,
  map: 11,
  struct: 12,
} as const;

/** Reads a struct of the Thrift compact protocol. */
class CompactReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Returns the 64-bit integer in a field of the struct. */
  findInteger(wanted: number): number | undefined {
    let id = 0;
    for (let header = this.#byte(); (header & 15) !== types.stop; header = this.#byte()) {
      id = header >> 4 === 0 ? this.#integer() : id + (header >> 4);
      if (id === wanted && (header & 15) === types.i64) return this.#integer();
      this.#skip(header & 15);
    }
    return undefined;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new RangeError('The metadata of the Parquet file is cut off.');
    return byte;
  }

  #unsigned(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  /** Reads an integer whose last bit is its sign. */
  #integer(): number {
    const value = this.#unsigned();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  #skipBytes(count: number): void {
    this.#at += count;
  }

  /** Skips a value. A boolean is part of the header of its field, but an element of a list has its own byte. */
  #skip(type: number, isElement = false): void {
    if (type === types.true || type === types.false) this.#skipBytes(isElement ? 1 : 0);
    else if (type === types.byte) this.#skipBytes(1);
    else if (type >= types.i16 && type <= types.i64) this.#unsigned();
    else if (type === types.double) this.#skipBytes(8);
    else if (type === types.binary) this.#skipBytes(this.#unsigned());
    else if (type === types.list || type === types.set) {
      const header = this.#byte();
      const size = header >> 4 === 15 ? this.#unsigned() : header >> 4;
      for (let item = 0; item < size; item++) this.#skip(header & 15, true);
    } else if (type === types.map) {
      const size = this.#unsigned();
      const pair = size === 0 ? 0 : this.#byte();
      for (let item = 0; item < size; item++) {
        this.#skip(pair >> 4, true);
        this.#skip(pair & 15, true);
      }
    } else this.findInteger(0);
  }
}
