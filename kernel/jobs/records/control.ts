import { connect, type Socket } from 'node:net';
import { encodeFrame, readFrames } from '#shared/protocol/frames.ts';
import { Endpoint, type Methods } from '#shared/protocol/rpc.ts';
import { isElsewhere, isRecent, markedAt, readMark } from './processMark.ts';

/** What the process of a job answers on its socket; the secret is in its mark. */
export type ControlMethods = {
  /** Says that it is there, and that its main thread is not stuck. */
  hello: [{ secret: string }, null];
  /** Asks for the end of the job; the answer comes at once, the end when it comes. */
  cancel: [{ secret: string }, null];
};

/** How long a process may take to take a connection. On the same machine that needs nothing of its own. */
const connectMs = 5000;
/** After this long without an answer it is said that there is none. Nothing is concluded from it: it may be stopped, or busy. */
const answerMs = 4000;

/** A connection to a job's process, which is there for as long as the process is. */
export type Control = {
  readonly pid: number;
  /** Whether it answers in time. */
  answers(signal: AbortSignal): Promise<boolean>;
  /** @throws RemoteError when it ends before it answers, AbortError when cancelled */
  cancel(signal: AbortSignal): Promise<void>;
  /** Resolves when the process has ended, or the connection was closed. */
  readonly ended: Promise<void>;
  close(): void;
};

/** `markedAt`: when a process that is gone said last that it was there, milliseconds since 1970. */
export type Gone = { readonly kind: 'gone'; readonly markedAt?: number };

/** Whether something is at work on a job: `gone` is certain, and so is a connection. */
export type Found =
  | Gone
  | { readonly kind: 'here'; readonly control: Control }
  /** It can't be reached from here, but said lately that it is there. */
  | { readonly kind: 'elsewhere'; readonly host: string };

/**
 * Looks for the process of a job. A number that another process has now is never taken for it: what is asked is whether
 * somebody listens where it did.
 */
export async function findProcess(folder: string, signal: AbortSignal): Promise<Found> {
  const mark = readMark(folder);
  if (!mark) return { kind: 'gone' };
  if (isElsewhere(mark)) return isRecent(folder) ? { kind: 'elsewhere', host: mark.host } : goneFrom(folder);
  const socket = await connected(mark.address, signal);
  return socket ? { kind: 'here', control: controlOver(socket, mark) } : goneFrom(folder);
}

function goneFrom(folder: string): Gone {
  const at = markedAt(folder);
  return at === undefined ? { kind: 'gone' } : { kind: 'gone', markedAt: at };
}

async function connected(address: string, signal: AbortSignal): Promise<Socket | undefined> {
  signal.throwIfAborted();
  const socket = connect(address);
  const late = AbortSignal.any([signal, AbortSignal.timeout(connectMs)]);
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve).once('error', reject);
      late.addEventListener('abort', () => reject(late.reason as Error), { once: true });
    });
    return socket;
  } catch {
    socket.destroy();
    signal.throwIfAborted();
    return undefined;
  }
}

function controlOver(socket: Socket, { pid, secret }: { readonly pid: number; readonly secret: string }): Control {
  const endpoint = new Endpoint<Methods, ControlMethods>((frame) => {
    if (!socket.destroyed) socket.write(encodeFrame(frame));
  }, {});
  readFrames(
    socket,
    (message) => void endpoint.receive(message),
    () => socket.destroy(),
  );
  // 'close' follows.
  socket.on('error', () => {});
  const ended = new Promise<void>((resolve) =>
    socket.once('close', () => {
      endpoint.close();
      resolve();
    }),
  );
  return {
    pid,
    answers: async (signal) => {
      const late = AbortSignal.any([signal, AbortSignal.timeout(answerMs)]);
      return endpoint.request('hello', { secret }, late).then(
        () => true,
        () => false,
      );
    },
    cancel: async (signal) => void (await endpoint.request('cancel', { secret }, signal)),
    ended,
    close: () => void socket.destroy(),
  };
}
