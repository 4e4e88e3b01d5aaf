import type { CallOptions } from './callOptions.ts';
import { encodeSource, sendArrow } from './arrowUpload.ts';
import type { Schema } from '#arrow';
import { mergeSchema } from './mergeInsert.ts';
import { checkFilter } from './query.ts';
import { given } from '#shared/records.ts';
import { Reply } from './restReply.ts';
import { about, ask, checkWritable, onBranch, type RestTarget } from './restTarget.ts';
import type { InsertResult, MergeResult, MergeSpec, UpdateResult, UpdateSpec, WriteResult } from './table.ts';
import type { TableSource } from './tableSource.ts';
import { checkFits, updateEntries } from './updateEntries.ts';

/** "InsertIntoTable"; `schema` is that of the table, for rows, and `undefined` for what has one itself. */
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
      ...given({ numInsertedRows: reply.maybeCount('num_inserted_rows'), version: reply.maybeCount('version') }),
    };
  });
}

/** "MergeInsertIntoTable"; `schemaOf` gives the schema of the table, which rows are made to fit. */
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
      // The specification knows one column alone; several are several parameters, as upstream's client and server have it.
      on: spec.on,
      when_matched_update_all: spec.whenMatchedUpdateAll ?? false,
      when_matched_update_all_filt: spec.whenMatchedUpdateAllFilter,
      when_not_matched_insert_all: spec.whenNotMatchedInsertAll ?? false,
      when_not_matched_by_source_delete: spec.whenNotMatchedBySourceDelete ?? false,
      when_not_matched_by_source_delete_filt: spec.whenNotMatchedBySourceDeleteFilter,
      ...onBranch(target),
    };
    const request = { operation: 'MergeInsertIntoTable', id: target.id, query, signal } as const;
    const reply = new Reply(target.wire, await sendArrow(target.wire, request, encoded));
    return given({
      numUpdatedRows: reply.maybeCount('num_updated_rows'),
      numInsertedRows: reply.maybeCount('num_inserted_rows'),
      numDeletedRows: reply.maybeCount('num_deleted_rows'),
      version: reply.maybeCount('version'),
    });
  });
}

/** "UpdateTable"; `schemaOf` gives the schema of the table, which values must fit. */
export function update(
  target: RestTarget,
  spec: UpdateSpec,
  schemaOf: () => Promise<Schema>,
  options: CallOptions,
): Promise<UpdateResult> {
  return about(target, 'UpdateTable', async () => {
    checkWritable(target);
    const updates = updateEntries(spec);
    await checkFits(spec, schemaOf);
    const json = { updates, ...given({ predicate: spec.where }), ...onBranch(target) };
    return ask(target, 'UpdateTable', { json }, options, (reply) =>
      given({ numUpdatedRows: reply.maybeCount('updated_rows'), version: reply.maybeCount('version') }),
    );
  });
}

/** "DeleteFromTable" */
export function deleteRows(target: RestTarget, predicate: string, options: CallOptions): Promise<WriteResult> {
  return about(target, 'DeleteFromTable', async () => {
    checkWritable(target);
    checkFilter(predicate);
    const json = { predicate, ...onBranch(target) };
    return ask(target, 'DeleteFromTable', { json }, options, (reply) =>
      given({ version: reply.maybeCount('version') }),
    );
  });
}
