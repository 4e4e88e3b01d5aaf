import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { inRoot } from '../../../scripts/paths.ts';
import { trackProcessGroup } from '../../../scripts/processes.ts';
import { python } from '../../harness/needs/python.ts';
import { sorted, type Tree } from './trees.ts';

type Running = {
  child: ChildProcessByStdio<Writable, Readable, null>;
  lines: Interface;
  answers: AsyncIterator<string>;
};

/**
 * A Python process with upstream's `lance.namespace.DirectoryNamespace`, which reads roots. It starts with the first
 * root.
 */
export class UpstreamReader {
  #running: Running | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** Reads everything that upstream lists in a root. */
  read(location: { root: string; storageOptions?: Record<string, string> | undefined }): Promise<Tree> {
    // One request at a time, because a reply does not name its root.
    const next = this.#last.then(async () => {
      const { child, answers } = (this.#running ??= start());
      child.stdin.write(`${JSON.stringify(location)}\n`);
      const { value, done } = await answers.next();
      if (done) throw new Error(`Upstream's client in Python ended while it read ${location.root}.`);
      return sorted(JSON.parse(value) as Tree);
    });
    this.#last = next.catch(() => undefined);
    return next;
  }

  async stop(): Promise<void> {
    const running = this.#running;
    if (!running) return;
    this.#running = undefined;
    running.lines.close();
    running.child.stdin.end();
    if (running.child.exitCode === null && running.child.signalCode === null) await once(running.child, 'exit');
  }
}

function start(): Running {
  const child = spawn(python(), [inRoot('test/contract/python/readTrees.py')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  trackProcessGroup(child);
  const lines = createInterface({ input: child.stdout });
  return { child, lines, answers: lines[Symbol.asyncIterator]() };
}
