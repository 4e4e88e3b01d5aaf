// What code prints goes from the main thread to the worker through a ring of shared memory. A message per line would be
// slow, and lines gathered on the main thread would not be seen while a loop runs; here the worker sees each at once.
// A full ring makes the printing thread wait, as it would at a full pipe. Other messages go another way; each leaves a mark
// in the ring, so that text printed after it is not read before it has come.
//
// In the ring is text as UTF-8, and between two bytes 0xFF, which no UTF-8 has, what is no text: a label, which holds for
// the text behind it, or a mark. So a hundred lines in a row are one piece to who reads them.

const ringBytes = 1 << 22;
/** What is written, and what is read, in one step. */
const maxTextChars = 1 << 18;
const maxTextBytes = 1 << 17;
const headerBytes = 16;

/** Indexes of the counters in front of the ring. Positions count all bytes ever written, modulo 2³². */
const written = 0;
const taken = 1;
const isWoken = 2;

const control = 0xff;
const labelSign = 'L';
const markSign = 'M';
/** The most bytes that a unit of a string takes as UTF-8. */
const unitBytes = 3;

/** Where in the printed text a message belongs: after all that was printed before `position`, and before what follows. */
export type RingPlace = { position: number; mark: number };

export const createRing = (): SharedArrayBuffer => new SharedArrayBuffer(headerBytes + ringBytes);

class Ring {
  readonly counters: Int32Array;
  readonly #bytes: Buffer;

  constructor(memory: SharedArrayBuffer) {
    this.counters = new Int32Array(memory, 0, headerBytes / 4);
    this.#bytes = Buffer.from(memory, headerBytes, ringBytes);
  }

  position(counter: typeof written | typeof taken): number {
    return Atomics.load(this.counters, counter) >>> 0;
  }

  /** Writes text where there is room for it, however long it becomes. Gives the position behind it. */
  putText(at: number, text: string): number {
    const start = at % ringBytes;
    if (start + text.length * unitBytes > ringBytes) return this.put(at, Buffer.from(text));
    return (at + this.#bytes.write(text, start)) >>> 0;
  }

  put(at: number, bytes: Uint8Array): number {
    const start = at % ringBytes;
    const first = bytes.subarray(0, ringBytes - start);
    this.#bytes.set(first, start);
    this.#bytes.set(bytes.subarray(first.length), 0);
    return (at + bytes.length) >>> 0;
  }

  text(at: number, end: number): string {
    const start = at % ringBytes;
    const length = (end - at) >>> 0;
    if (start + length <= ringBytes) return this.#bytes.toString('utf8', start, start + length);
    const parts = [this.#bytes.subarray(start), this.#bytes.subarray(0, start + length - ringBytes)];
    return Buffer.concat(parts, length).toString('utf8');
  }

  /** The first control byte from `at` on, or `end` where there is none before it. */
  controlFrom(at: number, end: number): number {
    const start = at % ringBytes;
    const length = (end - at) >>> 0;
    const found = this.#bytes.subarray(start, start + length).indexOf(control);
    if (found >= 0) return (at + found) >>> 0;
    const left = start + length - ringBytes;
    const behind = left > 0 ? this.#bytes.subarray(0, left).indexOf(control) : -1;
    return behind < 0 ? end : (at + (ringBytes - start) + behind) >>> 0;
  }

  /** The last place up to `at` where no character is cut in two. */
  wholeUntil(at: number): number {
    let place = at;
    while (((this.#bytes[place % ringBytes] ?? 0) & 0xc0) === 0x80) place = (place - 1) >>> 0;
    return place;
  }
}

/** The printing side. */
export class RingWriter {
  readonly #ring: Ring;
  readonly #wake: () => void;
  #label: string | undefined;
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
    // A mark by itself is nothing to read, so nobody is woken for it.
    this.#store(this.#ring.put(this.#roomFor(maxControlBytes), controlOf(markSign + mark)));
  }

  write(label: string, text: string): void {
    if (text !== '' && label !== this.#label) {
      const bytes = controlOf(labelSign + label);
      this.#store(this.#ring.put(this.#roomFor(bytes.length), bytes));
      // Behind it: code that is stopped before says the label again.
      this.#label = label;
    }
    for (let at = 0; at < text.length;) {
      const end = at + maxTextChars;
      // A pair of surrogates is one character and can't be written in halves.
      const isCut = end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1] ?? '');
      const part = text.length <= maxTextChars ? text : text.slice(at, isCut ? end - 1 : end);
      this.#store(this.#ring.putText(this.#roomFor(part.length * unitBytes), part));
      this.#call();
      at = isCut ? end - 1 : end;
    }
  }

  /** Waits until there are so many free bytes; gives the position to write at. */
  #roomFor(bytes: number): number {
    const ring = this.#ring;
    const at = ring.position(written);
    while (ringBytes - ((at - ring.position(taken)) >>> 0) < bytes) {
      this.#call();
      Atomics.wait(ring.counters, taken, Atomics.load(ring.counters, taken), 50);
    }
    return at;
  }

  /** Makes known what was written. Last: code that is stopped half way has written nothing. */
  #store(position: number): void {
    Atomics.store(this.#ring.counters, written, position);
  }

  #call(): void {
    if (Atomics.exchange(this.#ring.counters, isWoken, 1) === 0) this.#wake();
  }
}

/** The reading side. */
export class RingReader {
  readonly #ring: Ring;
  readonly #take: (label: string, text: string) => void;
  #label = '';
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

  /**
   * Hands on what was printed before `position`, or all up to the first message that has not come yet.
   * @returns whether there was anything
   */
  drain(position?: number): boolean {
    const end = position ?? this.#ring.position(written);
    const start = this.#ring.position(taken);
    let at = start;
    // A position behind `taken` belongs to a message that was overtaken by a wake.
    while (at !== end && (end - at) >>> 0 <= ringBytes) {
      const next = this.#readOne(at, end);
      if (next === at) break;
      at = next;
      Atomics.store(this.#ring.counters, taken, at);
      Atomics.notify(this.#ring.counters, taken);
    }
    return at !== start;
  }

  /** The reader looks no more until it is woken. What was printed at this moment is still to be drained. */
  rest(): void {
    Atomics.store(this.#ring.counters, isWoken, 0);
  }

  /** Reads a control or a piece of text; gives the position behind it, `at` itself where it has to wait. */
  #readOne(at: number, end: number): number {
    const ring = this.#ring;
    const isLong = (end - at) >>> 0 > maxTextBytes;
    const until = isLong ? ring.wholeUntil((at + maxTextBytes) >>> 0) : end;
    const sign = ring.controlFrom(at, until);
    if (sign !== at) {
      this.#take(this.#label, ring.text(at, sign));
      return sign;
    }
    const first = (at + 1) >>> 0;
    const last = ring.controlFrom(first, end);
    const said = ring.text(first, last);
    if (said.startsWith(markSign) && Number(said.slice(1)) > this.#passed) return at;
    if (said.startsWith(labelSign)) this.#label = said.slice(1);
    return (last + 1) >>> 0;
  }
}

/** The sign and as many digits as a number can have, between two bytes. */
const maxControlBytes = 24;

function controlOf(said: string): Buffer {
  const bytes = Buffer.allocUnsafe(Buffer.byteLength(said) + 2);
  bytes[0] = bytes[bytes.length - 1] = control;
  bytes.write(said, 1);
  return bytes;
}
