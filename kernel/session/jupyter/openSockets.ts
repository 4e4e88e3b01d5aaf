import { randomUUID } from 'node:crypto';
import type { Connection } from './connectionFile.ts';
import { startingFrames } from './jupyterContent.ts';
import type { Signer } from './jupyterFrames.ts';
import { relayedSockets, type RelayEvents, type Relayed } from './relay/relayedSockets.ts';

export type Opened = Relayed & {
  /** Has what came be told, and what comes from here on. */
  listen(): void;
};

/**
 * The sockets of a kernel: those of its relay, where one listens for it already, else its own.
 * @param relay where the relay waits
 * @throws Error of ZeroMQ's for addresses that can't be bound
 */
export async function openSockets(
  connection: Connection,
  relay: string | undefined,
  signer: Signer,
  events: RelayEvents,
): Promise<Opened> {
  const early: (() => void)[] = [];
  let isListening = false;
  const told =
    <A extends unknown[]>(tell: (...args: A) => void) =>
    (...args: A) =>
      isListening ? tell(...args) : void early.push(() => tell(...args));
  const listen = () => {
    isListening = true;
    for (const tell of early.splice(0)) tell();
  };
  const later: RelayEvents = {
    request: told((channel, frames) => events.request(channel, frames)),
    subscribed: told((topic) => events.subscribed(topic)),
    lost: told(() => events.lost()),
  };
  const relayed = relay === undefined ? undefined : await relayedSockets(relay, later);
  if (relayed) return { ...relayed, listen };
  // Loaded only here: with a relay ZeroMQ is there.
  const { bindSockets } = await import('./jupyterSockets.ts');
  const session = randomUUID();
  const sockets = await bindSockets(connection, later, startingFrames(session, signer));
  return { sockets, session, isHeard: false, answered: [], listen };
}
