import { FlatBytes, type FlatTable, readLong } from './flatTable.ts';
import { IpcError, unsupported } from './ipcError.ts';

// Arrow's JavaScript library trusts the metadata of a message. This module reads and checks the metadata before the
// library does, and before the body of the message is read. Message.fbs and Schema.fbs in the Arrow format define the
// layout.

/** Numbers of `Type` in Schema.fbs. */
const typeIds = {
  null: 1,
  int: 2,
  float: 3,
  binary: 4,
  utf8: 5,
  decimal: 7,
  date: 8,
  time: 9,
  timestamp: 10,
  interval: 11,
  list: 12,
  struct: 13,
  union: 14,
  fixedSizeBinary: 15,
  fixedSizeList: 16,
  map: 17,
  duration: 18,
  largeBinary: 19,
  largeUtf8: 20,
  largeList: 21,
  binaryView: 23,
  utf8View: 24,
} as const;

/** Types that the library can't read, with the type to use instead. */
const unreadableTypes: Partial<Record<number, readonly [name: string, instead: string]>> = {
  22: ['run-end encoded', 'plain values'],
  25: ['ListView', 'List'],
  26: ['LargeListView', 'LargeList'],
};
const lastTypeId = 26;

/** Numbers of `MetadataVersion`. */
const versions = { V4: 3, V5: 4 };

/** Codecs by number in `CompressionType`. */
export const codecNames: readonly string[] = ['LZ4', 'ZSTD'];

const maxDepth = 64;
/** Maximum rows of one batch, because implementations of Arrow index rows by 32 bits. */
const maxBatchRows = 2 ** 31 - 1;
/** Maximum bytes of a body after its last buffer. Writers pad to 64 bytes. */
const maxTrailingBytes = 65_536;

/** The properties of a column that determine its parts in a batch. */
type ColumnLayout = {
  readonly name: string;
  readonly typeId: number;
  readonly isDenseUnion: boolean;
  readonly children: readonly ColumnLayout[];
  readonly dictionary: number | undefined;
};

type SchemaLayout = {
  readonly columns: readonly ColumnLayout[];
  readonly dictionaries: ReadonlyMap<number, ColumnLayout>;
  readonly version: number;
};

type BatchLayout = {
  readonly version: number;
  readonly rows: number;
  readonly columns: readonly ColumnLayout[];
  readonly nodes: readonly { readonly length: number; readonly nullCount: number }[];
  readonly buffers: readonly { readonly offset: number; readonly length: number }[];
  readonly isCompressed: boolean;
  readonly viewBuffers: readonly number[];
};

/** The checked metadata of a message. */
export type MessageMetadata =
  | { readonly kind: 'schema'; readonly bodyLength: number }
  | { readonly kind: 'dictionary' | 'batch'; readonly bodyLength: number; readonly batch: BatchLayout };

type MetadataOptions = {
  /** Maximum rows of all batches together. */
  readonly maxRows?: number | undefined;
  /** Whether compressed buffers can be read. */
  readonly canDecompress: boolean;
};

const maxBodyBytes = 2 ** 31;

/** Checks the metadata of the messages of one stream in their order. */
export class MetadataChecker {
  readonly #options: MetadataOptions;
  #schema: SchemaLayout | undefined;
  #rows = 0;

  constructor(options: MetadataOptions) {
    this.#options = options;
  }

  /**
   * Reads the metadata of the next message.
   * @throws IpcError if it is damaged, contradicts the schema, or needs a part of the format that is not supported
   */
  read(metadata: Uint8Array): MessageMetadata {
    try {
      return this.#read(new FlatBytes(metadata));
    } catch (error) {
      if (error instanceof IpcError) throw error;
      throw new IpcError('malformed', 'The metadata of an Arrow message is damaged.', { cause: error });
    }
  }

