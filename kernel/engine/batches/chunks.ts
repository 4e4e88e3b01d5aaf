import {
  BufferType,
  Data,
  DataType,
  type Dictionary,
  RecordBatch,
  type Schema,
  Struct,
  Table as ArrowTable,
  type Vector,
  vectorFromArray,
} from '#arrow';
import { CatalogError } from '#shared/errors.ts';

// An Arrow file has one dictionary per column, but each batch of a stream may bring a different dictionary. So this
// code builds one dictionary with the values of all batches, and rewrites the indices so that they refer to this
// dictionary.

/**
 * Returns the same rows, but all batches share one dictionary per column. This includes columns inside structs and
 * lists.
 */
function unifyDictionaries(schema: Schema, batches: readonly RecordBatch[]): RecordBatch[] {
  const isMeant = schema.fields.some(({ type }) => hasDictionary(type));
  if (!isMeant || batches.length < 2) return [...batches];
  const type = new Struct(schema.fields);
  const known = new Map<number, Union>();
  for (const { data } of batches) {
    visit(type, data, (one, { dictionary }) => {
      const union = known.get(one.id) ?? new Union(one);
      known.set(one.id, union);
      if (dictionary) union.add(dictionary);
    });
  }
  return batches.map(({ data }) => new RecordBatch(schema, rebuilt(type, data, known)));
}

const childrenOf = (type: DataType): readonly { type: DataType }[] =>
  DataType.isDictionary(type) ? [] : ((type.children ?? []) as readonly { type: DataType }[]);

const hasDictionary = (type: DataType): boolean =>
  DataType.isDictionary(type) || childrenOf(type).some((child) => hasDictionary(child.type));

function visit(type: DataType, data: Data, see: (type: Dictionary, data: Data) => void): void {
  if (DataType.isDictionary(type)) return see(type, data);
  for (const [index, child] of childrenOf(type).entries()) {
    const below = data.children[index];
    if (below) visit(child.type, below, see);
  }
}

function rebuilt<T extends DataType>(type: T, data: Data, known: ReadonlyMap<number, Union>): Data<T>;
function rebuilt(type: DataType, data: Data, known: ReadonlyMap<number, Union>): Data {
  if (!hasDictionary(type)) return data;
  if (DataType.isDictionary(type)) return known.get(type.id)?.moved(data) ?? data;
  const fields = childrenOf(type);
  const children = data.children.map((child, at) => (fields[at] ? rebuilt(fields[at].type, child, known) : child));
  return data.clone(type, data.offset, data.length, data.nullCount, data.buffers, children);
}

/** The values of all dictionaries of one column, without duplicates as far as `keyOf` detects them. */
class Union {
  readonly #type: Dictionary;
  readonly #values: unknown[] = [];
  readonly #places = new Map<unknown, number>();
  readonly #moves = new Map<Vector, number[]>();
  #vector: Vector | undefined;

  constructor(type: Dictionary) {
    this.#type = type;
  }

  add(dictionary: Vector): void {
    if (this.#moves.has(dictionary)) return;
    const moves: number[] = [];
    for (const value of dictionary) {
      const key = keyOf(value);
      const place = this.#places.get(key) ?? this.#values.push(value) - 1;
      this.#places.set(key, place);
      moves.push(place);
    }
    this.#moves.set(dictionary, moves);
  }

  moved(data: Data): Data {
    const moves = data.dictionary && this.#moves.get(data.dictionary);
    if (!moves) return data;
    // A dictionary column has only these two buffers.
    const buffers = {
      [BufferType.DATA]: movedIndices(data.values, moves),
      [BufferType.VALIDITY]: data.nullBitmap,
    } as ConstructorParameters<typeof Data>[4];
    this.#vector ??= this.#united();
    return new Data(this.#type, data.offset, data.length, data.nullCount, buffers, [], this.#vector);
  }

  #united(): Vector {
    const { indices, dictionary } = this.#type;
    const most = 2 ** (indices.isSigned ? indices.bitWidth - 1 : indices.bitWidth);
    if (this.#values.length > most) {
      throw new CatalogError(
        'InvalidInput',
        `A column has ${this.#values.length} different values, but its dictionary can hold only ${most}.`,
        'Send it with larger indices, or without a dictionary.',
      );
    }
    return vectorFromArray(this.#values, dictionary as DataType);
  }
}

/**
 * Returns the key of a value. Equal values have equal keys. Nested values are an exception, so a nested value stays in
 * the dictionary as often as it occurs.
 */
const keyOf = (value: unknown): unknown => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value);

type Indices = Int8Array | Int16Array | Int32Array | BigInt64Array | Uint8Array | Uint16Array | Uint32Array;

/** An index at a null position may be any number, because readers ignore it. */
function movedIndices(values: unknown, moves: readonly number[]): Indices {
  const indices = (values as Indices).slice();
  for (const [at, index] of indices.entries()) {
    const place = moves[Number(index)] ?? 0;
    indices[at] = typeof index === 'bigint' ? BigInt(place) : place;
  }
  return indices;
}

/**
 * Bytes of rows that are passed to the engine at once. The number is limited because the engine accepts a table as one
 * buffer.
 */
export const chunkBytes = 64 * 2 ** 20;

export const bytesOf = (batch: RecordBatch): number => batch.data.byteLength;

/**
 * Combines batches into tables of at least `bytes` bytes; the last table may be smaller. Yields nothing if no batch has
 * rows.
 */
export async function* chunksOf(
  schema: Schema,
  batches: AsyncIterable<RecordBatch>,
  bytes = chunkBytes,
): AsyncGenerator<ArrowTable> {
  let chunk: RecordBatch[] = [];
  let size = 0;
  for await (const batch of batches) {
    if (batch.numRows === 0) continue;
    chunk.push(batch);
    size += bytesOf(batch);
    if (size < bytes) continue;
    yield tableOf(schema, chunk);
    chunk = [];
    size = 0;
  }
  if (chunk.length > 0) yield tableOf(schema, chunk);
}

/**
 * Returns a table that the engine accepts: one dictionary per column, because the engine reads tables as Arrow files.
 */
export const tableOf = (schema: Schema, batches: readonly RecordBatch[]): ArrowTable =>
  new ArrowTable(schema, unifyDictionaries(schema, batches));
