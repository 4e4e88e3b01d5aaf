import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type IncomingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type EngineHandshake, parseHandshake } from '#catalog/engineHandshake.ts';
import { tempFolder } from '../../harness/temp.ts';
import { engineEntry } from '../subjects.ts';

/** The engine process, accessed by plain HTTP like any other program on the machine. */
export type RawEngine = {
  readonly socket: string;
  readonly handshake: EngineHandshake;
  /** Returns the headers of an authorized request for a root. */
  headers(root: string): Record<string, string>;
  send(options: { method?: string; path: string; headers: Record<string, string>; body?: string }): Promise<RawAnswer>;
  /** Its exit code, or the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals | null>;
  /** Closes its stdin and resolves with its exit code. */
  stop(): Promise<number | NodeJS.Signals | null>;
};

export type RawAnswer = { status: number; headers: IncomingHttpHeaders; body: string };

/** @param memoryLimit bytes at which the process has to end itself */
export async function startRawEngine(memoryLimit?: number): Promise<RawEngine> {
  const socket = join(tempFolder(), 's');
  const secret = 'a secret of the tests';
  const child = spawn(process.execPath, [engineEntry()], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit').then(([code, signal]) => (signal ?? code) as number | NodeJS.Signals | null);
  child.stdin.write(`${JSON.stringify({ secret, socket, memoryLimit })}\n`);
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const handshake = parseHandshake(line);
  if (!handshake) throw new Error(`The engine said: ${line}`);
  return {
    socket,
    handshake,
    headers: (root) => ({
      host: 'lance-engine',
      authorization: `Bearer ${secret}`,
      'x-lance-root': encodeURIComponent(root),
    }),
    send: ({ method = 'POST', path, headers, body = '{}' }) =>
      new Promise((resolve, reject) => {
        const sent = request({ socketPath: socket, method, path, headers }, (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (chunk: string) => (text += chunk));
          response.once('error', reject);
          response.once('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
          );
        });
        sent.once('error', reject);
        sent.end(method === 'GET' ? undefined : body);
      }),
    exited,
    stop: () => {
      child.stdin.end();
      return exited;
    },
  };
}