  #read(bytes: FlatBytes): MessageMetadata {
    const message = bytes.root();
    const kind = message.byte(1);
    const header = message.table(2);
    const bodyLength = message.long(3);
    const version = message.short(0);
    if (kind === 4 || kind === 5)
      throw unsupported('The Arrow data has a tensor, which is not supported.', 'Send record batches.');
    if (kind < 1 || kind > 3 || !header) throw new IpcError('malformed', 'An Arrow message has an unknown type.');
    if (version < versions.V4 || version > versions.V5) {
      const what = `The Arrow data has the metadata version V${version + 1}, which is not supported.`;
      throw unsupported(what, 'Write it with a release of Arrow from 0.8 that uses version V4 or V5.');
    }
    if (bodyLength < 0 || bodyLength > maxBodyBytes)
      throw new IpcError('malformed', `The body of an Arrow message has the invalid length ${bodyLength}.`);
    checkCustomMetadata(message, 4);
    if (kind === 1) {
      if (this.#schema) throw new IpcError('invalid', 'The Arrow data has a second schema.');
      this.#schema = readSchema(header, version);
      return { kind: 'schema', bodyLength };
    }
    const schema = this.#schema;
    if (!schema) throw new IpcError('malformed', 'The Arrow data does not start with a schema.');
    if (kind === 2) {
      const id = header.long(0);
      const column = schema.dictionaries.get(id);
      const data = header.table(1);
      if (!column || !data) throw new IpcError('invalid', `The Arrow schema does not have the dictionary ${id}.`);
      return { kind: 'dictionary', bodyLength, batch: this.#readBatch(bytes, data, [column], schema, bodyLength) };
    }
    const batch = this.#readBatch(bytes, header, schema.columns, schema, bodyLength);
    this.#rows += batch.rows;
    const { maxRows } = this.#options;
    if (maxRows !== undefined && this.#rows > maxRows) {
      throw new IpcError('surplus', `The Arrow data has ${this.#rows} rows or more, but ${maxRows} were requested.`);
    }
    return { kind: 'batch', bodyLength, batch };
  }

  #readBatch(
    bytes: FlatBytes,
    header: FlatTable,
    columns: readonly ColumnLayout[],
    { version }: SchemaLayout,
    bodyLength: number,
  ): BatchLayout {
    const rows = header.long(0);
    const nodes = readPairs(bytes, header, 1, (length, nullCount) => ({ length, nullCount }));
    const buffers = readPairs(bytes, header, 2, (offset, length) => ({ offset, length }));
    const compression = header.table(3);
    const counts = header.vector(4, 8);
    const viewBuffers = Array.from({ length: counts.length }, (_, i) => readLong(bytes.view, counts.start + 8 * i));
    if (compression) this.#checkCompression(compression);
    const batch = { version, rows, columns, nodes, buffers, isCompressed: compression !== undefined, viewBuffers };
    if (rows < 0 || rows > maxBatchRows) throw new IpcError('invalid', `An Arrow batch claims ${rows} rows.`);
    checkParts(batch, bodyLength);
    return batch;
  }

  #checkCompression(compression: FlatTable): void {
    const codec = codecNames[compression.byte(0)];
    if (codec === undefined || compression.byte(1) !== 0) {
      const what = `The Arrow data is compressed by an unknown codec (${compression.byte(0)}).`;
      throw unsupported(what, `Write it without compression, or with ${codecNames.join(' or ')}.`);
    }
    if (this.#options.canDecompress) return;
    throw unsupported(
      `The Arrow data is compressed by ${codec}, which is not supported here.`,
      'Write it without compression.',
    );
  }
}

/** @throws IpcError if the schema has a byte order or a type that can't be read, or nests too deeply */
function readSchema(schema: FlatTable, version: number): SchemaLayout {
  if (schema.short(0) !== 0) {
    const hint = 'Write it in little-endian byte order.';
    throw unsupported('The Arrow data is big-endian, which is not supported.', hint);
  }
  checkCustomMetadata(schema, 2);
  const dictionaries = new Map<number, ColumnLayout>();
  const columns = schema.tables(1).map((field) => readColumn(field, '', 1, dictionaries));
  return { columns, dictionaries, version };
}

function readColumn(
  field: FlatTable,
  path: string,
  depth: number,
  dictionaries: Map<number, ColumnLayout>,
): ColumnLayout {
  const name = path === '' ? field.string(0) : `${path}.${field.string(0)}`;
  if (depth > maxDepth) {
    const what = `An Arrow column nests more than ${maxDepth} levels, which is not supported.`;
    throw unsupported(what, 'Leave the column out, or flatten it.');
  }
  const typeId = field.byte(2);
  const type = field.table(3);
  const encoding = field.table(4);
  checkCustomMetadata(field, 6);
  const unreadable = unreadableTypes[typeId];
  if (unreadable) {
    const [typeName, instead] = unreadable;
    const what = `The column ${quoted(name)} has the Arrow type ${typeName}, which is not supported.`;
    throw unsupported(what, `Leave the column out, or convert it to ${instead}.`);
  }
  if (typeId < 1 || typeId > lastTypeId || !type) {
    const what = `The column ${quoted(name)} has an unknown Arrow type (${typeId}), which is not supported.`;
    throw unsupported(what, 'Leave the column out, or convert it.');
  }
  const children = field.tables(5).map((child) => readColumn(child, name, depth + 1, dictionaries));
  checkChildren(name, typeId, children);
  if (!hasValidParameters(typeId, type)) throw invalidType(name);
  const isUnion = typeId === typeIds.union;
  if (isUnion && !isUnionOf(type.ints(1), children.length))
    throw new IpcError('invalid', `The union ${quoted(name)} does not have one type id for each of its types.`);
  const layout = { name, typeId, isDenseUnion: isUnion && type.short(0) === 1, children, dictionary: undefined };
  if (!encoding) return layout;
  if (encoding.short(3) !== 0)
    throw unsupported(`The dictionary of column ${quoted(name)} has an unknown kind.`, 'Leave the column out.');
  const keys = encoding.table(1);
  if (keys && !hasValidParameters(typeIds.int, keys)) throw invalidType(name);
  const dictionary = encoding.long(0);
  // Columns may share a dictionary. All of them must have the same type, because the library reads the dictionary with
  // the type of the first.
  const known = dictionaries.get(dictionary);
  if (known && !isSameLayout(known, layout))
    throw new IpcError('invalid', `The columns ${quoted(known.name)} and ${quoted(name)} share a dictionary.`);
  if (!known) dictionaries.set(dictionary, layout);
  return { ...layout, dictionary, children: [] };
}

