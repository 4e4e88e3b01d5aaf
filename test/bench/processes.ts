import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { noLimit } from '#catalog/contract.ts';
import { arrowStreamMime } from '#shared/mime.ts';
import { inRoot } from '../../scripts/paths.ts';
import { endGroup, trackProcessGroup } from '../../scripts/processes.ts';
import { startRawEngine } from '../contract/engine/rawEngine.ts';
import { python } from '../harness/needs/python.ts';
import { tempFolder } from '../harness/temp.ts';
import type { BenchTable } from './data.ts';
import type { ReadOrder, ReadResult } from './reader.ts';

/** Runs a program of the benchmarks and parses its one line of JSON. @throws Error with its stderr */
export async function answerOf(
  command: string,
  args: readonly string[],
  where: { env?: NodeJS.ProcessEnv; cwd?: string } = {},
): Promise<unknown> {
  const child = spawn(command, args, { ...where, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  trackProcessGroup(child);
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${args[0]} ended with ${code}: ${errors.trim().split('\n').slice(-5).join('\n')}`);
  return JSON.parse(output.trim().split('\n').at(-1) ?? '');
}

/** Reads a table in a fresh process. */
export const readIn = async (order: ReadOrder): Promise<ReadResult> =>
  (await answerOf(process.execPath, [inRoot('test/bench/reader.ts'), JSON.stringify(order)])) as ReadResult;

/** Reads a table with upstream's own server and client, each in a separate process. */
export const readUpstream = async (table: BenchTable, runs: number, warmUps: number): Promise<ReadResult> =>
  (await answerOf(python(), [
    inRoot('test/bench/python/upstreamReader.py'),
    table.root,
    table.name,
    ...[table.rows, runs, warmUps].map(String),
  ])) as ReadResult;

/** Writes the bytes of our engine's response to a file, unchanged. */
async function capture(table: BenchTable, file: string): Promise<void> {
  const engine = await startRawEngine();
  try {
    await new Promise<void>((resolve, reject) => {
      const asked = request(
        {
          socketPath: engine.socket,
          method: 'POST',
          path: `/v1/table/${table.name}/query`,
          headers: {
            ...engine.headers(table.root),
            'content-type': 'application/json',
            accept: arrowStreamMime,
          },
        },
        (response) => {
          if (response.statusCode !== 200) return reject(new Error(`The engine answered ${response.statusCode}.`));
          pipeline(response, createWriteStream(file)).then(resolve, reject);
        },
      );
      asked.once('error', reject);
      asked.end(JSON.stringify({ k: noLimit, vector: {} }));
    });
  } finally {
    await engine.stop();
  }
}

/** Runs `use` with a bare Node server that sends the same bytes on the same kind of socket. */
export async function withBareServer<T>(table: BenchTable, use: (socket: string) => Promise<T>): Promise<T> {
  const folder = tempFolder();
  const file = join(folder, 'bytes');
  await capture(table, file);
  const socket = join(folder, 's');
  const child = spawn(process.execPath, [inRoot('test/bench/bareServer.ts'), file, socket], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  trackProcessGroup(child);
  try {
    await once(child.stdout, 'data');
    return await use(socket);
  } finally {
    await endGroup(child);
  }
}
