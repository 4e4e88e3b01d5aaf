import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type ListenOptions, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

// ZeroMQ limits the size of a frame, but not of a message: it holds all frames of an unfinished message in memory, even
// from an unknown sender. So ZeroMQ listens in a private folder, and this code listens at the addresses of the
// connection file, checks the lengths of the frames and forwards the data to ZeroMQ.

/** Memory that ZeroMQ uses for a frame in addition to its bytes. */
const frameOverhead = 64;
/** Lengths of the greeting in ZMTP 2.0 and from 3.0 on, and the position of the revision in the greeting. */
const oldGreetingBytes = 12;
const greetingBytes = 64;
const revisionAt = 10;
const flags = { more: 1, long: 2, command: 4 } as const;

/**
 * Returns a function that receives the data of a peer. The function returns whether the peer's current message is
 * within `maxBytes`. Peers speak ZMTP 2.0 (https://rfc.zeromq.org/spec/15/) or newer (https://rfc.zeromq.org/spec/37/).
 */
export function messageMeter(maxBytes: number): (chunk: Uint8Array) => boolean {
  // Bytes of a greeting or of the start of a frame. They are collected, because they may arrive one by one.
  let head: number[] = [];
  let isGreeted = false;
  let skip = 0;
  let message = 0;

  const greeting = (): boolean => {
    if (head[0] !== 0xff || head[revisionAt] === 0) return false;
    if (head.length <= revisionAt) return true;
    if (head.length < (head[revisionAt] === 1 ? oldGreetingBytes : greetingBytes)) return true;
    isGreeted = true;
    head = [];
    return true;
  };
  const frame = (): boolean => {
    const [first = 0] = head;
    const lengthBytes = (first & flags.long) === 0 ? 1 : 8;
    if (head.length <= lengthBytes) return true;
    skip = head.slice(1).reduce((length, byte) => length * 256 + byte, 0);
    head = [];
    message += skip + frameOverhead;
    if (message > maxBytes) return false;
    // A command may occur between the frames of a message, so it does not count as a part of the message.
    if ((first & flags.command) !== 0) message -= skip + frameOverhead;
    else if ((first & flags.more) === 0) message = 0;
    return true;
  };
  return (chunk) => {
    for (let at = 0; at < chunk.length;) {
      const skipped = Math.min(skip, chunk.length - at);
      skip -= skipped;
      at += skipped;
      if (at === chunk.length) break;
      head.push(chunk[at++] ?? 0);
      if (!(isGreeted ? frame() : greeting())) return false;
    }
    return true;
  };
}

/** Maximum length of the folder. The system limits the path of a socket to about 100 bytes. */
const maxFolderBytes = 80;

export class MessageGate {
  readonly #folder: string | undefined;
  readonly #servers: Server[] = [];
  readonly #open = new Set<Socket>();

  constructor() {
    // ZeroMQ has no Unix sockets on Windows, so on Windows ZeroMQ itself listens at the addresses.
    if (process.platform === 'win32') return;
    const parent = Buffer.byteLength(tmpdir()) > maxFolderBytes ? '/tmp' : tmpdir();
    this.#folder = mkdtempSync(join(parent, 'lance-zmq-'));
  }

  /**
   * Lets a ZeroMQ socket listen at an address of a connection file.
   * @param maxBytes maximum bytes of a message; a peer that sends a longer message is disconnected
   * @throws an error of the file system or the network
   */
  async bind(socket: { bind(address: string): Promise<void> }, address: string, maxBytes: number): Promise<void> {
    if (this.#folder === undefined) return socket.bind(address);
    const path = join(this.#folder, String(this.#servers.length));
    const server = createServer({ noDelay: true }, (peer) => this.#forward(peer, path, maxBytes));
    this.#servers.push(server);
    await socket.bind(`ipc://${path}`);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(listenOptions(address), resolve);
    });
  }

  /** Stops listening, and waits at most `milliseconds` until the closed ZeroMQ sockets have sent everything. */
  async close(milliseconds: number): Promise<void> {
    for (const server of this.#servers) server.close();
    for (const end = Date.now() + milliseconds; this.#open.size > 0 && Date.now() < end;) await sleep(5);
    for (const socket of this.#open) socket.destroy();
    this.removeFolder();
  }

  /** Removes the private folder. Called when the process ends. */
  removeFolder(): void {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }

  #forward(peer: Socket, path: string, maxBytes: number): void {
    const inner = connect(path);
    const isWithin = messageMeter(maxBytes);
    for (const [socket, other] of [
      [peer, inner],
      [inner, peer],
    ] as const) {
      this.#open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#open.delete(socket);
        // If the peer has closed, the connection to ZeroMQ is destroyed. If ZeroMQ has closed, the data that it sent
        // must still reach the peer, so the connection to the peer is ended and not destroyed.
        if (socket === peer) other.destroy();
        else other.end();
      });
    }
    peer.on('data', (chunk) => {
      if (!isWithin(chunk)) {
        inner.destroy();
        peer.destroy();
      } else if (!inner.write(chunk)) peer.pause();
    });
    inner.on('drain', () => peer.resume());
    inner.pipe(peer);
  }
}

function listenOptions(address: string): ListenOptions {
  const [, host = '', port] = /^tcp:\/\/(.*):(\d+)$/.exec(address) ?? [];
  if (port !== undefined) return { port: Number(port), ...(host !== '*' && { host }) };
  const path = address.replace(/^ipc:\/\//, '');
  // Removes the path that a killed process may have left.
  rmSync(path, { force: true });
  return { path };
}
