import type { Socket } from 'node:net';

/** Forwards the bytes between two connections until one of them ends for any reason; then ends both. */
export function joinedSockets(client: Socket, upstream: Socket): void {
  for (const socket of [client, upstream]) {
    // Ignore the error, because the `close` event that follows ends the other connection.
    socket.on('error', () => {});
    socket.on('close', () => {
      client.destroy();
      upstream.destroy();
    });
  }
  client.pipe(upstream);
  upstream.pipe(client);
}
