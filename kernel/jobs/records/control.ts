import { connect, type Socket } from 'node:net';
import { encodeFrame, readFrames } from '#shared/protocol/frames.ts';
import { Endpoint, type Methods } from '#shared/protocol/rpc.ts';
import { isOnOtherHost, isRecent, lastHeartbeat, readMark } from './heartbeat.ts';

/** Methods of a job's process. The secret is in the mark file of the process. */
export type ControlMethods = {
  /** Replies if the main thread is not blocked. */
  hello: [{ secret: string }, null];
  /** Requests the cancellation. The reply comes at once, before the job has ended. */
  cancel: [{ secret: string }, null];
};

/** Time limit to connect. The system accepts connections even if the process is blocked. */
const connectMs = 5000;
/** After this time the process counts as not responding; it may be stopped or busy. */
const controlTimeoutMs = 4000;

/** A connection to a job's process, open as long as the process lives. */
export type Control = {
  readonly pid: number;
  answers(signal: AbortSignal): Promise<boolean>;
  /** @throws RemoteError if the process ends before it replies, AbortError if cancelled */
  cancel(signal: AbortSignal): Promise<void>;
  /** Resolves when the process ends or the connection closes. */
  readonly ended: Promise<void>;
  close(): void;
};

/** `markedAt`: when a process last touched its mark, milliseconds since 1970. */
export type ProcessEnded = { readonly kind: 'gone'; readonly markedAt?: number };

/** `here` is certain. `gone` is certain only for processes of this machine. */
export type ProcessLookup =
  | ProcessEnded
  | { readonly kind: 'here'; readonly control: Control }
  /** The process can't be reached, but it touched its mark recently. */
  | { readonly kind: 'elsewhere'; readonly host: string };

/**
 * Finds the process of a job by the address in its mark. The pid is not enough, because another process may have the
 * same pid by now.
 */
export async function findProcess(folder: string, signal: AbortSignal): Promise<ProcessLookup> {
  const mark = readMark(folder);
  if (!mark) return { kind: 'gone' };
  if (isOnOtherHost(mark)) return isRecent(folder) ? { kind: 'elsewhere', host: mark.host } : goneFrom(folder);
  const socket = await connected(mark.address, signal);
  return socket ? { kind: 'here', control: controlOver(socket, mark) } : goneFrom(folder);
}

function goneFrom(folder: string): ProcessEnded {
  const at = lastHeartbeat(folder);
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
  // The error is ignored, because the event 'close' follows.
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
      const late = AbortSignal.any([signal, AbortSignal.timeout(controlTimeoutMs)]);
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
