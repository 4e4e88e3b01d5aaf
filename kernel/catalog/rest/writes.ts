import type { Schema, Table as ArrowTable } from '#arrow';
import type { CallOptions } from '#catalog/arguments/options.ts';
import { updateArguments, updateEntries } from '#catalog/arguments/updateEntries.ts';
import { batchesOf, isBatchSource } from '#catalog/arrow/batchSource.ts';
import { encodeStream } from '#catalog/arrow/ipcWriter.ts';
import { namedMergeResult, namedUpdateResult } from '#catalog/lancedb/resultNames.ts';
import { mergeSchema, type MergeSpec } from '#catalog/table/mergeInsert.ts';
import { checkFilter } from '#catalog/query/query.ts';
import type { ColumnsSql, UpdateOptions, UpdateSpec } from '#catalog/table/table.ts';
import { type TableSource, toArrowTable } from '#catalog/table/tableData.ts';
import type { Wire, WireRequest } from '#catalog/transport/request.ts';
import type { DeleteResult, InsertResult, MergeResult, UpdateResult } from '#catalog/table/writeResults.ts';
import { definedEntries } from '#shared/records.ts';
import { Reply } from './reply.ts';
import { about, ask, checkWritable, onBranch, type RestTarget } from './target.ts';

/** A table of at most this size is sent as one buffer, with a known length. */
const wholeBytes = 8 * 1024 * 1024;

export type Encoded = {
  schema: Schema;
  /** False if the data is known to have no rows. */
  hasRows: boolean;
  body: Uint8Array | AsyncGenerator<Uint8Array, void, undefined>;
  /** Closes the source, even if reading has not started. */
  close: () => Promise<void>;
};

/**
 * Encodes the data of a table as a request body: an Arrow IPC stream. Small data is one buffer. Large data, and data of
 * unknown length, is encoded batch by batch.
 * @param call for errors: the call that the data was given to
 * @throws CatalogError SchemaValidation (20), InvalidInput (13), like `batchesOf`. Reading the body throws later errors
 */
export async function encodeSource(call: string, source: TableSource, schema?: Schema): Promise<Encoded> {
  if (!isBatchSource(source)) {
    const table = toArrowTable(call, source, schema);
    const encoded = { ...(await streamed(call, table)), hasRows: table.numRows > 0 };
    if (table.batches.length > 1 && byteLength(table) > wholeBytes) return encoded;
    const chunks: Uint8Array[] = [];
    for await (const chunk of encoded.body) chunks.push(chunk);
    return { ...encoded, body: Buffer.concat(chunks) };
  }
  return streamed(call, source, schema);
}

async function streamed(call: string, source: TableSource, schema?: Schema) {
  const { schema: found, batches, close } = await batchesOf(call, source, schema);
  return { schema: found, hasRows: true, body: encodeStream(found, batches), close };
}

const byteLength = (table: ArrowTable): number =>
  table.batches.reduce((total, batch) => total + batch.data.byteLength, 0);

/**
 * Sends a request with Arrow data as its body, and reads the JSON response. If the source of the data fails, its
 * error is thrown and the body breaks off, so that the server never receives part of the rows as a complete stream.
 */
export async function sendArrow(
  wire: Wire,
  request: Omit<WireRequest, 'arrow' | 'json'>,
  { body, close }: Encoded,
): Promise<unknown> {
  if (body instanceof Uint8Array) return wire.json({ ...request, arrow: body });
  let failure: { error: unknown } | undefined;
  const arrow = (async function* () {
    try {
      yield* body;
    } catch (error) {
      failure = { error };
      throw error;
    }
  })();
  try {
    return await wire.json({ ...request, arrow });
  } catch (error) {
    if (request.signal?.aborted) throw request.signal.reason;
    // Throws the error of the source, because the error of the connection only says that the connection broke.
    throw failure ? failure.error : error;
  } finally {
    // After a refused request the source of the body is still open. This code does not await the close, because the
    // source may be waiting for data.
    arrow
      .return()
      .then(close, close)
      .catch(() => undefined);
  }
}

