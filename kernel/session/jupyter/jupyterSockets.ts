import { setTimeout as sleep } from 'node:timers/promises';
import { Router } from 'zeromq';
import type { Connection } from './connectionFile.ts';
import type { Frames } from './jupyterFrames.ts';
import { MessageGate } from './messageGate.ts';
import { Publisher } from './jupyterPublisher.ts';

export type Sockets = {
  /** @param taken called when ZeroMQ has accepted or dropped the message */
  publish(frames: Frames, taken?: () => void): void;
  reply(channel: 'shell' | 'control', frames: Frames): void;
  /** Sends on the stdin channel. Returns `false` if the addressed client is not connected. */
  ask(frames: Frames): Promise<boolean>;
  /** Published bytes that clients have not read yet. */
  backlog(): number;
  close(): Promise<void>;
  /** Removes files that would otherwise stay on the disk. Called before the process is killed. */
  abandon(): void;
};

export type SocketEvents = {
  request(channel: 'shell' | 'control' | 'stdin', frames: Buffer[]): void;
  subscribed(topic: string): void;
};

/** Time limit for sending the remaining messages when the sockets are closed. */
export const lingerMs = 300;
/**
 * Number of tries to send a question. A new client may connect its shell channel before its stdin channel, so the first
 * tries may fail.
 */
const askTries = 20;
const askAgainMs = 100;
/**
 * Maximum size of a message. A larger message closes the connection. The limit is enough for a file that is passed to a
 * widget, and keeps a client from filling the memory.
 */
const maxMessageBytes = 64 << 20;
const maxSmallMessageBytes = 64 << 10;

/**
 * Binds the sockets, reads them until they are closed, and answers the heartbeat.
 * @param starting a message to publish before any client can subscribe: the first message that a client receives must
 * be its own welcome
 */
export async function bindSockets(connection: Connection, events: SocketEvents, starting: Frames): Promise<Sockets> {
  const small = { linger: lingerMs, maxMessageSize: maxSmallMessageBytes };
  const large = { linger: lingerMs, maxMessageSize: maxMessageBytes };
  // A ZeroMQ socket can send only one message at a time.
  const last = new Map<Router, Promise<void>>();
  const send = (socket: Router, frames: Frames) => {
    const sent = (last.get(socket) ?? Promise.resolve())
      .then(() => socket.send(frames))
      // A failure to send is ignored, because a disconnected client is not a failure of the kernel.
      .catch(() => {});
    last.set(socket, sent);
  };
  const iopub = new Publisher(small);
  iopub.publish(starting);
  const shell = new Router(large);
  const control = new Router(large);
  const stdin = new Router({ ...large, mandatory: true });
  const heartbeat = new Router(small);
  const gate = new MessageGate();
  const binds = await Promise.allSettled([
    gate.bind(iopub.socket, connection.iopub_port, maxSmallMessageBytes),
    gate.bind(shell, connection.shell_port, maxMessageBytes),
    gate.bind(control, connection.control_port, maxMessageBytes),
    gate.bind(stdin, connection.stdin_port, maxMessageBytes),
    gate.bind(heartbeat, connection.hb_port, maxSmallMessageBytes),
  ]);
  const failed = binds.find((bind) => bind.status === 'rejected');
  if (failed) {
    // The process ends after this error. All sockets are closed first, because a socket that is open or binding at the
    // end can abort the process.
    for (const socket of [iopub.socket, shell, control, stdin, heartbeat]) socket.close();
    await gate.close(0);
    throw failed.reason;
  }
  void read(shell, (frames) => events.request('shell', frames));
  void read(control, (frames) => events.request('control', frames));
  void read(stdin, (frames) => events.request('stdin', frames));
  void read(heartbeat, (frames) => send(heartbeat, frames));
  void read(iopub.socket, ([frame]) => {
    // ZeroMQ's subscription frame: byte 1, then the topic.
    if (frame?.[0] === 1) events.subscribed(frame.subarray(1).toString());
  });
  return {
    publish: (frames, taken) => iopub.publish(frames, taken),
    reply: (channel, frames) => send(channel === 'shell' ? shell : control, frames),
    async ask(frames) {
      for (let tries = 0; tries < askTries; tries++, await sleep(askAgainMs)) {
        try {
          await stdin.send(frames);
          return true;
        } catch {
          // The client is not connected yet or has disconnected. In both cases ZeroMQ reports "host unreachable".
        }
      }
      return false;
    },
    backlog: () => iopub.backlog,
    abandon: () => gate.removeFolder(),
    async close() {
      await Promise.all(last.values());
      await iopub.close(lingerMs);
      for (const socket of [shell, control, stdin, heartbeat]) socket.close();
      // Waits until unsent messages have passed to ZeroMQ's own thread. That thread ends with the process.
      await sleep(50);
      await gate.close(lingerMs);
    },
  };
}

async function read(socket: AsyncIterable<Buffer[]>, take: (frames: Buffer[]) => void): Promise<void> {
  try {
    for await (const frames of socket) take(frames);
  } catch {
    // Reading ends with an error when the socket is closed. Only `close` closes it, so the error is ignored.
  }
}
