// Measures one query in one way, in a separate process: `node sqlRunner.ts '{"way": …}'` prints one line of JSON.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type { Catalog } from '#catalog/catalog.ts';
import { openRest } from '#catalog/rest/restCatalog.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { runStatement } from '#sql/runStatement.ts';
import { openSqlEngine } from '#sql/sqlEngine.ts';
import { processMemory } from '../../harness/processMemory.ts';
import { processorTime } from '../growth/servers.ts';
import { openOldSql } from './oldSql.ts';
import { type SqlQueryName, sqlQueries } from './sqlQueries.ts';

/**
 * `dir` and `serve` are the product over a folder and over a server. `old` copies rows into SQLite. `parquet` is DuckDB
 * alone over Parquet files of the same rows.
 */
export type SqlWay = 'dir' | 'serve' | 'old' | 'parquet';

export type SqlOrder = {
  way: SqlWay;
  query: SqlQueryName;
  /** Folder of the tables and the Parquet files. */
  root: string;
  /** Address of the server. */
  uri?: string;
  /** Number of measured runs, after one unmeasured run. */
  runs: number;
};

/**
 * Milliseconds of each run, and of processors in all runs but the first, in this process and the one with the engine.
 * Other load changes them less. `peak`: the most bytes in memory of the process with the engine. `rows` to compare.
 */
export type SqlRun = { ms: number[]; firstMs: number; processorMs: number; peak: number; rows: string };

type Opened = { run: (text: string) => Promise<unknown[][]>; close: () => Promise<unknown> };

const ways: Record<SqlWay, (order: SqlOrder) => Promise<Opened>> = {
  dir: async ({ root }) => product(await openDir({ root })),
  serve: async ({ uri }) => {
    registerRest();
    return product(await openRest({ uri: uri! }));
  },
  old: async ({ root, query }) => openOldSql(await openDir({ root }), query),
  parquet: async ({ root }) => {
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    for (const name of ['orders', 'products'])
      await connection.run(`CREATE VIEW ${name} AS SELECT * FROM read_parquet('${join(root, name)}.parquet')`);
    return {
      run: async (text) => (await connection.runAndReadAll(text)).getRows(),
      close: async () => connection.closeSync(),
    };
  },
};

function product(catalog: Catalog): Opened {
  const engine = openSqlEngine();
  const { signal } = new AbortController();
  return {
    async run(text) {
      const { batches } = await runStatement(engine, { text, catalog }, signal);
      const rows: unknown[][] = [];
      for await (const batch of batches) for (const row of batch) rows.push(Object.values(row.toJSON()));
      return rows;
    },
    close: () => catalog.close(),
  };
}

/** Process ids of the children of this process. */
const childPids = (): number[] =>
  readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);

/** Follows memory and processor time of this process and its children, some of which end. */
class Watch {
  readonly #way: SqlWay;
  readonly #times = new Map<number, number>();
  readonly #timer = setInterval(() => this.look(), 100);
  peak = 0;

  constructor(way: SqlWay) {
    this.#way = way;
  }

  look(): void {
    for (const pid of [process.pid, ...childPids()]) {
      try {
        this.#times.set(pid, processorTime(pid));
        if (this.#way === 'parquet' || pid !== process.pid)
          this.peak = Math.max(this.peak, processMemory(pid, 'most') || 0);
      } catch {
        // The process has ended meanwhile.
      }
    }
  }

  /** Milliseconds of processors so far. */
  processorMs(): number {
    this.look();
    return [...this.#times.values()].reduce((sum, time) => sum + time, 0);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/** Values as texts, in an order that does not depend on threads; sums of floats are rounded. */
const shown = (rows: readonly unknown[][]): string =>
  rows
    .map((row) => row.map((value) => (typeof value === 'number' ? value.toPrecision(10) : String(value))).join(' '))
    .toSorted()
    .join('\n');

/** Returns the rows without values that may differ: which of several rows with the same amount is first. */
const compared = (query: SqlQueryName, rows: readonly unknown[][]): unknown[][] =>
  query === 'window'
    ? rows.map(([country, , amount, place]) => [country, amount, place])
    : query === 'order'
      ? rows.map((row) => [row[3]])
      : [...rows];

async function main(order: SqlOrder): Promise<SqlRun> {
  const opened = await ways[order.way](order);
  const watch = new Watch(order.way);
  const ms: number[] = [];
  let rows: unknown[][] = [];
  let processorBefore = 0;
  for (let run = 0; run <= order.runs; run++) {
    const started = performance.now();
    rows = await opened.run(sqlQueries[order.query]);
    ms.push(performance.now() - started);
    if (run === 0) processorBefore = watch.processorMs();
  }
  const processorMs = watch.processorMs() - processorBefore;
  watch.stop();
  const [firstMs = 0, ...others] = ms;
  await opened.close();
  return { ms: others, firstMs, processorMs, peak: watch.peak, rows: shown(compared(order.query, rows)) };
}

console.log(JSON.stringify(await main(JSON.parse(process.argv[2]!) as SqlOrder)));
process.exit(0);
