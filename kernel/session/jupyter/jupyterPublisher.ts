import { setTimeout as sleep } from 'node:timers/promises';
import { XPublisher } from 'zeromq';
import { bytesOf, type Frames } from './jupyterFrames.ts';

/** Messages that ZeroMQ keeps for each client; what is printed comes in messages of 128 KB. */
const highWaterMark = 100;
const tryAgainMs = 5;
/** A client that takes nothing for this long counts as stuck. */
const stuckMs = 5000;
/** For how long after a message was lost a client counts as stuck still. */
const stillStuckMs = 60_000;
/** The pace beside a stuck client: ZeroMQ tells nothing of the others, who must not fall behind. */
const paceMs = 10;

/**
 * The iopub socket. A client that reads slowly holds the kernel's printing back, so that it misses nothing and memory does
 * not grow; one that has stopped reading, a suspended browser's server for instance, loses messages in place of the
 * others waiting for ever.
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

  /** Bytes that wait to be taken by ZeroMQ. */
  get backlog(): number {
    return this.#bytes;
  }

  /** @param taken called when ZeroMQ has the message, or it was given up */
  publish(frames: Frames, taken?: () => void): void {
    this.#waiting.push({ frames, taken });
    this.#bytes += bytesOf(frames);
    if (!this.#isSending) void this.#send();
  }

  /** Waits until all is sent, or for `milliseconds`, and closes the socket. */
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
      // These take effect at once, although the library warns that they would not (see warnings.ts).
      this.#socket.noDrop = false;
      await this.#try(frames);
      this.#socket.noDrop = true;
      return;
    }
  }

  /** `false` when a client's queue is full. */
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
