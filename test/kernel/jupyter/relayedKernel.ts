import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { Dealer, Subscriber } from 'zeromq';
import { kernelFlags } from '#processes/nodeVersion.ts';
import { isUsable, snapshotFlags, snapshotOf } from '#processes/startSnapshot.ts';
import { ports } from '#session/jupyter/connectionFile.ts';
import { createSigner, decodeMessage, encodeMessage, type Frames } from '#session/jupyter/jupyterFrames.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { freePorts } from '../../harness/freePorts.ts';
import { tempFolder } from '../../harness/temp.ts';
import { kernelEntry, sleep } from '../support.ts';

const relayEntry = inRoot('dist/relay.cjs');
const flags = kernelFlags(process.versions.node);

/** The flags and the script of a kernel that starts from the snapshot of these tests, as launcher.sh starts it. */
const startedKernel = (() => {
  const plain = { node: process.execPath, version: process.versions.node, flags, entry: kernelEntry };
  const snapshot = snapshotOf(plain);
  return snapshot && isUsable(snapshot)
    ? [...flags, ...snapshotFlags(snapshot), snapshot.entry]
    : [...flags, kernelEntry];
})();

/** Returns the shell lines that start a kernel with a relay, which waits in `folder`, with the following arguments. */
const script = (folder: string): string =>
  [
    `relay='${folder}'/$$`,
    `"$0" '${relayEntry}' "$relay" $$ "$@" &`,
    `exec "$0" ${flags.join(' ')} '${kernelEntry}' "$@" "--relay=$relay"`,
  ].join('\n');

/** Changes the kernelspec of a Jupyter home so that kernels start with a relay, but without a snapshot. */
export function relayKernelspec(jupyter: string): void {
  const file = join(jupyter, 'kernels/lance-typescript/kernel.json');
  const spec = JSON.parse(readFileSync(file, 'utf8')) as { argv: string[] };
  const given = spec.argv.slice(spec.argv.findIndex((each) => each.endsWith('launcher.cjs')) + 1);
  const argv = ['/bin/sh', '-c', script(jupyter), process.execPath, ...given];
  writeFileSync(file, JSON.stringify({ ...spec, argv }));
}

export type Told = { type: string; parent: unknown; content: Record<string, unknown>; session: string };

/** A connection file, the processes that use it, and a client of its sockets. */
export class RelayedKernel {
  readonly #folder = tempFolder('lr-');
  readonly #file = join(this.#folder, 'connection.json');
  readonly #signer = createSigner('a key');
  readonly #open: { close(): void }[] = [];
  readonly #started: ChildProcess[] = [];
  readonly path = join(this.#folder, 's');
  readonly told: Told[] = [];
  ports: Record<string, number> = {};

  static async make(): Promise<RelayedKernel> {
    const made = new RelayedKernel();
    const free = await freePorts(ports.length);
    for (const [index, name] of ports.entries()) made.ports[name] = free[index]!;
    const file = { ...made.ports, transport: 'tcp', ip: '127.0.0.1', key: 'a key', signature_scheme: 'hmac-sha256' };
    writeFileSync(made.#file, JSON.stringify(file));
    return made;
  }

  /** Starts a relay. @param kernel the process id of the relay's kernel */
  relay(kernel = process.pid, ...args: string[]): ChildProcess {
    return this.#start([relayEntry, this.path, String(kernel), `--connection-file=${this.#file}`, ...args]);
  }

  /** Starts a process with a relay that never becomes a kernel. */
  idler(): ChildProcess {
    const idle = `"$0" "$1" "$2" $$ "$3" & exec sleep 60`;
    const args = ['-c', idle, process.execPath, relayEntry, this.path, `--connection-file=${this.#file}`];
    return this.#keep(spawn('/bin/sh', args, { stdio: ['ignore', 'ignore', 'pipe'] }));
  }

  kernel(...args: string[]): ChildProcess {
    return this.#start([...startedKernel, `--connection-file=${this.#file}`, `--relay=${this.path}`, ...args]);
  }

  /** Receives published messages from now on. */
  listen(): void {
    const socket = new Subscriber({ linger: 0 });
    this.#open.push(socket);
    socket.subscribe();
    socket.connect(this.#at('iopub_port'));
    void this.#read(socket);
  }

  /** Returns a socket that sends the same frames of a request repeatedly and receives its replies. */
  dealer(): { send(frames: Frames): Promise<void> } {
    const socket = new Dealer({ linger: 0 });
    this.#open.push(socket);
    socket.connect(this.#at('shell_port'));
    void this.#read(socket);
    return socket;
  }

  request(type: string, content: unknown, id: string = randomUUID()): Frames {
    const parent = undefined;
    return encodeMessage({ identities: [], type, content, parent, id }, 'of the client', this.#signer);
  }

  /** Connects to the relay as if it was its kernel. */
  async stranger(): Promise<Socket> {
    for (const end = Date.now() + 20_000; Date.now() < end; await sleep(10)) {
      const socket = connect(this.path);
      try {
        await once(socket, 'data');
        return socket;
      } catch {
        // Try again, because the path exists a moment before the socket listens.
      }
    }
    throw new Error('Nobody listens for the kernel.');
  }

  /** Returns the messages whose parent is a request. */
  answers = (id: string): Told[] =>
    this.told.filter(({ parent }) => (parent as { msg_id?: unknown } | undefined)?.msg_id === id);

  /** Ends everything that was started. */
  async end(): Promise<void> {
    for (const each of this.#open) each.close();
    for (const child of this.#started) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  }

  #at = (port: (typeof ports)[number]): string => `tcp://127.0.0.1:${this.ports[port]}`;

  #start(args: string[]): ChildProcess {
    return this.#keep(spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] }));
  }

  #keep(child: ChildProcess): ChildProcess {
    this.#started.push(child);
    return child;
  }

  async #read(socket: AsyncIterable<Buffer[]>): Promise<void> {
    // Each socket has its own signer, which refuses a message that it has already seen. So a test fails if a socket
    // receives a message twice.
    const signer = createSigner('a key');
    try {
      for await (const frames of socket) {
        const message = decodeMessage(frames, signer);
        if (!message) continue;
        const { header, parent, content } = message;
        this.told.push({ type: header.msg_type, parent, content, session: header.session });
      }
    } catch {
      // The socket was closed.
    }
  }
}
