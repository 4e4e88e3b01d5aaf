import {
  BIGINT,
  BOOLEAN,
  type DuckDBConnection,
  DuckDBTableFunction,
  type DuckDBTableFunctionBindInfo,
  type DuckDBType,
  DOUBLE,
  LIST,
  VARCHAR,
} from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import { type Data, type DataType, type RecordBatch, type Schema, tableFromIPC } from '#arrow';
import { definedEntries } from '#shared/records.ts';
import type { PullDescription, PullScan, ScanSource, SqlSearch } from '#sql/messages.ts';
import { engineType } from './engineTypes.ts';
import { fillVector } from './fillVector.ts';
import { pull } from './pullChannel.ts';

/** The name of the table function behind the view of each table; its argument is the number of the table. */
export const tableFunctionName = 'lance_catalog_table';

/**
 * The first column of that function, which views hide. If a query needs no column, as in a count of rows, the engine
 * asks for the first one, so nothing has to be read.
 */
export const rowsColumn = 'lance_catalog_rows';

/** Rows that the engine takes at a time. */
const chunkRows = duckdb.vector_size();

/** What a call of a table function in a query reads, and its columns. */
type Bound = { source: ScanSource; schema: Schema };

/** A running scan. `rows` counts the rows that have no columns to read. */
type Scan = {
  id: number;
  columns: number;
  /** Received batches; the first one is at the row `at`. */
  batches: RecordBatch[];
  at: number;
  rows: number | undefined;
  /** Holds the received batches. It is used again for the next ones, because the engine copies values. */
  buffer: Uint8Array<ArrayBuffer>;
};

const defaultRows = 10;
const text = (info: DuckDBTableFunctionBindInfo, index: number): string => String(info.getParameter(index));

/** Returns the argument `k`, as the third argument or by name. */
const count = (info: DuckDBTableFunctionBindInfo): number => Number(info.getNamedParameter('k') ?? defaultRows);

function itemsOf(value: unknown): unknown[] {
  const items = typeof value === 'object' && value !== null && 'items' in value ? value.items : [];
  return Array.from(items as ArrayLike<unknown>);
}

/** Returns the arguments of `nearest`. Those that are not given stay away, because a search has its own defaults. */
function search(info: DuckDBTableFunctionBindInfo): SqlSearch {
  const named = <T>(name: string, read: (value: unknown) => T): T | undefined => {
    const value = info.getNamedParameter(name);
    return value === null || value === undefined ? undefined : read(value);
  };
  return {
    vector: itemsOf(info.getParameter(1)).map(Number),
    k: count(info),
    ...definedEntries({
      column: named('vector_column', String),
      distanceType: named('distance_type', String),
      filter: named('filter', String),
      useIndex: named('use_index', Boolean),
      refineFactor: named('refine_factor', Number),
      version: named('table_version', Number),
    }),
  };
}

type FunctionSpec = {
  name: string;
  parameters: DuckDBType[];
  named?: Record<string, DuckDBType>;
  source: (info: DuckDBTableFunctionBindInfo) => ScanSource;
};

const functions: readonly FunctionSpec[] = [
  {
    name: tableFunctionName,
    parameters: [BIGINT],
    source: (info) => ({ kind: 'table', table: Number(info.getParameter(0)) }),
  },
  {
    name: 'version',
    parameters: [VARCHAR, BIGINT],
    source: (info) => ({ kind: 'version', name: text(info, 0), version: Number(info.getParameter(1)) }),
  },
  {
    name: 'nearest',
    parameters: [VARCHAR, LIST(DOUBLE)],
    named: {
      k: BIGINT,
      vector_column: VARCHAR,
      distance_type: VARCHAR,
      filter: VARCHAR,
      use_index: BOOLEAN,
      refine_factor: BIGINT,
      table_version: BIGINT,
    },
    source: (info) => ({ kind: 'nearest', name: text(info, 0), search: search(info) }),
  },
  {
    name: 'search',
    parameters: [VARCHAR, VARCHAR],
    named: { k: BIGINT },
    source: (info) => ({ kind: 'search', name: text(info, 0), text: text(info, 1), k: count(info) }),
  },
];