/**
 * "InsertIntoTable".
 * @param schema the schema of the table if the data are rows; `undefined` for data with its own schema
 */
export function insert(
  target: RestTarget,
  data: TableSource,
  mode: 'append' | 'overwrite',
  schema: Schema | undefined,
  { signal }: CallOptions,
): Promise<InsertResult> {
  return about(target, 'InsertIntoTable', async () => {
    checkWritable(target);
    const encoded = await encodeSource('add', data, schema);
    const query = { mode, ...onBranch(target) };
    const request = { operation: 'InsertIntoTable', id: target.id, query, signal } as const;
    const reply = new Reply(target.wire, await sendArrow(target.wire, request, encoded));
    return {
      ...definedEntries({
        numInsertedRows: reply.maybeCount('num_inserted_rows'),
        version: reply.maybeCount('version'),
      }),
    };
  });
}

/** "MergeInsertIntoTable". @param schemaOf returns the schema of the table, to which rows are converted */
export function mergeInsert(
  target: RestTarget,
  spec: MergeSpec,
  data: TableSource,
  schemaOf: () => Promise<Schema>,
  { signal }: CallOptions,
): Promise<MergeResult> {
  return about(target, 'MergeInsertIntoTable', async () => {
    checkWritable(target);
    const schema = Array.isArray(data) ? mergeSchema(spec, data, await schemaOf()) : undefined;
    const encoded = await encodeSource('mergeInsert', data, schema);
    const query = {
      // A list since release 0.13 of the specification, sent as repeated parameters. Older servers know one column.
      on: spec.on,
      when_matched_update_all: spec.whenMatchedUpdateAll ?? false,
      when_matched_update_all_filt: spec.whenMatchedUpdateAllFilter,
      when_not_matched_insert_all: spec.whenNotMatchedInsertAll ?? false,
      when_not_matched_by_source_delete: spec.whenNotMatchedBySourceDelete ?? false,
      when_not_matched_by_source_delete_filt: spec.whenNotMatchedBySourceDeleteFilter,
      use_index: spec.useIndex,
      ...onBranch(target),
    };
    const request = { operation: 'MergeInsertIntoTable', id: target.id, query, signal } as const;
    const reply = new Reply(target.wire, await sendArrow(target.wire, request, encoded));
    return namedMergeResult(
      definedEntries({
        numUpdatedRows: reply.maybeCount('num_updated_rows'),
        numInsertedRows: reply.maybeCount('num_inserted_rows'),
        numDeletedRows: reply.maybeCount('num_deleted_rows'),
        version: reply.maybeCount('version'),
      }),
    );
  });
}

/** "UpdateTable". @param schemaOf returns the schema of the table, for which the values are converted */
export function update(
  target: RestTarget,
  given: UpdateSpec | ColumnsSql,
  schemaOf: () => Promise<Schema>,
  options: UpdateOptions,
): Promise<UpdateResult> {
  return about(target, 'UpdateTable', async () => {
    checkWritable(target);
    const spec = updateArguments(given, options);
    const updates = await updateEntries(spec, schemaOf);
    const json = { updates, ...definedEntries({ predicate: spec.where }), ...onBranch(target) };
    return ask(target, 'UpdateTable', { json }, options, (reply) =>
      namedUpdateResult(
        definedEntries({ numUpdatedRows: reply.maybeCount('updated_rows'), version: reply.maybeCount('version') }),
      ),
    );
  });
}

/** "DeleteFromTable" */
export function deleteRows(target: RestTarget, predicate: string, options: CallOptions): Promise<DeleteResult> {
  return about(target, 'DeleteFromTable', async () => {
    checkWritable(target);
    checkFilter(predicate);
    const json = { predicate, ...onBranch(target) };
    return ask(target, 'DeleteFromTable', { json }, options, (reply) =>
      definedEntries({ numDeletedRows: reply.maybeCount('num_deleted_rows'), version: reply.maybeCount('version') }),
    );
  });
}
