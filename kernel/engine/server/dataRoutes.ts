import type { RecordBatch } from '#arrow';
import { CatalogError } from '#shared/errors.ts';
import { inferRows } from '#catalog/arrow/inferRows.ts';
import { preference } from '#catalog/contract.ts';
import { mergeColumns } from '#catalog/table/mergeInsert.ts';
import { querySpec, versionOf } from './queryRequest.ts';
import {
  choice,
  optionalBoolean,
  missing,
  object,
  queryFlag,
  queryText,
  requiredString,
  optionalString,
  invalidRequestField,
  type Json,
} from './requestBody.ts';
import { withoutPath } from '#engine/errors/pathText.ts';
import type { ArrowBody } from './arrowBody.ts';
import { openTable, type RequestContext, type Handlers } from './routeTypes.ts';
import { queryOf } from './rows.ts';

const branchOf = (branch: string | undefined): { branch?: string } =>
  branch === undefined || branch === '' ? {} : { branch };

/** Opens the newest version of the branch named in the body, or of the main branch. */
export const openBranch = (call: RequestContext, body: Json) =>
  openTable(call, branchOf(optionalString(body, 'branch')));

/** Opens the newest version of the branch named in the query string, or of the main branch. */
export const openQueryBranch = (call: RequestContext) => openTable(call, branchOf(queryText(call.query, 'branch')));

/**
 * Returns the version of a tag. Also returns its branch, unless that is the main branch, because branches reuse version
 * numbers.
 */
export async function taggedVersion(call: RequestContext, tag: string): Promise<{ version: number; branch?: string }> {
  const table = await openTable(call, { tag });
  const { signal } = call;
  return {
    version: await table.version({ signal }),
    ...branchOf(await table.branch({ signal })),
  };
}

const versionIn = (version: number | undefined): { version?: number } => (version === undefined ? {} : { version });

/**
 * Returns the columns that a merge matches by. The specification has one column. Upstream's client sends several
 * columns as several parameters, and puts a name with dots in backticks.
 */
const columnsIn = (on: readonly string[]): string[] =>
  on.map((name) => (/^`(?:[^`]|``)*`$/.test(name) ? name.slice(1, -1).replaceAll('``', '`') : name));

const isPair = (pair: unknown): pair is [string, string] =>
  Array.isArray(pair) && pair.length === 2 && pair.every((part) => typeof part === 'string' && part !== '');

/** Returns the field path and the expression of each update. */
function updatesOf(body: Json): Record<string, string> {
  const updates = body['updates'];
  if (!Array.isArray(updates) || !updates.every(isPair))
    return invalidRequestField('updates', 'a list of [column, expression]');
  if (updates.length === 0) invalidRequestField('updates', 'a non-empty list of [column, expression]');
  if (new Set(updates.map(([column]) => column)).size < updates.length)
    invalidRequestField('updates', 'a list with each column once');
  return Object.fromEntries(updates);
}

/** Returns the number of bytes after which the client wants the rows to end. Ignores invalid preferences. */
function maxBytesOf({ preferences }: RequestContext): { maxBytes?: number } {
  const bytes = Number(preferences.get(preference.maxBytes));
  return Number.isSafeInteger(bytes) && bytes >= 1 ? { maxBytes: bytes } : {};
}

/** @throws CatalogError InvalidInput (13), always */
function needs(field: string, other: string): never {
  throw new CatalogError(
    'InvalidInput',
    `The field "${field}" of the request needs ${other}=true.`,
    `Send ${other}=true, or leave out ${field}.`,
  );
}

/**
 * Yields the received batches. If there are none, yields an empty batch with the columns that an empty stream would
 * have.
 */
async function* withOne({ schema, batches }: ArrowBody): AsyncGenerator<RecordBatch> {
  let isEmpty = true;
  for await (const batch of batches) {
    isEmpty = false;
    yield batch;
  }
  if (isEmpty) yield* inferRows([], schema).batches;
}

