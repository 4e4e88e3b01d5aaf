import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { tableFromIPC } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { arrowStreamMime } from '#shared/mime.ts';
import { descendantsOf } from '../processTree.ts';
import { type ServeProcess, startServe, writeKeys } from './serveProcess.ts';

// Sends hostile requests of many kinds to a real server, some with a read-only key and some without a key. A good
// client uses the same server at the same time.

export const tableRows = 1_000;

/** Creates the table that the mix reads: a column of each kind that the hostile requests need. */
export async function createMixTable(db: Catalog): Promise<void> {
  const table = await db.createTable(
    't',
    Array.from({ length: tableRows }, (_, id) => ({
      id: BigInt(id),
      b: id % 2 === 0,
      s: `row ${id} of many`,
      v: Float32Array.from({ length: 16 }, (__, at) => (id * (at + 1)) % 7),
    })),
  );
  await table.createIndex('s', { type: 'FTS' });
}

const hostileKey = 'the-key-of-a-guest-01234567';
const goodKey = 'the-key-of-a-colleague-0123';

/** Starts the server with a key for each of the two clients. */
export const startMixServer = (root: string, seconds: number): Promise<ServeProcess> => {
  const keys = writeKeys([
    ['guest', hostileKey, 'read-only', '*'],
    ['colleague', goodKey, 'read-only', '*'],
  ]);
  return startServe(['--root', root, '--keys', keys, '--query-timeout', String(seconds), '--query-processes', '4']);
};

type Hostile = { readonly operation: string; readonly body: object };

const count = (predicate: string): Hostile => ({ operation: 'count_rows', body: { predicate } });
const query = (part: object, k = 10): Hostile => ({ operation: 'query', body: { vector: {}, k, ...part } });

/**
 * SQL, text and vectors that need gigabytes of memory, minutes of time, or a deep stack. `at` makes each request
 * different.
 */
const hostile: readonly ((at: number) => Hostile)[] = [
  (at) => count(`length(repeat('x', ${400_000_000 + at} + id)) = id`),
  (at) => count(`array_length(array_repeat(id, ${100_000_000 + at} + id)) = 1`),
  (at) => count(`length(lpad('x', ${400_000_000 + at} + id, 'y')) = id`),
  (at) => count(`length(${growing(`repeat('x', ${1_000 + at})`)}) = id`),
  (at) => ({
    operation: 'explain_plan',
    body: { query: query({ filter: `repeat('x', ${2_000_000_000 + at}) = s` }).body },
  }),
  (at) => ({
    operation: 'analyze_plan',
    body: query({ filter: `length(repeat('y', ${400_000_000 + at} + id)) = 1` }).body,
  }),
  (at) => query({ columns: { column_aliases: { x: `repeat('x', ${100_000_000 + at} + id)` } } }),
  // This filter takes minutes but no memory.
  (at) => count(`levenshtein(repeat(s, ${5_000 + at}), repeat(s, ${5_001 + at})) = 1`),
  (at) =>
    query({ columns: { column_aliases: { x: `levenshtein(repeat(s, ${5_000 + at}), repeat('x', 50000))` } } }, 1_000),
  (at) => query({ full_text_query: { string_query: { query: `row ${'many '.repeat(200)}${at}` } } }, 1_000_000),
  (at) => count(`X'\\''${'::string::int'.repeat(3_000 + at)} --'`),
  (at) => query({ filter: Array.from({ length: 100_000 }, () => 'b').join(' AND ') + ` AND id = ${at}` }),
  () => query({ vector: { single_vector: Array.from({ length: 100_000 }, () => 1) }, refine_factor: 4_000_000_000 }),
  (at) => query({ order_by: [{ column: 's' }], filter: `id + ${at} > 0` }, 4_000_000_000),
];

/** Returns SQL that replaces 'x' by the text `by`, and then each 'x' in the result by `by` again. */
const growing = (by: string): string => `replace(replace('x', 'x', ${by}), 'x', ${by})`;

export type MixReport = {
  /** The number of responses to hostile requests by status. The status 0 stands for a broken connection. */
  readonly statuses: Readonly<Record<number, number>>;
  /** The number of answered requests of the good client. */
  readonly good: number;
  /** Descriptions of wrong answers to the good client. */
  readonly wrong: readonly string[];
  /** The time within which 99 of 100 health checks were answered, milliseconds. */
  readonly usualHealthMs: number;
  /** Longest times, milliseconds. */
  readonly healthMs: number;
  readonly pageMs: number;
  readonly filterMs: number;
  /** The largest resident memory in bytes, first of the server, then of any of its processes for queries. */
  readonly serverBytes: number;
  readonly queryBytes: number;
};

