import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Pool } from 'undici';
import { arrowStreamMime } from '#shared/mime.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { endGroup, trackProcessGroup } from '../../../scripts/processes.ts';
import { processMemory } from '../../harness/processMemory.ts';
import { python } from '../../harness/needs/python.ts';

/** A server in a separate process, whose memory and processor time can be read. */
export type MeasuredServer = {
  readonly address: string;
  readonly pid: number;
  /** Requests rows in the form that the server sends best: a stream, or a file. */
  readonly accept: string | undefined;
  stop(): Promise<void>;
};

/** Starts `lance-catalog serve` on a folder. @param cli another build than this one */
export async function startOurs(root: string, cli = inRoot('dist/cli.cjs')): Promise<MeasuredServer> {
  const args = [cli, 'serve', '--root', root, '--no-auth', '--port', '0', '--json'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'], detached: true });
  trackProcessGroup(child);
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { address } = JSON.parse(line) as { address: string };
  return { address, pid: child.pid!, accept: arrowStreamMime, stop: () => endGroup(child) };
}

/** Starts upstream's `RestAdapter` on a folder. It answers with Arrow files. */
export async function startUpstream(root: string): Promise<MeasuredServer> {
  const program = inRoot('test/contract/python/upstreamServers.py');
  const child = spawn(python(), [program], { stdio: ['pipe', 'pipe', 'ignore'], detached: true });
  trackProcessGroup(child);
  const line = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>;
  child.stdin.write(`${root}\n`);
  const [port] = await line;
  return {
    address: `http://127.0.0.1:${port}`,
    pid: child.pid!,
    accept: undefined,
    stop: () => endGroup(child),
  };
}

/** Starts a server that has only the engine, which shows the least that a page costs in Node. */
export async function startEngineAlone(root: string): Promise<MeasuredServer> {
  const args = [...process.execArgv, inRoot('test/bench/growth/engineAlone.ts'), root];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  trackProcessGroup(child);
  const [port] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return {
    address: `http://127.0.0.1:${port}`,
    pid: child.pid!,
    accept: undefined,
    stop: () => endGroup(child),
  };
}

/** Sends requests to a server over at most `connections` connections. */
export class Client {
  readonly #pool: Pool;
  readonly #accept: string | undefined;

  constructor({ address, accept }: MeasuredServer, connections = 1) {
    this.#pool = new Pool(address, { connections, pipelining: 1 });
    this.#accept = accept;
  }

  /** Sends a request and reads its response to the end. Returns the bytes. @throws Error unless the status is 200 */
  async post(path: string, body: object, onBytes?: (bytes: number) => void): Promise<number> {
    const headers = { 'content-type': 'application/json', ...(this.#accept !== undefined && { accept: this.#accept }) };
    const response = await this.#pool.request({ method: 'POST', path, headers, body: JSON.stringify(body) });
    let bytes = 0;
    for await (const chunk of response.body) {
      bytes += (chunk as Buffer).length;
      onBytes?.(bytes);
    }
    if (response.statusCode !== 200) throw new Error(`${path} was answered with ${response.statusCode}.`);
    return bytes;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

/** Megabytes that a process has in memory. */
export const memoryOf = (pid: number): number => processMemory(pid, 'now') / 1e6;
/** The most megabytes that a process had in memory. */
export const peakOf = (pid: number): number => processMemory(pid, 'most') / 1e6;

/** Processor time of a process, in milliseconds. */
export function processorTime(pid: number): number {
  const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const fields = rest.split(' ').map(Number);
  return ((fields[11] ?? 0) + (fields[12] ?? 0)) * 10;
}
