import type { Socket } from 'node:net';

/** Hands the bytes of each of two connections to the other, until one of them ends in whatever way; then both do. */
export function joinedSockets(client: Socket, upstream: Socket): void {
  for (const socket of [client, upstream]) {
    // Who waits at the other end is told by the close.
    socket.on('error', () => {});
    socket.on('close', () => {
      client.destroy();
      upstream.destroy();
    });
  }
  client.pipe(upstream);
  upstream.pipe(client);
}
