import type { IncomingMessage } from 'node:http';
import type { SilenceTimer } from './silenceTimer.ts';

/** Called at the end of a response: `done` if it was read, `stop` if it failed, `abandon` if its reader left. */
type Ends = { done: () => void; stop: (cause: unknown) => never; abandon: () => void };

/** Yields the body of a response. Reading fails if the process ends or sends nothing for too long. */
export async function* replyChunks(
  response: IncomingMessage,
  timer: SilenceTimer,
  { done, stop, abandon }: Ends,
): AsyncGenerator<Uint8Array, void, undefined> {
  const chunks: AsyncIterator<Uint8Array> = response[Symbol.asyncIterator]();
  let isEnded = false;
  try {
    for (;;) {
      timer.start();
      let next: IteratorResult<Uint8Array>;
      try {
        next = await chunks.next();
      } catch (cause) {
        isEnded = true;
        stop(cause);
        return;
      } finally {
        timer.stop();
      }
      if (next.done) break;
      yield next.value;
    }
    isEnded = true;
    done();
  } finally {
    if (!isEnded) {
      abandon();
      response.destroy();
    }
  }
}

const passedHeaders = ['content-type', 'content-length', 'preference-applied'] as const;

export function replyHeaders({ headers }: IncomingMessage): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of passedHeaders) {
    const value = headers[name];
    if (typeof value === 'string') passed[name] = value;
  }
  return passed;
}
