import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { findNode } from '#processes/childProcess.ts';
import { repository } from '../support.ts';

/** The key of every server in these tests. */
export const key = 'sesame-sesame-sesame-sesame';

/** A company's catalog server: `lance-catalog serve` as a separate process on this machine. */
export type CompanyServer = { readonly address: string; stop(): Promise<void> };

/** Serves a directory, as the database `sales` if one is named, to clients with the key. */
export async function startServer(root: string, port = 0): Promise<CompanyServer> {
  const { path, env } = await findNode();
  const args = ['serve', '--json', '--root', root, '--port', String(port), '--api-key-env', 'LANCE_TEST_KEY'];
  const child = spawn(path, [join(repository, 'dist', 'cli.cjs'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env, LANCE_TEST_KEY: key },
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const line = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([first]) => String(first)),
    once(child, 'exit').then(() => Promise.reject(new Error(`The server ended: ${said}`))),
  ]);
  const { address } = JSON.parse(line) as { address: string };
  return { address: address.replace(/\/$/, ''), stop: () => stop(child) };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

/**
 * Stands in for a server that can't rename tables and can't drop namespaces. All other requests go to a real server.
 * Upstream's own server, which can't rename tables, takes seconds to start; the contract suite tests it.
 */
export class LimitedServerStandIn {
  readonly #server: Server;
  readonly #behind: URL;
  /** The URLs of all requests, without the query. */
  readonly asked: string[] = [];
  /** The refused operations, by the last part of their URL. */
  readonly refused: string[] = [];

  constructor(behind: string) {
    this.#behind = new URL(behind);
    this.#server = createServer((asked, answer) => this.#answer(asked, answer));
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #answer(asked: IncomingMessage, answer: ServerResponse): void {
    const { pathname } = new URL(asked.url ?? '/', this.#behind);
    this.asked.push(pathname);
    if (/\/table\/[^/]+\/rename$/.test(pathname) || /\/namespace\/[^/]+\/drop$/.test(pathname)) {
      this.refused.push(pathname.split('/').at(-1) ?? '');
      asked.resume();
      answer.writeHead(406, { 'content-type': 'application/json' });
      answer.end(JSON.stringify({ error: 'This server does not do that.', code: 0 }));
      return;
    }
    const { host: _, ...headers } = asked.headers;
    const onward = request(
      new URL(asked.url ?? '/', this.#behind),
      { method: asked.method ?? 'GET', headers },
      (reply) => {
        answer.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(answer);
      },
    );
    onward.on('error', () => answer.destroy());
    asked.pipe(onward);
  }
}
