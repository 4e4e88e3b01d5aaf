import type { Socket } from 'node:net';

/** Forwards the bytes between two connections until one of them ends for any reason; then ends both. */
export function joinedSockets(client: Socket, upstream: Socket): void {
  for (const socket of [client, upstream]) {
    // The close event informs the other side.
    socket.on('error', () => {});
    socket.on('close', () => {
      client.destroy();
      upstream.destroy();
    });
  }
  client.pipe(upstream);
  upstream.pipe(client);
}
