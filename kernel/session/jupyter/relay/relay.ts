import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer, type Socket } from 'node:net';
import { kernelInfo, startingFrames } from '#session/jupyter/jupyterContent.ts';
import { readConnection } from '#session/jupyter/connectionFile.ts';
import {
  bytesOf,
  createSigner,
  decodeMessage,
  encodeMessage,
  type Header,
  type Outgoing,
} from '#session/jupyter/jupyterFrames.ts';
import { bindSockets, lingerMs, type SocketEvents, type Sockets } from '#session/jupyter/jupyterSockets.ts';
import { notebookLanguages, type NotebookLanguage } from '#shared/notebookLanguage.ts';
import { ownVersions } from '#session/about.ts';
import { redirectWarnings } from '#session/start/warnings.ts';
import { readRelayed, sendRelayed } from './relayMessages.ts';

// The relay is a process that listens for a Jupyter kernel: `relay.cjs PATH PID --connection-file=FILE`. The launcher
// starts the relay as a child of the kernel process PID, and the relay ends with the kernel. A kernel that starts from
// its snapshot is reachable only after 250 ms, and a refused client waits 100 to 200 ms before it retries. The relay is
// reachable in a fifth of the kernel's time. The relay answers kernel info requests, because clients send them first.
// It holds other requests until the kernel connects to PATH, and then forwards all messages.

/**
 * Interval of the check whether a kernel that has not connected still runs. The relay must end soon after the kernel,
 * because the next kernel may need the ports.
 */
const lookMs = 10;
/**
 * Number of bytes that ZeroMQ accepts before the kernel is notified. The kernel is also notified when the queue is
 * empty.
 */
const tellBytes = 256 << 10;

type Request = Parameters<SocketEvents['request']>;

/** Set once the relay listens. */
let listening: Sockets | undefined;

// Ends the process by a kill, because nothing reads the exit status, and only a kill reliably ends a Node process at
// once.
const end = (): never => {
  listening?.abandon();
  process.kill(process.pid, 'SIGKILL');
  throw new Error('The relay has ended.');
};

async function relay(connected: Promise<Socket>, connectionFile: string, language?: NotebookLanguage): Promise<void> {
  const connection = readConnection(connectionFile);
  const signer = createSigner(connection.key);
  const session = randomUUID();
  const info = kernelInfo(ownVersions(createRequire(import.meta.filename)), process.features.inspector, language);
  const held: Request[] = [];
  const answered: string[] = [];
  let isHeard = false;
  let sockets: Sockets | undefined;

  const encode = (message: Outgoing) => encodeMessage(message, session, signer);
  const publish = (type: string, content: unknown, parent?: Header, topic = type) =>
    sockets?.publish(encode({ identities: [topic], type, content, parent }));

  const receive = (...[channel, frames]: Request): void => {
    const message = decodeMessage(frames, signer);
    if (!message) return;
    const { header, identities } = message;
    if (header.msg_type !== 'kernel_info_request' || channel === 'stdin') return void held.push([channel, frames]);
    answered.push(message.signature);
    publish('status', { execution_state: 'busy' }, header);
    sockets?.reply(channel, encode({ identities, type: 'kernel_info_reply', content: info, parent: header }));
    publish('status', { execution_state: 'idle' }, header);
  };
  let receiver: SocketEvents = {
    request: receive,
    subscribed(topic) {
      isHeard = true;
      publish('iopub_welcome', { subscription: topic }, undefined, topic);
    },
  };
  const events: SocketEvents = {
    request: (channel, frames) => receiver.request(channel, frames),
    subscribed: (topic) => receiver.subscribed(topic),
  };

  const admit = (socket: Socket, bound: Sockets): void => {
    sendRelayed(socket, 'hello', [session, ...answered], isHeard ? 1 : 0);
    for (const [channel, frames] of held.splice(0)) sendRelayed(socket, channel, frames);
    receiver = {
      request: (channel, frames) => void sendRelayed(socket, channel, frames),
      subscribed: (topic) => void sendRelayed(socket, 'subscribed', [topic]),
    };
    serve(socket, bound);
  };

  sockets = await bindSockets(connection, events, startingFrames(session, signer));
  listening = sockets;
  admit(await connected, sockets);
}

/**
 * Waits for the kernel to connect to `path`. The relay ends when this connection ends, or when the kernel ends before
 * it has connected.
 */
function waitAt(path: string, kernelPid: number): Promise<Socket> {
  // Removes the path that a killed process with the same id may have left.
  rmSync(path, { force: true });
  const look = () => {
    if (process.ppid === kernelPid) return;
    rmSync(path, { force: true });
    end();
  };
  look();
  const watch = setInterval(look, lookMs);
  return new Promise((resolve) => {
    const server = createServer((socket) => {
      clearInterval(watch);
      // There is only one kernel. Closing the server also removes the path.
      server.close();
      socket.on('close', end);
      socket.on('error', () => {});
      resolve(socket);
    });
    // If the relay can't listen on `path`, it ends. The kernel then finds no relay and opens its own sockets.
    server.on('error', end);
    server.listen(path);
  });
}

function serve(socket: Socket, sockets: Sockets): void {
  let taken = 0;
  const publish = (frames: Buffer[]) =>
    sockets.publish(frames, () => {
      taken += bytesOf(frames);
      if (taken < tellBytes && sockets.backlog() > 0) return;
      sendRelayed(socket, 'taken', [], taken);
      taken = 0;
    });
  const ask = async (frames: Buffer[], number: number) =>
    sendRelayed(socket, (await sockets.ask(frames)) ? 'reached' : 'unreached', [], number);
  readRelayed(socket, ({ kind, number, frames }) => {
    if (kind === 'publish') publish(frames);
    else if (kind === 'shell' || kind === 'control') sockets.reply(kind, frames);
    else if (kind === 'ask') void ask(frames, number);
    else if (kind === 'close') void closeAfter(sockets, socket);
    // A kernel sends no other kinds of messages, so another kind means that the peer is not a kernel.
    else end();
  });
}

async function closeAfter(sockets: Sockets, socket: Socket): Promise<void> {
  await sockets.close();
  // From now on the end of the kernel must not end the relay, because ZeroMQ's own thread still sends messages.
  socket.off('close', end);
  socket.end();
  setTimeout(end, lingerMs);
}

// Ctrl-C and Jupyter send these signals to the whole process group. The relay ignores them: the kernel decides what to
// do, and the relay ends with the kernel.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
redirectWarnings();
// The relay's socket must be private to the user.
process.umask(0o077);
const [path = '', pid = '', ...rest] = process.argv.slice(2);
const valueOf = (flag: string): string | undefined =>
  rest.find((each) => each.startsWith(`--${flag}=`))?.slice(flag.length + 3);
const file = valueOf('connection-file') ?? '';
const language = notebookLanguages.find((each) => each === valueOf('language'));
const kernel = waitAt(path, Number(pid));
// If the relay fails, its end closes the connection. The kernel notices this, opens its own sockets, and reports why
// that fails.
relay(kernel, file, language).catch(() => kernel.then(end));
