import { type RecordBatch, type Schema, tableFromIPC } from '#arrow';
import { CatalogError } from '#shared/errors.ts';
import { withOwnGlobals } from '#shared/ownGlobals.ts';
import type { EngineMethods, Parameter, ScanSource, TableName } from './messages.ts';
import { findPushdowns, type Pushdown } from './pushdown.ts';
import { QueryPulls } from './pullServer.ts';
import { restoreTypes } from './resultTypes.ts';
import { type FindPosition, locateMissingTable, toUserError } from './sqlErrors.ts';
import { defaultMemoryBytes, takeProcess } from './sqlProcess.ts';
import type { ScanRequest, SqlTable, SqlTables } from './sqlTable.ts';
import { hintsFor, pivotHint, type SqlCaller } from './sqlHints.ts';
import { explainedQuery, readStatement } from './statement.ts';
import { readTree, type SyntaxTree, type TreeNode } from './syntaxTree.ts';

/** A query over tables. */
export type SqlQuery = {
  /** One SELECT, with `?` for each parameter. */
  text: string;
  parameters?: readonly Parameter[] | undefined;
  tables: SqlTables;
  /** Decides about the next steps in errors. Default: a notebook. */
  caller?: SqlCaller | undefined;
  /**
   * Returns the position in what the user wrote for an offset in `text`, for errors. Default: the position in `text`.
   */
  findPosition?: FindPosition | undefined;
  /** Wraps the batches of each scan, for instance to show progress. `total` is undefined if it is unknown. */
  watch?: ((scan: WatchedScan) => AsyncIterable<RecordBatch>) | undefined;
};

export type WatchedScan = { name: string; total: number | undefined; batches: AsyncIterable<RecordBatch> };

/** A running query. The engine is busy until the batches are read to their end, or until `return` of their iterator. */
export type SqlResult = { schema: Schema; batches: AsyncIterable<RecordBatch> };

export type SqlEngineOptions = {
  /** Memory of the engine; data beyond it is written to temporary files. Default: a quarter of the machine's, 4 GB at most. */
  memoryBytes?: number | undefined;
};

export type SqlEngine = {
  /**
   * Starts a query. If `signal` aborts, the engine's process is killed at once.
   * @throws CatalogError InvalidInput (13) if the engine rejects the query, TableNotFound (4), the errors of tables,
   * ServiceUnavailable (17) if the engine's process has ended
   */
  query(query: SqlQuery, signal: AbortSignal): Promise<SqlResult>;
  /**
   * Parses a statement and runs nothing.
   * @throws CatalogError InvalidInput (13) with the position of the first syntax error, ServiceUnavailable (17)
   */
  checkSyntax(text: string, signal: AbortSignal, caller?: SqlCaller): Promise<void>;
};

/**
 * Returns the SQL engine, DuckDB in a child process. The process starts with the first query; it is kept for the next
 * one and ends after a minute without queries. Queries that run at the same time have a process each.
 */
export function openSqlEngine({ memoryBytes = defaultMemoryBytes() }: SqlEngineOptions = {}): SqlEngine {
  return {
    query: (query, signal) => runQuery(query, memoryBytes, signal),
    checkSyntax: async (text, signal, caller) => {
      const { query } = readStatement(text, caller);
      const { taken } = await parseInProcess({ text: query, caller }, memoryBytes, signal);
      await taken.giveBack();
    },
  };
}

type ParsedText = Pick<SqlQuery, 'text' | 'caller' | 'findPosition'>;

type ParsedQuery = { taken: ReturnType<typeof takeProcess>; tree: string | null };

/**
 * Takes a process, and returns it with the syntax tree of a query. If an idle process has died, which may be noticed
 * only now, another one takes over.
 */
async function parseInProcess(query: ParsedText, memoryBytes: number, signal: AbortSignal): Promise<ParsedQuery> {
  const { text, caller, findPosition } = query;
  const taken = takeProcess(signal, memoryBytes);
  try {
    return { taken, tree: await taken.process.request('parse', { text: explainedQuery(text) }) };
  } catch (error) {
    const { end } = taken.process;
    await taken.giveBack();
    signal.throwIfAborted();
    if (taken.isKept && end !== undefined) return parseInProcess(query, memoryBytes, signal);
    throw toUserError(error, { text, tables: [], end, caller, findPosition });
  }
}

async function runQuery(query: SqlQuery, memoryBytes: number, signal: AbortSignal): Promise<SqlResult> {
  const { text, parameters = [], caller, findPosition } = query;
  const { taken, tree } = await parseInProcess(query, memoryBytes, signal);
  const tables: SqlTable[] = [];
  let pulls: QueryPulls | undefined;

  async function request<K extends keyof EngineMethods>(
    method: K,
    params: EngineMethods[K][0],
  ): Promise<EngineMethods[K][1]> {
    try {
      return await taken.process.request(method, params);
    } catch (error) {
      signal.throwIfAborted();
      throw pulls?.error ?? toUserError(error, { text, tables, end: taken.process.end, caller, findPosition });
    }
  }

  let ended: Promise<void> | undefined;
  function end(): Promise<void> {
    pulls?.close();
    return (ended ??= taken.giveBack());
  }

  try {
    if (tree === null) throw notQuery(text, caller);
    const named = await findTables(readTree(tree), query, signal, tables);
    pulls = new QueryPulls(createScans(query, named, parameters), signal);
    taken.process.pulls = pulls;
    const views = named.views.map(({ name }) => name);
    const started = await request('start', { text, parameters, views });
    const schema = withOwnGlobals(() => tableFromIPC(started)).schema;
    const restored = restoreTypes(schema, named.tree, named.tableOf);
    return { schema: restored.schema, batches: closable(readBatches(restored.convert), end) };
  } catch (error) {
    await end();
    throw error;
  }

  async function* readBatches(convert: (batch: RecordBatch) => RecordBatch): AsyncGenerator<RecordBatch> {
    try {
      for (let next = request('next', null); ;) {
        const bytes = await next;
        if (bytes === null) return;
        // The engine computes the next batch while the reader works on this one.
        next = request('next', null);
        next.catch(() => {});
        for (const batch of withOwnGlobals(() => tableFromIPC(bytes)).batches) yield convert(batch);
      }
    } finally {
      await end();
    }
  }
}