/** Descriptions of the sources of the running query, because the engine binds a function more than once. */
const described = new Map<string, { schema: Schema; rows: number | null }>();

/** Forgets what the last query has read. */
export const forgetSources = (): void => described.clear();

function describe(source: ScanSource): { schema: Schema; rows: number | null } {
  const key = JSON.stringify(source);
  const known = described.get(key);
  if (known) return known;
  const { json, bytes } = pull({ describe: source });
  const description = { schema: tableFromIPC(bytes).schema, rows: (json as PullDescription).rows };
  described.set(key, description);
  return description;
}

/** Adds the functions that read tables. The engine calls them on this thread. */
export function registerTableFunctions(connection: DuckDBConnection): void {
  for (const spec of functions) connection.registerTableFunction(createFunction(spec));
}

function createFunction({ name, parameters, named, source }: FunctionSpec): DuckDBTableFunction {
  return DuckDBTableFunction.create({
    name,
    parameterTypes: parameters,
    ...(named && { namedParameterTypes: named }),
    supportsProjectionPushdown: true,
    bindFunction(info) {
      const from = source(info);
      const { schema, rows } = describe(from);
      const bound: Bound = { source: from, schema };
      if (from.kind === 'table') info.addResultColumn(rowsColumn, BOOLEAN);
      for (const [index, column] of columnNames(bound.schema).entries())
        duckdb.bind_add_result_column(
          Reflect.get(info, 'bind_info') as duckdb.TableFunctionBindInfo,
          column,
          engineType(bound.schema.fields[index]!.type as DataType),
        );
      if (rows !== null) info.setCardinality(rows, true);
      info.setBindData(bound);
    },
    initFunction(info) {
      const { source: from, schema } = info.bindData as Bound;
      const hidden = from.kind === 'table' ? 1 : 0;
      const names = info
        .getColumnIndexes()
        .map((index) => schema.fields[index - hidden]?.name)
        .filter((column) => column !== undefined);
      const { json } = pull({ open: from, columns: names });
      const { scan, rows } = json as PullScan;
      info.setMaxThreads(1);
      const started: Scan = {
        id: scan,
        columns: names.length,
        batches: [],
        at: 0,
        rows: rows ?? undefined,
        buffer: new Uint8Array(),
      };
      info.setInitData(started);
    },
    mainFunction(info, { chunk }) {
      fillChunk(chunk, info.initData as Scan);
    },
  });
}

/** Returns the names of the columns in the engine, which ignores case: `id` and `ID` are `id` and `ID_1`. */
function columnNames({ fields }: Schema): string[] {
  const taken = new Set<string>();
  return fields.map(({ name }) => {
    let free = name;
    for (let times = 1; taken.has(free.toLowerCase()); times++) free = `${name}_${times}`;
    taken.add(free.toLowerCase());
    return free;
  });
}

/** Fills the next rows of a scan; no rows end the scan. */
function fillChunk(chunk: duckdb.DataChunk, scan: Scan): void {
  if (scan.rows !== undefined) {
    const rows = Math.min(chunkRows, scan.rows);
    scan.rows -= rows;
    return duckdb.data_chunk_set_size(chunk, rows);
  }
  if (scan.batches[0] && scan.at >= scan.batches[0].numRows) {
    scan.batches.shift();
    scan.at = 0;
  }
  if (scan.batches.length === 0) {
    const { bytes } = pull({ next: scan.id }, (length) => {
      if (scan.buffer.length < length) scan.buffer = new Uint8Array(length);
      return scan.buffer.subarray(0, length);
    });
    if (bytes.length === 0) return duckdb.data_chunk_set_size(chunk, 0);
    scan.batches = tableFromIPC(bytes).batches;
  }
  const batch = scan.batches[0]!;
  const rows = Math.min(chunkRows, batch.numRows - scan.at);
  duckdb.data_chunk_set_size(chunk, rows);
  for (let index = 0; index < scan.columns; index++)
    fillVector(duckdb.data_chunk_get_vector(chunk, index), batch.data.children[index] as Data, scan.at, rows);
  scan.at += rows;
}
