import { readFile } from 'node:fs/promises';
import type { VersionInfo } from '#catalog/table/table.ts';

// Reads the manifest of one version: the message "Manifest" of the table format, without the schema and the indexes.
// The engine reports the details of a version only together with those of all other versions of the table.

/**
 * Reads the details of a version from its manifest, as the engine reports them.
 * @returns undefined if this can't be done here, for example because the file no longer exists; then the engine has to
 * read the versions
 */
export async function readVersionManifest(path: string): Promise<VersionInfo | undefined> {
  try {
    return parseManifest(await readFile(path));
  } catch {
    return undefined;
  }
}

const magic = Buffer.from('LANC');
/**
 * Size of the end of a file: the position of the manifest (8 bytes), two version numbers (2 bytes each) and the magic.
 */
const footerBytes = 16;

/** The first feature flag of readers that this code does not know. A later feature may change what is counted. */
const firstUnknownFlag = 1 << 6;

/** @throws RangeError if the file is not a manifest, or too new */
function parseManifest(file: Buffer): VersionInfo {
  const end = file.length - footerBytes;
  if (end < 0 || !file.subarray(-magic.length).equals(magic)) throw new RangeError('There is no footer.');
  const start = Number(file.readBigInt64LE(end)) + 4;
  if (file.readUInt32LE(start - 4) !== end - start) throw new RangeError('The length is wrong.');
  let version = 0;
  let milliseconds = 0;
  const totals = new Totals();
  for (const { field, value, bytes } of fieldsOf(file.subarray(start, end))) {
    if (field === 2) totals.addFragment(bytes);
    else if (field === 3) version = exact(value);
    else if (field === 7) milliseconds = millisecondsOf(bytes);
    else if (field === 9 && value >= firstUnknownFlag) throw new RangeError('The table has a later feature.');
  }
  return { version, timestamp: new Date(milliseconds), metadata: totals.metadata() };
}

/** What the engine counts in the fragments of a version. */
class Totals {
  #fragments = 0;
  #files = 0;
  #bytes = 0;
  #rows = 0;
  #deletionFiles = 0;
  #deletedRows = 0;

  addFragment(message: Buffer): void {
    let physicalRows = 0;
    let deleted: number | undefined;
    for (const { field, value, bytes } of fieldsOf(message)) {
      if (field === 2) this.#addFile(bytes);
      else if (field === 3) deleted = numberIn(bytes, 4);
      else if (field === 4) physicalRows = exact(value);
    }
    this.#fragments += 1;
    if (deleted !== undefined) this.#deletionFiles += 1;
    this.#deletedRows += deleted ?? 0;
    // If a deletion file does not report how many rows it deletes (0), the number of rows is unknown and counts as 0.
    if (physicalRows > 0 && deleted !== 0) this.#rows += physicalRows - (deleted ?? 0);
  }

  #addFile(message: Buffer): void {
    this.#files += 1;
    this.#bytes += numberIn(message, 6);
  }

  metadata(): Record<string, string> {
    return {
      total_data_file_rows: String(this.#rows + this.#deletedRows),
      total_data_files: String(this.#files),
      total_deletion_file_rows: String(this.#deletedRows),
      total_deletion_files: String(this.#deletionFiles),
      total_files_size: String(this.#bytes),
      total_fragments: String(this.#fragments),
      total_rows: String(this.#rows),
    };
  }
}

/** Converts a `google.protobuf.Timestamp`. */
const millisecondsOf = (message: Buffer): number =>
  numberIn(message, 1) * 1000 + Math.floor(numberIn(message, 2) / 1e6);

/** Returns a number of a message; 0 if it is missing, as the encoding specifies. */
function numberIn(message: Buffer, wanted: number): number {
  let found = 0;
  for (const { field, value } of fieldsOf(message)) if (field === wanted) found = exact(value);
  return found;
}

const none = Buffer.alloc(0);

/** @throws RangeError for a number that JavaScript can't represent */
function exact(value: number): number {
  if (Number.isSafeInteger(value)) return value;
  throw new RangeError('A number is too large.');
}

/** A field of a protobuf message: a number, which is not exact above 2^53, or bytes. */
type Field = { field: number; value: number; bytes: Buffer };

/** Yields the fields of a protobuf message. @throws RangeError if it is not one */
function* fieldsOf(message: Buffer): Generator<Field> {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; factor < 2 ** 70; factor *= 128) {
      const byte = message.readUInt8(at++);
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
    throw new RangeError('A number is too long.');
  };
  const take = (length: number): Buffer => {
    at += length;
    if (at > message.length) throw new RangeError('The message ends early.');
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const tag = varint();
    const field = Math.floor(tag / 8);
    const wire = tag % 8;
    if (wire === 0) yield { field, value: varint(), bytes: none };
    else if (wire === 1) take(8);
    else if (wire === 2) yield { field, value: 0, bytes: take(varint()) };
    else if (wire === 5) take(4);
    else throw new RangeError('The message has an unknown type of field.');
  }
}
