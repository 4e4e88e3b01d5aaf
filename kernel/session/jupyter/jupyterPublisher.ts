import { setTimeout as sleep } from 'node:timers/promises';
import { XPublisher } from 'zeromq';
import type { Frames } from './jupyterFrames.ts';

/** Messages that ZeroMQ keeps for each client; what is printed comes in messages of up to 64 KB. */
const highWaterMark = 200;
const tryAgainMs = 5;
/** A client that takes nothing for this long counts as stuck. */
const stuckMs = 5000;
/** For how long nobody waits for clients that are stuck, before they are given another chance. */
const dropMs = 60_000;

/**
 * The iopub socket. A client that reads slowly holds the kernel's printing back, so that it misses nothing and memory does
 * not grow; one that has stopped reading, a suspended browser's server for instance, loses messages in place of the
 * others waiting for ever.
 */
export class Publisher {
  readonly #socket: XPublisher;
  readonly #waiting: Frames[] = [];
  #bytes = 0;
  #isSending = false;
  #isClosed = false;
  #drops = false;
  #dropsUntil = 0;

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

  publish(frames: Frames): void {
    this.#waiting.push(frames);
    this.#bytes += sizeOf(frames);
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
      await this.#sendOne(next);
      this.#bytes -= sizeOf(next);
    }
    this.#isSending = false;
  }

  async #sendOne(frames: Frames): Promise<void> {
    for (const since = Date.now(); !this.#isClosed; await sleep(tryAgainMs)) {
      const now = Date.now();
      if (now - since > stuckMs) this.#dropsUntil = now + dropMs;
      this.#setDrops(now < this.#dropsUntil);
      try {
        return await this.#socket.send(frames);
      } catch {
        // A client's queue is full: again in a moment.
      }
    }
  }

  #setDrops(drops: boolean): void {
    if (drops === this.#drops) return;
    this.#drops = drops;
    // Takes effect at once, although the library warns that it would not (see worker.ts).
    this.#socket.noDrop = !drops;
  }
}

function sizeOf(frames: Frames): number {
  let bytes = 0;
  for (const frame of frames) bytes += frame.length;
  return bytes;
}
