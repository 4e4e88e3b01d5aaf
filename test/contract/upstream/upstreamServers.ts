import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { inRoot } from '../../../scripts/paths.ts';
import { trackProcessGroup } from '../../../scripts/processes.ts';
import { python } from '../../harness/needs/python.ts';

/**
 * One Python process with upstream's `lance.namespace.RestAdapter`, an independent server of the specification for
 * directories. The process takes more than a second to start; a further server takes less than a millisecond. So the
 * first root starts the process, and all suites use it.
 */
export class UpstreamServers {
  #child: ChildProcessByStdio<Writable, Readable, null> | undefined;
  #lines: AsyncIterator<string> | undefined;
  #reader: Interface | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** Starts a server on a directory and returns its address. */
  serve(root: string): Promise<string> {
    // One request at a time, because a reply does not name its root.
    const next = this.#last.then(() => this.#ask(root));
    this.#last = next.catch(() => undefined);
    return next;
  }

  /** Ends all servers. */
  async stop(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    this.#child = undefined;
    this.#reader?.close();
    child.stdin.end();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }

  async #ask(root: string): Promise<string> {
    const child = (this.#child ??= this.#start());
    child.stdin.write(`${root}\n`);
    const { value, done } = await this.#lines!.next();
    if (done || !/^\d+$/.test(value)) throw new Error(`Upstream's server said: ${done ? 'nothing' : value}`);
    return `http://127.0.0.1:${value}`;
  }

  #start(): ChildProcessByStdio<Writable, Readable, null> {
    const program = inRoot('test/contract/python/upstreamServers.py');
    const child = spawn(python(), [program], { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
    trackProcessGroup(child);
    this.#reader = createInterface({ input: child.stdout });
    this.#lines = this.#reader[Symbol.asyncIterator]();
    return child;
  }
}
