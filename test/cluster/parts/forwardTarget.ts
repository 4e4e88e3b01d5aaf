import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A port of this machine. A test chooses the server behind it and can cut its connections. */
export type ForwardTarget = {
  readonly port: number;
  /** Forwards new connections to a port of this machine, or closes them if there is none. */
  leadTo(port: number | undefined): void;
  /** Ends all connections, as a node does that shuts down. */
  cut(): void;
  /** Returns the number of connections so far. */
  readonly connections: () => number;
  stop(): Promise<void>;
};

/** @param listenOn the port at which clients connect. Default: a free port */
export async function startForwardTarget(listenOn = 0): Promise<ForwardTarget> {
  let target: number | undefined;
  let count = 0;
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    count++;
    if (target === undefined) return void socket.destroy();
    const onward = connect(target, '127.0.0.1');
    for (const one of [socket, onward]) {
      open.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        open.delete(one);
        socket.destroy();
        onward.destroy();
      });
    }
    socket.pipe(onward);
    onward.pipe(socket);
  });
  server.listen(listenOn, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    leadTo: (port) => {
      target = port;
    },
    cut,
    connections: () => count,
    stop: async () => {
      const closed = once(server.close(), 'close');
      cut();
      await closed;
    },
  };
}
