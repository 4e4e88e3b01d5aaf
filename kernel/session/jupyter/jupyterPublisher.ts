import { setTimeout as sleep } from 'node:timers/promises';
import { XPublisher } from 'zeromq';
import { bytesOf, type Frames } from './jupyterFrames.ts';

/** Number of messages that ZeroMQ queues for each client. Printed output is sent in messages of 128 KB. */
const highWaterMark = 100;
const tryAgainMs = 5;
/** A client that reads nothing for this long counts as stuck. */
const stuckMs = 5000;
/** How long a client counts as stuck after a lost message. */
const stillStuckMs = 60_000;
/**
 * Wait per message while a client is stuck. Without this wait, other clients could fall behind unnoticed, because
 * ZeroMQ does not report which client's queue is full.
 */
const paceMs = 10;

/**
 * The iopub socket. A slow client slows down the kernel's printing, so that the client misses nothing and memory does
 * not grow. A client that has stopped reading, such as the server of a suspended browser, loses messages instead of
 * blocking the others.
 */
export class Publisher {
  readonly #socket: XPublisher;
  readonly #waiting: { frames: Frames; taken: (() => void) | undefined }[] = [];
  #bytes = 0;
  #isSending = false;
  #isClosed = false;
  #stuckUntil = 0;

  constructor(options: { linger: number; maxMessageSize: number }) {
    this.#socket = new XPublisher({
      ...options,
      verbosity: 'allSubs',
      sendHighWaterMark: highWaterMark,
      sendTimeout: 0,
      noDrop: true,
    });
  }

  get socket(): XPublisher {
    return this.#socket;
  }

  /** Bytes not yet accepted by ZeroMQ. */
  get backlog(): number {
    return this.#bytes;
  }

  /** @param taken called when ZeroMQ has accepted or dropped the message */
  publish(frames: Frames, taken?: () => void): void {
    this.#waiting.push({ frames, taken });
    this.#bytes += bytesOf(frames);
    if (!this.#isSending) void this.#send();
  }

  /** Waits until everything is sent, at most `milliseconds`, and closes the socket. */
  async close(milliseconds: number): Promise<void> {
    for (const end = Date.now() + milliseconds; this.#isSending && Date.now() < end;) await sleep(tryAgainMs);
    this.#isClosed = true;
    this.#socket.close();
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      await this.#sendOne(next.frames);
      this.#bytes -= bytesOf(next.frames);
      next.taken?.();
    }
    this.#isSending = false;
  }

  async #sendOne(frames: Frames): Promise<void> {
    for (const since = Date.now(); !(await this.#try(frames)); await sleep(tryAgainMs)) {
      const now = Date.now();
      if (now - since < (now < this.#stuckUntil ? paceMs : stuckMs)) continue;
      this.#stuckUntil = now + stillStuckMs;
      // The assignment takes effect immediately, although the library warns that it does not (see warnings.ts).
      this.#socket.noDrop = false;
      await this.#try(frames);
      this.#socket.noDrop = true;
      return;
    }
  }

  /** Returns `false` if a client's queue is full. */
  async #try(frames: Frames): Promise<boolean> {
    if (this.#isClosed) return true;
    try {
      await this.#socket.send(frames);
      return true;
    } catch {
      return false;
    }
  }
}
