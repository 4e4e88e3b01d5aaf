import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, renameSync, writeFileSync } from 'node:fs';
import { type Agent, type IncomingHttpHeaders, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isAbsolute, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Table, tableFromArrays, tableToIPC } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { openRest } from '#catalog/rest/restCatalog.ts';
import { catalogErrorCodes, type CatalogErrorKind } from '#shared/errors.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { endGroup, trackProcessGroup } from '../../../scripts/processes.ts';
import { tempFolder } from '../../harness/temp.ts';
import { assertNoPath } from '../upstream/replyPaths.ts';

const cliEntry = inRoot('dist/cli.cjs');

export type Sent = {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  /** Default for a POST: `{}`. */
  body?: string | Uint8Array;
  agent?: Agent;
};
export type Answer = { status: number; headers: IncomingHttpHeaders; body: string };
export type LogLine = { level: string; event: string } & Record<string, unknown>;

/**
 * `lance-catalog serve` as a process, accessed by plain HTTP. Fails if a response contains a path from its arguments.
 */
export type ServeProcess = {
  readonly address: string;
  readonly port: number;
  readonly pid: number;
  send(sent: Sent): Promise<Answer>;
  /** Returns its stderr so far. */
  said(): string;
  /** Returns the lines of its log. */
  log(): LogLine[];
  /** Waits for a line of the log. */
  logged(event: string, holds?: (line: LogLine) => boolean): Promise<LogLine>;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with its exit code or signal. */
  readonly exited: Promise<number | NodeJS.Signals | null>;
  /** Sends SIGTERM and waits for its end. */
  stop(): Promise<number | NodeJS.Signals | null>;
};

/** Starts the server on a free port of 127.0.0.1, unless the arguments set another port. */
export async function startServe(
  args: readonly string[],
  options: { env?: Record<string, string>; ca?: string } = {},
): Promise<ServeProcess> {
  const child = spawn(process.execPath, [cliEntry, 'serve', '--json', '--port', '0', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...options.env },
    detached: true,
  });
  trackProcessGroup(child);
  // Paths of the roots, the keys and the certificates.
  const paths = args.map((arg) => arg.replace(/^[\w.-]+=/, '')).filter((arg) => isAbsolute(arg));
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  const exited = once(child, 'exit').then(([code, signal]) => (signal ?? code) as number | NodeJS.Signals | null);
  const line = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([first]) => String(first)),
    exited.then((code) => {
      throw new Error(`lance-catalog serve ended with ${code}:\n${text}`);
    }),
  ]);
  const { address, port, pid } = JSON.parse(line) as { address: string; port: number; pid: number };
  const log = (): LogLine[] =>
    text
      .split('\n')
      .filter((one) => one.startsWith('{'))
      .map((one) => JSON.parse(one) as LogLine);
  return {
    address,
    port,
    pid,
    async send(sent) {
      const answer = await send(address, sent, options.ca);
      assertNoPath(paths, answer.headers, Buffer.from(answer.body));
      return answer;
    },
    said: () => text,
    log,
    async logged(event, holds = () => true) {
      for (const end = Date.now() + 15_000; ; await sleep(20)) {
        const found = log().find((one) => one.event === event && holds(one));
        if (found) return found;
        if (Date.now() > end) throw new Error(`Waited fifteen seconds for the line "${event}" in:\n${text}`);
      }
    },
    kill: (signal) => void child.kill(signal),
    exited,
    async stop() {
      await endGroup(child, 10_000);
      return exited;
    },
  };
}

/** The key of a server that `startServeWithCatalog` starts. It opens everything. */
export const fullKey = 'a-key-that-opens-all-of-it';

/** Starts the server on an empty folder with one key, and connects our own client with this key. */
export async function startServeWithCatalog(): Promise<{ server: ServeProcess; catalog: Catalog }> {
  registerRest();
  const keys = writeKeys([['all', fullKey, 'read-write', '*']]);
  const server = await startServe(['--root', tempFolder(), '--keys', keys]);
  return { server, catalog: await openRest({ uri: server.address, apiKey: fullKey }) };
}

/** Runs `lance-catalog serve` with arguments for which it must end by itself. */
export function runServe(args: readonly string[], env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cliEntry, 'serve', ...args], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
    timeout: 20_000,
  });
  return { code: status, stdout, stderr };
}

function send(address: string, sent: Sent, ca: string | undefined): Promise<Answer> {
  const { method = 'POST', path, headers = {}, body = '{}', agent } = sent;
  const typed = method === 'POST' && typeof body === 'string' ? { 'content-type': 'application/json' } : {};
  return new Promise((resolve, reject) => {
    const url = new URL(path, address);
    const options = {
      method,
      headers: { ...typed, ...headers },
      ...(agent && { agent }),
      ...(ca !== undefined && { ca }),
    };
    const outgoing = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString('utf8'),
        }),
      );
    });
    outgoing.once('error', reject);
    outgoing.end(method === 'POST' ? body : undefined);
  });
}

/** Returns rows as the body of a create or an insert. */
export function rows(count: number, first = 0): Uint8Array {
  const id = BigInt64Array.from({ length: count }, (_, index) => BigInt(first + index));
  return tableToIPC(new Table(tableFromArrays({ id }).batches), 'stream');
}

/** The request that lists the tables of the root. */
export const list = { method: 'GET', path: '/v1/namespace/%24/table/list' };

export const arrowType = { 'content-type': 'application/vnd.apache.arrow.stream' };

/** Writes a key file with the given lines: name, key, access, databases. */
export function writeKeys(
  lines: readonly (readonly [string, string, string, string])[],
  path = join(tempFolder(), 'keys'),
) {
  const text = lines
    .map(
      ([name, key, access, databases]) =>
        `${name} ${createHash('sha256').update(key).digest('hex')} ${access} ${databases}`,
    )
    .join('\n');
  replaceFile(path, `${text}\n`);
  return path;
}

/** Replaces a file in one step; only its owner can read it. */
export function replaceFile(path: string, text: string): void {
  writeFileSync(`${path}.next`, text, { mode: 0o600 });
  chmodSync(`${path}.next`, 0o600);
  renameSync(`${path}.next`, path);
}

/**
 * Asserts that a response is an error of this kind in the contract's format, and that its message contains all `words`.
 */
export function refused(answer: Answer, kind: CatalogErrorKind, ...words: string[]): void {
  assert.ok(answer.status >= 400, `${answer.status} ${answer.body}`);
  const { error, code, detail } = JSON.parse(answer.body) as { error: string; code: number; detail: string };
  assert.equal(code, catalogErrorCodes[kind], `${error} ${detail}`);
  for (const word of words) assert.ok(`${error} ${detail}`.includes(word), answer.body);
}
