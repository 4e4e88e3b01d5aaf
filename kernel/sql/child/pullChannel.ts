import { readSync, writeSync } from 'node:fs';
import { type PullFailure, pullHeaderBytes, type PullRequest, replyPipe, requestPipe } from '#sql/messages.ts';

/** A failure of the process that has the tables. That process reports the error itself. */
export class PullError extends Error {}

type PullReply = { json: unknown; bytes: Uint8Array };

/** Blocks the thread for a millisecond. */
function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
}

/** Retries a call while a pipe is not ready, in case the system gave the pipe in non-blocking mode. */
function untilReady(call: () => number): number {
  for (;;) {
    try {
      return call();
    } catch (error) {
      if (Object(error).code !== 'EAGAIN') throw error;
      pause();
    }
  }
}

function readFully(buffer: Uint8Array): void {
  for (let at = 0; at < buffer.length;) {
    const read = untilReady(() => readSync(replyPipe, buffer, at, buffer.length - at, null));
    // The other process has ended, so there is nothing left to do for this one.
    if (read === 0) process.kill(process.pid, 'SIGKILL');
    at += read;
  }
}

const header = new Uint8Array(pullHeaderBytes);
const lengths = new DataView(header.buffer);

/**
 * Asks the process that has the tables, and blocks this thread until the reply is there.
 * @param bufferFor returns where the binary part is read to
 * @throws PullError if that process replied with a failure
 */
export function pull(
  request: PullRequest,
  bufferFor = (length: number): Uint8Array => new Uint8Array(length),
): PullReply {
  const line = Buffer.from(`${JSON.stringify(request)}\n`);
  for (let at = 0; at < line.length;) at += untilReady(() => writeSync(requestPipe, line, at));
  readFully(header);
  const jsonBytes = Buffer.alloc(lengths.getUint32(0, true));
  // The binary part has a separate buffer, because vectors are copied by their offset in it.
  const bytes = bufferFor(lengths.getUint32(4, true));
  readFully(jsonBytes);
  readFully(bytes);
  const json: unknown = JSON.parse(jsonBytes.toString());
  const { failure } = Object(json) as Partial<PullFailure>;
  if (failure !== undefined) throw new PullError(failure);
  return { json, bytes };
}
