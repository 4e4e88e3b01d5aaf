import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A port of this machine whose other side a test chooses, and cuts. */
export type ForwardTarget = {
  readonly port: number;
  /** What it leads to from now on: a port of this machine, or nothing, which closes what connects. */
  leadTo(port: number | undefined): void;
  /** Ends all connections, as a node does that goes away. */
  cut(): void;
  /** How many connections came so far. */
  readonly connections: () => number;
  stop(): Promise<void>;
};

/** @param listenOn the port of this side; a free one by default */
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