const isSameLayout = (one: ColumnLayout, other: ColumnLayout): boolean =>
  one.typeId === other.typeId &&
  one.dictionary === other.dictionary &&
  one.isDenseUnion === other.isDenseUnion &&
  one.children.length === other.children.length &&
  one.children.every((child, i) => isSameLayout(child, other.children[i]!));

const invalidType = (name: string): IpcError =>
  new IpcError('invalid', `The column ${quoted(name)} has an Arrow type with invalid parameters.`);

/** Whether the library and the code that shows values support the parameters of a type. */
function hasValidParameters(typeId: number, type: FlatTable): boolean {
  switch (typeId) {
    case typeIds.int:
      return [8, 16, 32, 64].includes(type.int(0));
    case typeIds.float:
    case typeIds.interval:
      return isWithin(type.short(0), 0, 2);
    case typeIds.decimal:
      return (
        [32, 64, 128, 256].includes(type.int(2, 128)) &&
        isWithin(type.int(0), 1, 76) &&
        isWithin(type.int(1), -1000, 1000)
      );
    case typeIds.date:
    case typeIds.union:
      return isWithin(type.short(0), 0, 1);
    case typeIds.time: {
      // Seconds and milliseconds have 32 bits. Microseconds and nanoseconds have 64 bits.
      const unit = type.short(0, 1);
      return isWithin(unit, 0, 3) && type.int(1, 32) === (unit < 2 ? 32 : 64);
    }
    case typeIds.timestamp:
    case typeIds.duration:
      return isWithin(type.short(0), 0, 3);
    case typeIds.fixedSizeBinary:
    case typeIds.fixedSizeList:
      return type.int(0) >= 0;
    default:
      return true;
  }
}

const isUnionOf = (ids: readonly number[], types: number): boolean =>
  ids.length === types && new Set(ids).size === types && ids.every((id) => isWithin(id, 0, 127));

const isWithin = (value: number, first: number, last: number): boolean => value >= first && value <= last;

/** Formats a column name from outside for an error. */
export const quoted = (name: string): string => `"${name.length > 100 ? `${name.slice(0, 100)}…` : name}"`;

function checkChildren(name: string, typeId: number, children: readonly ColumnLayout[]): void {
  if (typeId === typeIds.struct || typeId === typeIds.union) return;
  const isList = [typeIds.list, typeIds.largeList, typeIds.fixedSizeList, typeIds.map].some((id) => id === typeId);
  const entries = typeId === typeIds.map ? children[0] : undefined;
  const isWhole = !entries || (entries.typeId === typeIds.struct && entries.children.length === 2);
  if (children.length === (isList ? 1 : 0) && isWhole) return;
  throw new IpcError('invalid', `The column ${quoted(name)} does not have the children of its Arrow type.`);
}

/** Checks that the library can read the key-value pairs of a table; the library itself would trust any length. */
function checkCustomMetadata(table: FlatTable, field: number): void {
  for (const pair of table.tables(field)) {
    pair.vector(0, 1);
    pair.vector(1, 1);
  }
}

/** Reads a vector of pairs of 64-bit numbers. */
function readPairs<T>(bytes: FlatBytes, header: FlatTable, field: number, make: (a: number, b: number) => T): T[] {
  const { start, length } = header.vector(field, 16);
  const pairs: T[] = [];
  for (let at = start; at < start + 16 * length; at += 16)
    pairs.push(make(readLong(bytes.view, at), readLong(bytes.view, at + 8)));
  return pairs;
}

/** Receives the parts of a batch that belong to one column. */
type ColumnVisitor = (column: ColumnLayout, node: number, validity: number | undefined, depth: number) => void;

/**
 * Calls `visit` for every column and child in the order of their nodes. Returns how many nodes and buffers the columns
 * need.
 */
