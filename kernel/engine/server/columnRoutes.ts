import { CatalogError } from '#shared/errors.ts';
import type { ColumnChange, ComputedColumns, NewColumn, Table } from '#catalog/table/table.ts';
import type { WriteResult } from '#catalog/table/writeResults.ts';
import { typeOfJson } from '#catalog/arrow/jsonArrowTypes.ts';
import {
  optionalBoolean,
  missing,
  unsupportedByServer,
  object,
  objectList,
  requiredString,
  optionalString,
  textList,
  textsOrNull,
  invalidRequestField,
  type Json,
} from './requestBody.ts';
import { openBranch, openQueryBranch } from './dataRoutes.ts';
import type { Handlers, RequestContext } from './routeTypes.ts';

function newColumn(entry: Json): NewColumn {
  const name = requiredString(entry, 'name');
  const expression = optionalString(entry, 'expression');
  if (expression === undefined && object(entry, 'virtual_column')) {
    unsupportedByServer('virtual columns', 'Send new_columns[].expression, which is computed once, or computed.');
  }
  return { name, expression: requiredString(entry, 'expression') };
}

/** Returns the columns to add, or to declare as computed. */
function newColumns(entries: readonly Json[]): NewColumn[] | ComputedColumns {
  const computed = entries.filter((entry) => optionalString(entry, 'computed') !== undefined);
  if (computed.length === 0) return entries.map(newColumn);
  if (computed.length < entries.length || computed.some((entry) => optionalString(entry, 'expression') !== undefined))
    unsupportedByServer('computed columns together with others', 'Send one request for each kind.');
  return {
    computed: computed.map((entry) => ({
      name: requiredString(entry, 'name'),
      expression: requiredString(entry, 'computed'),
    })),
  };
}

function columnChange(entry: Json): ColumnChange {
  if (object(entry, 'virtual_column')) unsupportedByServer('virtual columns', 'Leave virtual_column out.');
  const dataType = object(entry, 'data_type');
  const rename = optionalString(entry, 'rename');
  const nullable = optionalBoolean(entry, 'nullable');
  return {
    path: requiredString(entry, 'path'),
    ...(rename !== undefined && { rename }),
    ...(nullable !== undefined && { nullable }),
    ...(dataType && { dataType: typeOfJson(dataType) }),
  };
}

function metadataUpdate(entry: Json) {
  const replace = optionalBoolean(entry, 'replace');
  const metadata = object(entry, 'metadata') ?? missing('updates[].metadata');
  return {
    path: requiredString(entry, 'path'),
    metadata: textsOrNull(metadata, 'updates[].metadata'),
    ...(replace !== undefined && { replace }),
  };
}

function some<T>(list: readonly T[] | undefined, field: string): readonly T[] {
  return list && list.length > 0 ? list : invalidRequestField(field, 'a non-empty list');
}

/** Adds columns of nulls, which LanceDB's remote client sends as an Arrow stream without rows. */
async function addEmptyColumns(call: RequestContext): Promise<WriteResult> {
  const table = await openQueryBranch(call);
  const { schema, batches } = await call.arrow();
  for await (const { numRows } of batches) {
    if (numRows === 0) continue;
    const hint = 'Send a schema without rows, or merge the rows into the table.';
    throw new CatalogError('InvalidInput', "Can't add columns together with their rows.", hint);
  }
  const { version = await table.version({ signal: call.signal }) } = await table.addColumns(schema, {
    signal: call.signal,
  });
  return { version };
}

export const columnHandlers: Handlers = {
  async AlterTableAddColumns(call) {
    if (call.isArrow) return { json: await addEmptyColumns(call) };
    const body = await call.json();
    const { signal } = call;
    const columns = newColumns(some(objectList(body, 'new_columns'), 'new_columns'));
    const table = await openBranch(call, body);
    const { version } = await table.addColumns(columns, { signal });
    return { json: { version: version ?? (await table.version({ signal })) } };
  },
  async AlterTableAlterColumns(call) {
    const body = await call.json();
    const { signal } = call;
    const changes = some(objectList(body, 'alterations'), 'alterations').map(columnChange);
    const table = await openBranch(call, body);
    const { version } = await table.alterColumns(changes, { signal });
    return { json: { version: version ?? (await table.version({ signal })) } };
  },
  async AlterTableDropColumns(call) {
    const body = await call.json();
    const { signal } = call;
    const names = some(textList(body, 'columns'), 'columns');
    const table = await openBranch(call, body);
    const { version } = await table.dropColumns(names, { signal });
    return { json: { version: version ?? (await table.version({ signal })) } };
  },
  async UpdateTableSchemaMetadata(call) {
    // The whole body is the map of metadata.
    const metadata = textsOrNull(await call.map(), 'the body');
    const table: Table = await openQueryBranch(call);
    return { json: await table.updateSchemaMetadata(metadata, { signal: call.signal }) };
  },
  async UpdateFieldMetadata(call) {
    const body = await call.json();
    const { signal } = call;
    const updates = some(objectList(body, 'updates'), 'updates').map(metadataUpdate);
    const table = await openBranch(call, body);
    const { version } = await table.updateFieldMetadata(updates, { signal });
    const schema = await table.schema({ signal });
    const paths = new Set(updates.map(({ path }) => path));
    const fields = schema.fields
      .filter(({ name }) => paths.has(name))
      .map(({ name, metadata }) => [name, Object.fromEntries(metadata)]);
    return { json: { version: version ?? (await table.version({ signal })), fields: Object.fromEntries(fields) } };
  },
  async GetTableStats(call) {
    const body = await call.json();
    const table = await openBranch(call, body);
    const stats = await table.stats({ signal: call.signal });
    return {
      json: {
        total_bytes: stats.totalBytes,
        num_rows: stats.numRows,
        num_indices: stats.numIndices,
        fragment_stats: {
          num_fragments: stats.numFragments,
          num_small_fragments: stats.numSmallFragments,
          lengths: stats.fragmentLengths ?? { min: 0, max: 0, mean: 0, p25: 0, p50: 0, p75: 0, p99: 0 },
        },
      },
    };
  },
};
