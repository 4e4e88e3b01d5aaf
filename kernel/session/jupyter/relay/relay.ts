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
import { sayWarnings } from '#session/start/warnings.ts';
import { readRelayed, sendRelayed } from './relayMessages.ts';

// The process that listens for a kernel of Jupyter: `relay.cjs PATH PID --connection-file=FILE`, a child of the kernel's
// process PID. A kernel that becomes its start-up snapshot can be reached after a quarter of a second, and a client that was
// refused waits for a tenth or two before it tries again. This is up in a fifth of that. It says itself what kernel this is,
// which clients ask first, keeps what else they ask until the kernel connects to PATH, and passes everything on from there.

/** How often it is looked whether the kernel, which has not connected yet, still runs. The next may want its ports at once. */
const lookMs = 10;
/** What is with ZeroMQ is told to the kernel after so many bytes, and whenever all of it is. */
const tellBytes = 256 << 10;

type Request = Parameters<SocketEvents['request']>;

// Nobody looks at how this ends, and nothing but a kill is sure to end a Node at once.
const end = (): never => {
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
  admit(await connected, sockets);
}

/** The kernel's connection to `path`. The process ends with it, or with the kernel before there is one. */
function waitAt(path: string, kernelPid: number): Promise<Socket> {
  // Of a process that was killed, which had the same number.
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
      // There is one kernel; closing takes the path away.
      server.close();
      socket.on('close', end);
      socket.on('error', () => {});
      resolve(socket);
    });
    // The kernel finds nobody then, and opens its sockets itself.
    server.on('error', end);
    server.listen(path);
  });
}

/** Does what the kernel says. */
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
    // None that a kernel sends.
    else end();
  });
}

async function closeAfter(sockets: Sockets, socket: Socket): Promise<void> {
  await sockets.close();
  // The kernel may go; ZeroMQ's own thread still sends.
  socket.off('close', end);
  socket.end();
  setTimeout(end, lingerMs);
}

// These reach the whole group, by Ctrl-C or from Jupyter; what they mean the kernel decides, and this ends with it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
sayWarnings();
// Its socket is of the person alone.
process.umask(0o077);
const [path = '', pid = '', ...rest] = process.argv.slice(2);
const valueOf = (flag: string): string | undefined =>
  rest.find((each) => each.startsWith(`--${flag}=`))?.slice(flag.length + 3);
const file = valueOf('connection-file') ?? '';
const language = notebookLanguages.find((each) => each === valueOf('language'));
const kernel = waitAt(path, Number(pid));
// The kernel finds out by the end of its connection, opens its sockets itself, and says why it can't.
relay(kernel, file, language).catch(() => kernel.then(end));
