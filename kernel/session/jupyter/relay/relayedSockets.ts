import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { bytesOf, type Frames } from '#session/jupyter/jupyterFrames.ts';
import type { SocketEvents, Sockets } from '#session/jupyter/jupyterSockets.ts';
import { readRelayed, sendRelayed, type RelayKind } from './relayMessages.ts';

/** A relay takes a fifth of the time that a kernel does; on a machine with much to do it may be late all the same. */
const connectMs = 3000;
const againMs = 5;
const notYet: ReadonlySet<unknown> = new Set(['ENOENT', 'ECONNREFUSED']);

/** What a relay has done before the kernel was there. */
export type Relayed = {
  readonly sockets: Sockets;
  /** Under which its messages went out. */
  readonly session: string;
  /** Whether somebody listens to what is published. */
  readonly isHeard: boolean;
  /** The signatures of requests that it has answered. */
  readonly answered: readonly string[];
};

export type RelayEvents = SocketEvents & {
  /** The relay is gone, and with it everybody. */
  lost(): void;
};

/**
 * The sockets of a kernel in its relay (see relay.ts), a process that listened for it while it came up. Undefined where there is
 * none: it could not listen, and the kernel will hear why.
 * @param path where the relay waits for its kernel
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
          // None that a relay sends.
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
      // It is not there yet; anything else will not pass.
      if (!notYet.has(Object(error).code)) return undefined;
    }
  }
  return undefined;
}
