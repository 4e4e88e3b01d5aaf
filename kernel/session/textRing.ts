// What code prints goes from the main thread to the worker through a ring of shared memory. A message per line would be
// slow, and lines gathered on the main thread would not be seen while a loop runs; here the worker sees each at once.
// A full ring makes the printing thread wait, as it would at a full pipe. Other messages go another way; each leaves a mark
// in the ring, so that text printed after it is not read before it has come.

const ringBytes = 1 << 22;
const maxTextChars = 1 << 18;
const headerBytes = 16;

/** Indexes of the counters in front of the ring. Positions count all bytes ever written, modulo 2³². */
const written = 0;
const taken = 1;
const isWoken = 2;

/** The label of a mark, which no text has. */
const markLabel = '';

/** Where in the printed text a message belongs: after all that was printed before `position`, and before what follows. */
export type RingPlace = { position: number; mark: number };

export const createRing = (): SharedArrayBuffer => new SharedArrayBuffer(headerBytes + ringBytes);

class Ring {
  readonly counters: Int32Array;
  readonly #bytes: Uint8Array;

  constructor(memory: SharedArrayBuffer) {
    this.counters = new Int32Array(memory, 0, headerBytes / 4);
    this.#bytes = new Uint8Array(memory, headerBytes, ringBytes);
  }

  position(counter: typeof written | typeof taken): number {
    return Atomics.load(this.counters, counter) >>> 0;
  }

  put(at: number, bytes: Uint8Array): number {
    const start = at % ringBytes;
    const first = bytes.subarray(0, ringBytes - start);
    this.#bytes.set(first, start);
    this.#bytes.set(bytes.subarray(first.length), 0);
    return (at + bytes.length) >>> 0;
  }

  get(at: number, length: number): Buffer {
    const start = at % ringBytes;
    const copy = Buffer.alloc(length);
    const first = this.#bytes.subarray(start, Math.min(start + length, ringBytes));
    copy.set(first);
    copy.set(this.#bytes.subarray(0, length - first.length), first.length);
    return copy;
  }
}

/** The printing side. A record is two lengths (u32), a label and a text. */
export class RingWriter {
  readonly #ring: Ring;
  readonly #wake: () => void;
  #marks = 0;

  /** `wake` is called when there is something to read and the reader does not know yet. */
  constructor(memory: SharedArrayBuffer, wake: () => void) {
    this.#ring = new Ring(memory);
    this.#wake = wake;
  }

  /** Sends a message in order with what is printed: `send` gets its place, to go along with it. */
  post(send: (place: RingPlace) => void): void {
    const mark = ++this.#marks;
    // Sent first: a reader that comes to a mark knows that its message is on the way. Code may be stopped in between, and
    // then there is no mark to wait at.
    send({ position: this.#ring.position(written), mark });
    this.#record(markLabel, String(mark));
  }

  write(label: string, text: string): void {
    for (let at = 0; at < text.length;) {
      const end = at + maxTextChars;
      // A pair of surrogates is one character and can't be written in halves.
      const isCut = end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1] ?? '');
      this.#record(label, text.slice(at, isCut ? end - 1 : end));
      at = isCut ? end - 1 : end;
    }
  }

  #record(label: string, text: string): void {
    const { counters } = this.#ring;
    const body = Buffer.from(label + text, 'utf8');
    const head = Buffer.alloc(8);
    head.writeUInt32LE(Buffer.byteLength(label), 0);
    head.writeUInt32LE(body.length, 4);
    const start = this.#ring.position(written);
    while (ringBytes - ((start - this.#ring.position(taken)) >>> 0) < head.length + body.length) {
      this.#call();
      Atomics.wait(counters, taken, Atomics.load(counters, taken), 50);
    }
    // Stored last: code that is stopped half way has written nothing.
    Atomics.store(counters, written, this.#ring.put(this.#ring.put(start, head), body));
    // A mark by itself is nothing to read.
    if (label !== markLabel) this.#call();
  }

  #call(): void {
    if (Atomics.exchange(this.#ring.counters, isWoken, 1) === 0) this.#wake();
  }
}

/** The reading side. */
export class RingReader {
  readonly #ring: Ring;
  readonly #take: (label: string, text: string) => void;
  #passed = 0;

  constructor(memory: SharedArrayBuffer, take: (label: string, text: string) => void) {
    this.#ring = new Ring(memory);
    this.#take = take;
  }

  /** Hands on what was printed before a message, handles it by `then`, and lets what was printed later follow. */
  pass({ position, mark }: RingPlace, then: () => void): void {
    this.drain(position);
    this.#passed = mark;
    then();
  }

  /** Hands on what was printed before `position`, or all up to the first message that has not come yet. */
  drain(position?: number): void {
    const { counters } = this.#ring;
    Atomics.store(counters, isWoken, 0);
    const end = position ?? this.#ring.position(written);
    let at = this.#ring.position(taken);
    // A position behind `taken` belongs to a message that was overtaken by a wake.
    while (at !== end && (end - at) >>> 0 <= ringBytes) {
      const head = this.#ring.get(at, 8);
      const labelBytes = head.readUInt32LE(0);
      const body = this.#ring.get((at + 8) >>> 0, head.readUInt32LE(4));
      const label = body.toString('utf8', 0, labelBytes);
      const text = body.toString('utf8', labelBytes);
      if (label === markLabel && Number(text) > this.#passed) break;
      at = (at + 8 + body.length) >>> 0;
      Atomics.store(counters, taken, at);
      if (label !== markLabel) this.#take(label, text);
    }
    Atomics.notify(counters, taken);
  }
}