function notQuery(text: string, caller: SqlCaller | undefined): CatalogError {
  if (/\bpivot\b/i.test(text))
    return new CatalogError(
      'InvalidInput',
      "Can't run the pivot: it does not name the values of its columns.",
      pivotHint,
    );
  return new CatalogError(
    'InvalidInput',
    'Expected a query, got a statement that changes data.',
    hintsFor(caller).changeRows,
  );
}

/** The tables that a query names, with the view of each. */
type NamedTables = {
  tree: SyntaxTree;
  views: readonly { name: TableName; table: SqlTable }[];
  tableOf: (node: TreeNode) => SqlTable | undefined;
};

async function findTables(
  tree: SyntaxTree,
  { text, tables }: Pick<SqlQuery, 'text' | 'tables'>,
  signal: AbortSignal,
  found: SqlTable[],
): Promise<NamedTables> {
  if (tree.statements.length !== 1)
    throw new CatalogError('InvalidInput', 'There is more than one query.', 'Write one query at a time.');
  const views = new Map<string, { name: TableName; table: SqlTable }>();
  const byNode = new Map<TreeNode, SqlTable>();
  for (const { node, ...name } of tree.references) {
    const database = name.catalog === '' ? name.schema : name.catalog;
    if (ownDatabases.has(database.toLowerCase())) throw reservedName(name);
    const key = JSON.stringify([name.catalog, name.schema === 'main' ? '' : name.schema, name.name]).toLowerCase();
    const known = views.get(key);
    const find = (): Promise<SqlTable> =>
      tables.find(name, signal).catch((error: unknown) => {
        throw locateMissingTable(error, text, node['query_location']);
      });
    const view = known ?? { name, table: await find() };
    if (writtenName(view.name) !== writtenName(name))
      throw new CatalogError(
        'InvalidInput',
        `SQL does not distinguish the names "${writtenName(view.name)}" and "${writtenName(name)}" in a query.`,
        'Write the table in the same way everywhere, or query one of two tables whose names differ only in case.',
      );
    if (!known) found.push(view.table);
    views.set(key, view);
    byNode.set(node, view.table);
  }
  return { tree, views: [...views.values()], tableOf: (node) => byNode.get(node) };
}

/** The databases of the engine. It can't tell a namespace or a catalog with such a name from them. */
const ownDatabases: ReadonlySet<string> = new Set(['system', 'temp']);

const reservedName = ({ catalog, schema, name }: TableName): CatalogError =>
  new CatalogError(
    'InvalidInput',
    `The name "${catalog || schema}" before a table is reserved in SQL.`,
    `Write the table in the namespace as "${[catalog, schema, name].filter((part) => part !== '').join('/')}".`,
  );

const writtenName = ({ catalog, schema, name }: TableName): string =>
  [catalog, schema === 'main' ? '' : schema, name].filter((part) => part !== '').join('.');

function createScans(
  { tables, watch }: SqlQuery,
  { tree, views, tableOf }: NamedTables,
  parameters: readonly Parameter[],
): ConstructorParameters<typeof QueryPulls>[0] {
  const pushdowns: ReadonlyMap<SqlTable, Pushdown> = findPushdowns(tree, parameters, tableOf);
  return {
    async table(source: ScanSource, signal: AbortSignal): Promise<SqlTable> {
      switch (source.kind) {
        case 'table':
          return views[source.table]?.table ?? unsupported('lance_catalog_table');
        case 'version':
          return (await tables.atVersion?.(source.name, source.version, signal)) ?? unsupported('version');
        case 'nearest':
          return (await tables.nearest?.(source.name, source.search, signal)) ?? unsupported('nearest');
        case 'search':
          return (await tables.search?.(source.name, source.text, source.k, signal)) ?? unsupported('search');
      }
    },
    request(source: ScanSource, columns: readonly string[]): ScanRequest {
      const pushdown = source.kind === 'table' ? pushdowns.get(views[source.table]!.table) : undefined;
      return { columns, ...pushdown };
    },
    watch(table, { filter, limit }, batches) {
      const isWhole = filter === undefined && limit === undefined;
      return watch?.({ name: table.name, total: isWhole ? table.rows : undefined, batches }) ?? batches;
    },
  };
}

function unsupported(name: string): never {
  throw new CatalogError('Unsupported', `The function ${name} is not available here.`, 'Query the table itself.');
}

/** Returns batches that can be read once. Unlike a generator, they also end if their reader stops before the first. */
function closable(batches: AsyncGenerator<RecordBatch>, end: () => Promise<void>): AsyncIterable<RecordBatch> {
  const iterator: AsyncIterator<RecordBatch> = {
    next: () => batches.next(),
    async return() {
      await batches.return(undefined);
      await end();
      return { value: undefined, done: true };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}