function visitColumns(
  { columns, viewBuffers, version }: BatchLayout,
  visit: ColumnVisitor,
): { nodes: number; buffers: number; views: number } {
  const next = { nodes: 0, buffers: 0, views: 0 };
  const walk = (column: ColumnLayout, depth: number): void => {
    const { typeId, dictionary } = column;
    const isEncoded = dictionary !== undefined;
    const isUnion = typeId === typeIds.union && !isEncoded;
    // A union has had no validity buffer since version V5.
    const hasValidity = isEncoded || (typeId !== typeIds.null && (!isUnion || version < versions.V5));
    visit(column, next.nodes, hasValidity && !isUnion ? next.buffers : undefined, depth);
    next.nodes++;
    if (hasValidity) next.buffers++;
    next.buffers += isEncoded ? 1 : valueBuffers(column);
    if (!isEncoded && (typeId === typeIds.binaryView || typeId === typeIds.utf8View))
      next.buffers += viewBuffers[next.views++] ?? 0;
    for (const child of column.children) walk(child, depth + 1);
  };
  for (const column of columns) walk(column, 0);
  return next;
}

/** The number of buffers of a column, not counting its validity buffer and the buffers of its children. */
function valueBuffers({ typeId, isDenseUnion }: ColumnLayout): number {
  switch (typeId) {
    case typeIds.null:
    case typeIds.struct:
    case typeIds.fixedSizeList:
      return 0;
    case typeIds.binary:
    case typeIds.utf8:
    case typeIds.largeBinary:
    case typeIds.largeUtf8:
      return 2;
    case typeIds.union:
      return isDenseUnion ? 2 : 1;
    default:
      return 1;
  }
}

function checkParts(batch: BatchLayout, bodyLength: number): void {
  const { rows, columns, nodes, buffers, viewBuffers } = batch;
  if (viewBuffers.some((count) => count < 0 || count > buffers.length))
    throw new IpcError('invalid', 'An Arrow batch has an invalid number of buffers of views.');
  const needed = visitColumns(batch, (column, index, _validity, depth) => {
    const node = nodes[index];
    if (!node) return;
    const isWhole = depth > 0 || node.length === rows;
    if (node.length < 0 || node.nullCount < 0 || node.nullCount > node.length || !isWhole) {
      const what = `${node.length} values, of which ${node.nullCount} are null, in ${rows} rows`;
      throw new IpcError('invalid', `The column ${quoted(column.name)} claims ${what}.`);
    }
  });
  const total = columns.length;
  if (needed.nodes !== nodes.length || needed.buffers !== buffers.length || needed.views !== viewBuffers.length) {
    const found = `${nodes.length} nodes and ${buffers.length} buffers`;
    const what = `${found} for ${total} columns, which need ${needed.nodes} and ${needed.buffers}`;
    throw new IpcError('invalid', `An Arrow batch has ${what}.`);
  }
  let end = 0;
  for (const { offset, length } of buffers) {
    if (offset < 0 || length < 0 || offset + length > bodyLength)
      throw new IpcError('invalid', 'A buffer of an Arrow batch ends beyond the batch.');
    if (length > 0) end = Math.max(end, offset + length);
  }
  if (bodyLength > end + maxTrailingBytes)
    throw new IpcError('invalid', `An Arrow batch claims ${bodyLength} bytes, but its buffers end after ${end}.`);
}

/**
 * Checks that a column with a null count of 0 has no null bit, because the library would ignore such a bit. Bits of
 * compressed batches are not checked.
 */
export function checkFullValidity(message: MessageMetadata, body: Uint8Array): void {
  if (message.kind === 'schema' || message.batch.isCompressed) return;
  const { nodes, buffers } = message.batch;
  visitColumns(message.batch, (column, index, validity) => {
    const { length, nullCount } = nodes[index]!;
    const buffer = validity === undefined ? undefined : buffers[validity];
    if (!buffer || nullCount > 0 || buffer.length === 0) return;
    const bits = body.subarray(buffer.offset, buffer.offset + buffer.length);
    if (bits.length * 8 < length || countBits(bits, length) !== length)
      throw new IpcError('invalid', `The column ${quoted(column.name)} claims 0 nulls, but has null values.`);
  });
}

/** Counts how many of the first `length` bits are set. */
export function countBits(bits: Uint8Array, length: number): number {
  let count = 0;
  const words = bits.byteOffset % 4 === 0 ? length >> 5 : 0;
  const aligned = words > 0 ? new Uint32Array(bits.buffer, bits.byteOffset, words) : [];
  for (let i = 0; i < words; i++) {
    // The set bits are added in pairs, then in fours, then in bytes.
    let word = aligned[i]!;
    word -= (word >>> 1) & 0x55555555;
    word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
    count += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  for (let i = words * 32; i < length; i++) count += (bits[i >> 3]! >> (i & 7)) & 1;
  return count;
}
