// Measures one way to read a table, in a separate process: `node reader.ts '{"way": …}'` prints one line of JSON.
import { Client } from 'undici';
import { EngineProcess } from '#catalog/engineProcess.ts';
import { readIpc } from '#catalog/arrow/ipcReader.ts';
import type { Table } from '#catalog/table/table.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { inRoot } from '../../scripts/paths.ts';
import { processMemory } from '../harness/processMemory.ts';
import { DirTable } from '#engine/dir/dirTable.ts';

/**
 * `native` reads the engine's buffers without decoding them. `dir` and `rest` read with the product. `bare` reads from
 * the bare server.
 */
export type Way = 'native' | 'dir' | 'rest' | 'bare';

export type ReadOrder = {
  way: Way;
  root: string;
  table: string;
  rows: number;
  /** Number of measured runs, after `warmUps` unmeasured runs. */
  runs: number;
  warmUps: number;
  /** The socket of the bare server. */
  socket?: string;
};

/** Milliseconds from the request to the first batch and to the end. */
export type Run = { first: number; total: number };
/** Maximum memory in use at the same time, in bytes. */
export type ReadResult = { runs: Run[]; peak: { reader: number; server?: number } };

type Read = () => Promise<AsyncIterable<{ numRows: number } | Uint8Array>>;

async function measure(read: Read, wanted: number): Promise<Run> {
  const started = performance.now();
  let first: number | undefined;
  let rows = 0;
  for await (const batch of await read()) {
    first ??= performance.now() - started;
    rows += batch instanceof Uint8Array ? 0 : batch.numRows;
    if (batch instanceof Uint8Array) rows = wanted;
  }
  const total = performance.now() - started;
  if (rows !== wanted) throw new Error(`${rows} rows came where there are ${wanted}`);
  return { first: first ?? total, total };
}

async function main(order: ReadOrder): Promise<ReadResult> {
  const { read, small, server, close } = await ways[order.way](order);
  const runs: Run[] = [];
  for (let run = 0; run < order.warmUps + order.runs; run++) {
    // The first request after a scan also waits until the buffers of the scan are freed, in every way of reading. Send
    // such a request here, so that a run does not include the cleanup of the one before.
    await small?.();
    const measured = await measure(read, order.rows);
    if (run >= order.warmUps) runs.push(measured);
  }
  const peak = {
    reader: processMemory('self', 'most'),
    ...(server !== undefined && { server: processMemory(server, 'most') }),
  };
  await close();
  return { runs, peak };
}

type Opened = {
  read: Read;
  /** Requests one row. */
  small?: () => Promise<unknown>;
  server?: number;
  close: () => Promise<void>;
};

const oneRow = async (table: Table): Promise<unknown> => await table.query().limit(1).toArrow();

const ways: Record<Way, (order: ReadOrder) => Promise<Opened>> = {
  native: async ({ root, table }) => {
    const catalog = await openDir({ root });
    const opened = await catalog.openTable(table);
    if (!(opened instanceof DirTable)) throw new Error('The table of a directory is of another kind.');
    const read = async () => {
      const native = await opened.executeIpc({});
      if (!native || !('buffers' in native)) throw new Error('The engine does not give its buffers.');
      return native.buffers;
    };
    return { read, small: () => oneRow(opened), close: () => catalog.close() };
  },
  dir: async ({ root, table }) => {
    const catalog = await openDir({ root });
    const opened = await catalog.openTable(table);
    return {
      read: async () => (await opened.query().execute()).batches,
      small: () => oneRow(opened),
      close: () => catalog.close(),
    };
  },
  rest: async ({ root, table }) => {
    const engine = await EngineProcess.start({
      entry: inRoot('dist/engine.cjs'),
      node: { path: process.execPath, env: {} },
    });
    const opened = await engine.catalog(root).openTable(table);
    return {
      read: async () => (await opened.query().execute()).batches,
      small: () => oneRow(opened),
      server: engine.handshake.pid,
      close: () => engine.dispose(),
    };
  },
  bare: async ({ socket }) => {
    if (socket === undefined) throw new Error('Say on which socket the bare server is.');
    const client = new Client('http://localhost', { socketPath: socket });
    const read = async () => {
      const { body } = await client.request({ method: 'GET', path: '/' });
      return (await readIpc(body)).batches;
    };
    return { read, close: () => client.close() };
  },
};

if (process.argv[2] !== undefined && import.meta.main) {
  console.log(JSON.stringify(await main(JSON.parse(process.argv[2]) as ReadOrder)));
}