export const dataHandlers: Handlers = {
  async CountTableRows(call) {
    const body = await call.json();
    const predicate = optionalString(body, 'predicate');
    const table = await openTable(call, versionOf(body));
    return { json: await table.countRows(predicate === '' ? undefined : predicate, { signal: call.signal }) };
  },
  async QueryTable(call) {
    const body = await call.json();
    const spec = { ...querySpec(body), ...maxBytesOf(call) };
    return { rows: { table: await openTable(call, versionOf(body)), spec } };
  },
  async ExplainTableQueryPlan(call) {
    const body = await call.json();
    const asked = object(body, 'query') ?? missing('query');
    const verbose = optionalBoolean(body, 'verbose');
    const spec = querySpec(asked);
    const table = await openTable(call, versionOf(asked));
    const plan = await queryOf(table, spec).explainPlan({ verbose, signal: call.signal });
    return { json: withoutPath(plan, call.catalog.location) };
  },
  async AnalyzeTableQueryPlan(call) {
    const body = await call.json();
    const spec = querySpec(body);
    const table = await openTable(call, versionOf(body));
    const plan = await queryOf(table, spec).analyzePlan({ signal: call.signal });
    return { json: withoutPath(plan, call.catalog.location) };
  },
  async InsertIntoTable(call) {
    const { query, signal } = call;
    const mode = choice(queryText(query, 'mode'), 'mode', ['append', 'overwrite']);
    const table = await openQueryBranch(call);
    const rows = await call.arrow();
    const { version } = await table.add(withOne(rows), { mode, signal });
    return { json: { num_inserted_rows: rows.numRows, version: version ?? (await table.version({ signal })) } };
  },
  async MergeInsertIntoTable(call) {
    const { query, signal } = call;
    const updatesWhere = queryText(query, 'when_matched_update_all_filt');
    const deletesWhere = queryText(query, 'when_not_matched_by_source_delete_filt');
    const updates = queryFlag(query, 'when_matched_update_all') ?? false;
    const deletes = queryFlag(query, 'when_not_matched_by_source_delete') ?? false;
    if (updatesWhere !== undefined && !updates) {
      needs('when_matched_update_all_filt', 'when_matched_update_all');
    }
    if (deletesWhere !== undefined && !deletes) {
      needs('when_not_matched_by_source_delete_filt', 'when_not_matched_by_source_delete');
    }
    const on = columnsIn(query.getAll('on').filter((name) => name !== ''));
    if (on.length === 0) missing('on');
    const table = await openQueryBranch(call);
    let merge = table.mergeInsert(mergeColumns(on));
    if (updates) merge = merge.whenMatchedUpdateAll({ where: updatesWhere });
    if (queryFlag(query, 'when_not_matched_insert_all')) merge = merge.whenNotMatchedInsertAll();
    if (deletes) merge = merge.whenNotMatchedBySourceDelete({ where: deletesWhere });
    const useIndex = queryFlag(query, 'use_index');
    if (useIndex !== undefined) merge = merge.useIndex(useIndex);
    const rows = await call.arrow();
    const made = await merge.execute(withOne(rows), { signal });
    return {
      json: {
        ...(made.numUpdatedRows !== undefined && { num_updated_rows: made.numUpdatedRows }),
        ...(made.numInsertedRows !== undefined && { num_inserted_rows: made.numInsertedRows }),
        ...(made.numDeletedRows !== undefined && { num_deleted_rows: made.numDeletedRows }),
        ...versionIn(made.version),
      },
    };
  },
  async UpdateTable(call) {
    const body = await call.json();
    const { signal } = call;
    const where = optionalString(body, 'predicate');
    const valuesSql = updatesOf(body);
    const table = await openBranch(call, body);
    const made = await table.update({ ...(where !== undefined && where !== '' && { where }), valuesSql }, { signal });
    return {
      json: { updated_rows: made.numUpdatedRows ?? 0, version: made.version ?? (await table.version({ signal })) },
    };
  },
  async DeleteFromTable(call) {
    const body = await call.json();
    const { signal } = call;
    const predicate = requiredString(body, 'predicate');
    const table = await openBranch(call, body);
    const made = await table.delete(predicate, { signal });
    return {
      json: {
        ...(made.numDeletedRows !== undefined && { num_deleted_rows: made.numDeletedRows }),
        version: made.version ?? (await table.version({ signal })),
      },
    };
  },
};
