import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { bytesOf, type Frames } from '#session/jupyter/jupyterFrames.ts';
import type { SocketEvents, Sockets } from '#session/jupyter/jupyterSockets.ts';
import { readRelayed, sendRelayed, type RelayKind } from './relayMessages.ts';

/** Time limit to connect. A relay starts in a fifth of the kernel's time, but a busy machine may delay the relay. */
const connectMs = 3000;
const againMs = 5;
const notYet: ReadonlySet<unknown> = new Set(['ENOENT', 'ECONNREFUSED']);

/** The state of a relay when the kernel connects. */
export type Relayed = {
  readonly sockets: Sockets;
  /** Session id of the messages that the relay has sent. */
  readonly session: string;
  /** Whether a client has subscribed. */
  readonly isHeard: boolean;
  /** Signatures of the requests that the relay has answered. */
  readonly answered: readonly string[];
};

export type RelayEvents = SocketEvents & {
  /** Called when the relay has ended. All connections to clients end with the relay. */
  lost(): void;
};

/**
 * Connects to the relay (see relay.ts). Returns undefined if the relay could not listen. The kernel then opens the
 * sockets itself and gets the same error.
 * @param path of the relay's socket
 */
export async function relayedSockets(path: string, events: RelayEvents): Promise<Relayed | undefined> {
  const socket = await connected(path);
  if (!socket) return undefined;
  const asked = new Map<number, (isReached: boolean) => void>();
  let questions = 0;
  let published = 0;
  let isClosing = false;
  const send = (kind: RelayKind, frames?: Frames, number?: number) => sendRelayed(socket, kind, frames, number);
  const settle = (number: number, isReached: boolean) => {
    asked.get(number)?.(isReached);
    asked.delete(number);
  };
  const sockets: Sockets = {
    publish(frames) {
      if (send('publish', frames)) published += bytesOf(frames);
    },
    reply: (channel, frames) => void send(channel, frames),
    async ask(frames) {
      const number = ++questions;
      return send('ask', frames, number) && new Promise((resolve) => asked.set(number, resolve));
    },
    backlog: () => published,
    // Does nothing, because the relay removes its own files.
    abandon: () => {},
    async close() {
      isClosing = true;
      if (socket.destroyed) return;
      const closed = once(socket, 'close');
      send('close');
      await closed;
    },
  };
  const closed = new Promise<undefined>((resolve) => {
    socket.on('error', () => {});
    socket.once('close', () => {
      for (const number of asked.keys()) settle(number, false);
      resolve(undefined);
    });
  });
  const greeted = new Promise<Relayed>((resolve) => {
    readRelayed(socket, ({ kind, number, frames }) => {
      switch (kind) {
        case 'hello': {
          const [session = '', ...answered] = frames.map(String);
          return resolve({ sockets, session, isHeard: number > 0, answered });
        }
        case 'shell':
        case 'control':
        case 'stdin':
          return events.request(kind, frames);
        case 'subscribed':
          return events.subscribed(String(frames[0]));
        case 'taken':
          published -= number;
          return;
        case 'reached':
        case 'unreached':
          return settle(number, kind === 'reached');
        case 'publish':
        case 'ask':
        case 'close':
          // A relay sends no other kinds of messages, so another kind means that the peer is not a relay.
          return void socket.destroy();
      }
    });
  });
  const relayed = await Promise.race([greeted, closed]);
  if (relayed) void closed.then(() => isClosing || events.lost());
  return relayed;
}

async function connected(path: string): Promise<Socket | undefined> {
  for (const end = Date.now() + connectMs; Date.now() < end; await sleep(againMs)) {
    const socket = connect(path);
    try {
      await once(socket, 'connect');
      return socket;
    } catch (error) {
      socket.destroy();
      // These errors mean that the relay does not listen yet, so the kernel tries again. Any other error is permanent.
      if (!notYet.has(Object(error).code)) return undefined;
    }
  }
  return undefined;
}
