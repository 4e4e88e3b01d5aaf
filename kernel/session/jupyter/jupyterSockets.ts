import { setTimeout as sleep } from 'node:timers/promises';
import { Router, XPublisher } from 'zeromq';
import type { Connection } from './connectionFile.ts';
import type { Frames } from './jupyterFrames.ts';

type Sender = Router | XPublisher;

/** The five sockets of a kernel. */
export type Sockets = {
  publish(frames: Frames): void;
  reply(channel: 'shell' | 'control', frames: Frames): void;
  /** Sends on the stdin channel. `false` when the client that the frames name is not there. */
  ask(frames: Frames): Promise<boolean>;
  close(): Promise<void>;
};

export type SocketEvents = {
  request(channel: 'shell' | 'control' | 'stdin', frames: Buffer[]): void;
  subscribed(topic: string): void;
};

const lingerMs = 300;
/** A client that has just come may have its shell channel before its stdin channel. */
const askTries = 20;
const askAgainMs = 100;

/** Binds the sockets and reads them until they are closed; the heartbeat is answered here. */
export async function bindSockets(connection: Connection, events: SocketEvents): Promise<Sockets> {
  const options = { linger: lingerMs };
  // A frame may not have gone when the next one is asked for, and a socket sends one at a time.
  const last = new Map<Sender, Promise<void>>();
  const send = (socket: Sender, frames: Frames) => {
    const sent = (last.get(socket) ?? Promise.resolve())
      .then(() => socket.send(frames))
      // A front that went away is no failure of the kernel; zeromq drops what it can't deliver.
      .catch(() => {});
    last.set(socket, sent);
  };
  const iopub = new XPublisher({ ...options, verbosity: 'allSubs', sendHighWaterMark: 0 });
  const shell = new Router(options);
  const control = new Router(options);
  const stdin = new Router({ ...options, mandatory: true });
  const heartbeat = new Router(options);
  await Promise.all([
    iopub.bind(connection.iopub_port),
    shell.bind(connection.shell_port),
    control.bind(connection.control_port),
    stdin.bind(connection.stdin_port),
    heartbeat.bind(connection.hb_port),
  ]);
  void read(shell, (frames) => events.request('shell', frames));
  void read(control, (frames) => events.request('control', frames));
  void read(stdin, (frames) => events.request('stdin', frames));
  void read(heartbeat, (frames) => send(heartbeat, frames));
  void read(iopub, ([frame]) => {
    // ZeroMQ's own frame: 1 and the topic for a new subscription.
    if (frame?.[0] === 1) events.subscribed(frame.subarray(1).toString());
  });
  return {
    publish: (frames) => send(iopub, frames),
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
    async close() {
      await Promise.all(last.values());
      for (const socket of [shell, control, stdin, heartbeat, iopub]) socket.close();
      // Closing hands what is left to ZeroMQ's own thread, which ends with the process.
      await new Promise((resolve) => setTimeout(resolve, 50));
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
