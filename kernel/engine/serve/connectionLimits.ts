import type { Server } from 'node:http';
import type { Socket } from 'node:net';

type ConnectionLimitsOptions = {
  /** Maximum connections of all clients. */
  connections: number;
  /**
   * Maximum connections of one address on which no API key was seen. Not applied behind a proxy, because there all
   * connections come from the proxy.
   */
  keylessPerAddress: number;
};

/** When this share of the connections is in use, each new connection closes the oldest connection without a key. */
const fullShare = 0.9;
/** One address may have at most this share of all connections. Not applied behind a proxy. */
const addressShare = 0.5;
/**
 * Connections above the limit. With these, health checks and new clients with a key can still connect if all
 * connections have keys.
 */
const spareConnections = 64;

type Connection = { readonly socket: Socket; readonly address: string; hasKey: boolean };

/** Returns the address and port of the client. A TLS socket and the TCP socket below it have the same id. */
const idOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

/**
 * Shares the connections of a server. Anyone can open a connection. So connections without a valid API key are closed
 * first, and can't keep out clients that have a key.
 */
export class ConnectionLimits {
  readonly #options: ConnectionLimitsOptions;
  /** The open connections, oldest first. */
  readonly #open = new Map<string, Connection>();
  readonly #keyless = new Map<string, Connection>();
  readonly #addresses = new Map<string, Set<string>>();

  constructor(server: Server, options: ConnectionLimitsOptions) {
    this.#options = options;
    server.maxConnections = options.connections + spareConnections;
    server.on('connection', (socket: Socket) => this.#add(socket));
  }

  /** Records that a request on the connection had a valid key. */
  markKey(socket: Socket): void {
    const id = idOf(socket);
    const connection = this.#keyless.get(id);
    if (!connection) return;
    connection.hasKey = true;
    this.#keyless.delete(id);
  }

  hasKey(socket: Socket): boolean {
    return this.#open.get(idOf(socket))?.hasKey === true;
  }

  #add(socket: Socket): void {
    // The client has already disconnected.
    if (socket.remoteAddress === undefined) return void socket.destroy();
    const { connections, keylessPerAddress } = this.#options;
    const id = idOf(socket);
    const address = socket.remoteAddress;
    const ofAddress = this.#addresses.get(address) ?? new Set<string>();
    const keylessOfAddress = [...ofAddress].filter((each) => this.#keyless.has(each));
    if (keylessOfAddress.length >= keylessPerAddress) this.#close(keylessOfAddress[0]);
    else if (keylessPerAddress < connections && ofAddress.size >= connections * addressShare)
      return void socket.destroy();
    if (this.#open.size >= connections * fullShare) this.#close(this.#keyless.keys().next().value);
    const connection = { socket, address, hasKey: false };
    this.#open.set(id, connection);
    this.#keyless.set(id, connection);
    this.#addresses.set(address, ofAddress.add(id));
    socket.once('close', () => this.#remove(id, connection));
  }

  #close(id: string | undefined): void {
    const connection = id === undefined ? undefined : this.#open.get(id);
    if (id === undefined || !connection) return;
    this.#remove(id, connection);
    connection.socket.destroy();
  }

  #remove(id: string, connection: Connection): void {
    // Another connection may have the same id by now, because the client may use the port again.
    if (this.#open.get(id) !== connection) return;
    this.#open.delete(id);
    this.#keyless.delete(id);
    const ofAddress = this.#addresses.get(connection.address);
    ofAddress?.delete(id);
    if (ofAddress?.size === 0) this.#addresses.delete(connection.address);
  }
}
