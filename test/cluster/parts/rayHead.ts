import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { RayJobs } from '#cluster/ray/rayJobs.ts';
import { temporaryFolder } from '../../../scripts/processes.ts';
import { isRoot } from '../../harness/needs/installing.ts';
import { rayFolder, type RayRelease, unshareFlags } from '../../harness/needs/rayNeeds.ts';
import { joinedSockets } from './joinedSockets.ts';
import { type Running, startServer, until } from './processes.ts';
import { type InsideProcess, processesInside } from './rayProcesses.ts';

export type HeadSettings = {
  /** The token that clients must send. */
  readonly token?: string;
  readonly processors?: number;
  /** The folders on PATH between those of Ray and of the system. Default: the folder of the tests' Node */
  readonly path?: string;
  /** Additional environment variables of Ray and its jobs. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The port of the dashboard on this machine. Default: a free one */
  readonly port?: number;
};

/** A real Ray in separate namespaces, to which clients of this machine can connect. */
export class RayHead {
  readonly release: RayRelease;
  readonly token: string | undefined;
  readonly #folder: string;
  readonly #running: Running;
  readonly #open = new Set<Socket>();
  readonly #doors: { readonly server: Server; readonly inside: Running }[] = [];
  #server: Server | undefined;
  #port: number;

  /** Starts a Ray and waits until its dashboard responds. @throws Error with the end of its output */
  static async start(release: RayRelease, settings: HeadSettings = {}): Promise<RayHead> {
    const head = new RayHead(release, settings);
    try {
      await head.connect();
      const client = new RayJobs(head.target);
      try {
        await until(
          `Ray ${release}`,
          async () => {
            try {
              // List the jobs, too, because the agent that accepts jobs starts seconds after the dashboard responds to
              // a request for its version.
              await client.list(AbortSignal.timeout(5000));
              return true;
            } catch {
              return false;
            }
          },
          { limit: 180_000, giveUp: () => head.#running.isOver(), told: () => head.#running.said() },
        );
      } finally {
        await client.close();
      }
    } catch (error) {
      await head.stop();
      throw error;
    }
    return head;
  }

  private constructor(release: RayRelease, settings: HeadSettings) {
    const { token, processors = 4, path = dirname(process.execPath), environment: more = {}, port = 0 } = settings;
    this.#port = port;
    this.release = release;
    this.token = token;
    // The path must be short, because Ray creates sockets in it, whose paths are limited to 107 characters.
    this.#folder = temporaryFolder('r-');
    const inside = join(import.meta.dirname, 'rayInside.sh');
    const environment = [
      `PATH=${[join(rayFolder(release), 'bin'), path, '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin'].join(delimiter)}`,
      'RAY_USAGE_STATS_ENABLED=0',
      // Don't use the home directory of the user. If Ray has once saved a token there, it would require that token from
      // all clients.
      `HOME=${this.#folder}`,
      ...(token === undefined ? ['RAY_AUTH_MODE=disabled'] : ['RAY_AUTH_MODE=token', `RAY_AUTH_TOKEN=${token}`]),
      ...Object.entries(more).map(([name, value]) => `${name}=${value}`),
    ];
    this.#running = startServer(
      'unshare',
      [
        ...unshareFlags(),
        'env',
        ...environment,
        inside,
        this.#folder,
        this.socket,
        String(processors),
        process.execPath,
      ],
      join(this.#folder, 'said.log'),
    );
  }

  /** The socket by which clients of this machine reach Ray without a port. */
  get socket(): string {
    return join(this.#folder, 'dashboard.sock');
  }

  /** The address of the dashboard on this machine. */
  get address(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get target(): { readonly address: string; readonly token?: string } {
    return this.token === undefined ? { address: this.address } : { address: this.address, token: this.token };
  }

  /** Accepts clients again, at the same address as before. */
  async connect(): Promise<void> {
    const server = createServer((client) => {
      const upstream = connect(this.socket);
      for (const socket of [client, upstream]) {
        this.#open.add(socket);
        socket.once('close', () => this.#open.delete(socket));
      }
      joinedSockets(client, upstream);
    });
    this.#server = server;
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
  }

  /** Cuts all connections and accepts no new ones, like a closed tunnel. */
  async disconnect(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    for (const socket of this.#open) socket.destroy();
    if (server) await new Promise((resolve) => server.close(resolve));
  }

  /**
   * Gives Ray and its jobs access to a server of this machine. Inside Ray's namespace the server has the same address:
   * 127.0.0.1 and this port.
   */
  async letOut(port: number): Promise<void> {
    const socket = join(this.#folder, `out-${port}.sock`);
    const server = createServer((client) => joinedSockets(client, connect(port, '127.0.0.1')));
    server.listen(socket);
    await once(server, 'listening');
    const [first] = this.processes();
    const inside = startServer(
      'nsenter',
      [
        '--target',
        String(first?.pid),
        ...(isRoot() ? [] : ['--user', '--preserve-credentials']),
        '--net',
        process.execPath,
        join(import.meta.dirname, 'rayRelay.ts'),
        String(port),
        socket,
      ],
      join(this.#folder, 'out.log'),
    );
    this.#doors.push({ server, inside });
  }

  /** Returns the processes of Ray, with their ids on this machine. */
  processes(): InsideProcess[] {
    return processesInside(this.#running.child.pid ?? 0);
  }

  /**
   * Returns the newest process whose command begins so, because one of an earlier job may not have ended yet. Waits until
   * there is one: a process that sets its title has none for a moment.
   */
  async process(command: string): Promise<InsideProcess> {
    let found: InsideProcess | undefined;
    await until(
      `a process ${command}`,
      async () => (found = this.processes().findLast((process) => process.command.startsWith(command))) !== undefined,
      { limit: 10_000, told: () => JSON.stringify(this.processes()) },
    );
    return found!;
  }

  /** Copies the logs of Ray to a folder, with a list of its processes, to find out why a test failed. */
  saveLogs(folder: string): void {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const lines = this.processes().map(({ pid, parent, command }) => `${pid} ${parent} ${command}\n`);
    writeFileSync(join(folder, 'processes.txt'), lines.join(''));
    // `session_latest` is a link to the same folder.
    const sessions = readdirSync(this.#folder).filter((name) => /^session_\d/.test(name));
    for (const name of sessions) cpSync(join(this.#folder, name, 'logs'), folder, { recursive: true });
  }

  async stop(): Promise<void> {
    await this.disconnect();
    for (const { server, inside } of this.#doors) {
      await inside.stop();
      server.close();
    }
    await this.#running.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