/** Runs the mix against a server for some seconds. */
export async function runMix(server: ServeProcess, seconds: number, senders = 6): Promise<MixReport> {
  const end = performance.now() + seconds * 1000;
  const isOver = (): boolean => performance.now() > end;
  const statuses: Record<number, number> = {};
  const wrong: string[] = [];
  let at = 0;
  let good = 0;
  const health: number[] = [];
  let [pageMs, filterMs, serverBytes, queryBytes] = [0, 0, 0, 0];

  const attack = async (): Promise<void> => {
    while (!isOver()) {
      const { operation, body } = hostile[at % hostile.length]!(at++);
      const { status } = await post(server, hostileKey, operation, body, 60_000).catch(() => ({ status: 0 }));
      statuses[status] = (statuses[status] ?? 0) + 1;
      // Pause after each request. Without a pause, a flood of refused requests would only measure how fast this process
      // sends.
      await sleep(20);
    }
  };
  /** Sends a request and closes the connection before the answer. */
  const leave = async (): Promise<void> => {
    while (!isOver()) {
      const { operation, body } = hostile[at % hostile.length]!(at++);
      await post(server, hostileKey, operation, body, 300).catch(() => undefined);
    }
  };
  const intrude = async (): Promise<void> => {
    const open: Socket[] = [];
    while (!isOver()) {
      const socket = connect(server.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.resume();
      socket.write(`POST /v1/table/t/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n{`);
      open.push(socket);
      if (open.length > 100) open.shift()?.destroy();
      await sleep(20);
    }
    for (const socket of open) socket.destroy();
  };
  const check = (what: string, isRight: boolean, status: number, text: Buffer): void => {
    good++;
    if (!isRight) wrong.push(`${what}: ${status} ${text.toString('utf8', 0, 300)}`);
  };
  const work = async (): Promise<void> => {
    for (let turn = 0; !isOver(); turn++) {
      const offset = (turn * 50) % tableRows;
      const page = await timed(() => post(server, goodKey, 'query', { vector: {}, k: 50, offset }, 30_000));
      pageMs = Math.max(pageMs, page.ms);
      check('page', page.status === 200 && ids(page.body).join() === range(offset, 50).join(), page.status, page.body);
      const filter = turn % 5 === 0 ? `id >= ${offset} AND id < ${offset + 7}` : 'id < 7';
      const found = await timed(() => post(server, goodKey, 'query', { vector: {}, k: 50, filter }, 60_000));
      filterMs = Math.max(filterMs, found.ms);
      check('filter', found.status === 200 && ids(found.body).length === 7, found.status, found.body);
      await sleep(50);
    }
  };
  const watch = async (): Promise<void> => {
    while (!isOver()) {
      const { ms, status, body } = await timed(() => send(server, 'GET', '/healthz', {}, '', 10_000));
      health.push(ms);
      check('health', status === 200, status, body);
      serverBytes = Math.max(serverBytes, residentBytes(server.pid));
      for (const { pid } of descendantsOf(server.pid)) queryBytes = Math.max(queryBytes, residentBytes(pid));
      await sleep(100);
    }
  };
  await Promise.all([...Array.from({ length: senders }, attack), leave(), intrude(), work(), watch()]);
  const sorted = health.toSorted((a, b) => a - b);
  const usualHealthMs = sorted[Math.floor(sorted.length * 0.99)] ?? 0;
  const healthMs = sorted.at(-1) ?? 0;
  return { statuses, good, wrong, usualHealthMs, healthMs, pageMs, filterMs, serverBytes, queryBytes };
}

type Answer = { status: number; body: Buffer };

async function timed(call: () => Promise<Answer>): Promise<Answer & { ms: number }> {
  const started = performance.now();
  const answer = await call().catch((error: unknown) => ({ status: 0, body: Buffer.from(String(error)) }));
  return { ...answer, ms: performance.now() - started };
}

const agent = new Agent({ keepAlive: true });

const post = (server: ServeProcess, key: string, operation: string, body: object, ms: number): Promise<Answer> =>
  send(
    server,
    'POST',
    `/v1/table/t/${operation}`,
    { 'x-api-key': key, 'content-type': 'application/json', accept: arrowStreamMime },
    JSON.stringify(body),
    ms,
  );

function send(
  server: ServeProcess,
  method: string,
  path: string,
  headers: Record<string, string>,
  body: string,
  ms: number,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(ms);
    const sent = request(`${server.address}${path}`, { method, headers, agent, signal }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) }));
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

function ids(stream: Buffer): number[] {
  try {
    return [...(tableFromIPC(stream).getChild('id') ?? [])].map(Number);
  } catch {
    return [];
  }
}

const range = (first: number, length: number): number[] => Array.from({ length }, (_, index) => first + index);

function residentBytes(pid: number): number {
  try {
    const line = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return Number(line?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
