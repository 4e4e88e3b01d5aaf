import { setTimeout as sleep } from 'node:timers/promises';
import { Router } from 'zeromq';
import type { Connection } from './connectionFile.ts';
import type { Frames } from './jupyterFrames.ts';
import { Publisher } from './jupyterPublisher.ts';

/** The five sockets of a kernel. */
export type Sockets = {
  /** @param taken called when ZeroMQ has the message, or it was given up */
  publish(frames: Frames, taken?: () => void): void;
  reply(channel: 'shell' | 'control', frames: Frames): void;
  /** Sends on the stdin channel. `false` when the client that the frames name is not there. */
  ask(frames: Frames): Promise<boolean>;
  /** Bytes that wait for clients to read what was published. */
  backlog(): number;
  close(): Promise<void>;
};

export type SocketEvents = {
  request(channel: 'shell' | 'control' | 'stdin', frames: Buffer[]): void;
  subscribed(topic: string): void;
};

/** How long clients have to take what is left when the sockets are closed. */
export const lingerMs = 300;
/** A client that has just come may have its shell channel before its stdin channel. */
const askTries = 20;
const askAgainMs = 100;
/** Larger frames close the connection that they come over: a file given to a widget fits, what fills memory does not. */
const maxFrameBytes = 128 << 20;
const maxSmallFrameBytes = 64 << 10;

/**
 * Binds the sockets and reads them until they are closed; the heartbeat is answered here.
 * @param starting published before anybody can listen: the first that a client hears is its welcome
 */
export async function bindSockets(connection: Connection, events: SocketEvents, starting: Frames): Promise<Sockets> {
  const small = { linger: lingerMs, maxMessageSize: maxSmallFrameBytes };
  const large = { linger: lingerMs, maxMessageSize: maxFrameBytes };
  // A frame may not have gone when the next one is asked for, and a socket sends one at a time.
  const last = new Map<Router, Promise<void>>();
  const send = (socket: Router, frames: Frames) => {
    const sent = (last.get(socket) ?? Promise.resolve())
      .then(() => socket.send(frames))
      // A front that went away is no failure of the kernel; zeromq drops what it can't deliver.
      .catch(() => {});
    last.set(socket, sent);
  };
  const iopub = new Publisher(small);
  iopub.publish(starting);
  const shell = new Router(large);
  const control = new Router(large);
  const stdin = new Router({ ...large, mandatory: true });
  const heartbeat = new Router(small);
  await Promise.all([
    iopub.socket.bind(connection.iopub_port),
    shell.bind(connection.shell_port),
    control.bind(connection.control_port),
    stdin.bind(connection.stdin_port),
    heartbeat.bind(connection.hb_port),
  ]);
  void read(shell, (frames) => events.request('shell', frames));
  void read(control, (frames) => events.request('control', frames));
  void read(stdin, (frames) => events.request('stdin', frames));
  void read(heartbeat, (frames) => send(heartbeat, frames));
  void read(iopub.socket, ([frame]) => {
    // ZeroMQ's own frame: 1 and the topic for a new subscription.
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
          // Not there yet, or not any more: both say "host unreachable".
        }
      }
      return false;
    },
    backlog: () => iopub.backlog,
    async close() {
      await Promise.all(last.values());
      await iopub.close(lingerMs);
      for (const socket of [shell, control, stdin, heartbeat]) socket.close();
      // Closing hands what is left to ZeroMQ's own thread, which ends with the process.
      await sleep(50);
    },
  };
}

async function read(socket: AsyncIterable<Buffer[]>, take: (frames: Buffer[]) => void): Promise<void> {
  try {
    for await (const frames of socket) take(frames);
  } catch {
    // Reading ends with an error when the socket is closed under it, which only `close` does.
  }
}
