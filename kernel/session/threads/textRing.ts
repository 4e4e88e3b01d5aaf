// Printed text goes from the main thread to the worker through a ring buffer in shared memory. Sending a message per
// line would be slow, and text collected on the main thread would not appear while a loop runs. A full ring blocks the
// printing thread, as a full pipe does. Other messages are posted to the worker. Each message leaves a mark in the
// ring, so that text after the mark is not read before the message has arrived.
//
// The ring holds UTF-8 text. Control data stands between two bytes 0xFF, which UTF-8 never contains: a label, which
// applies to the text after it, or a mark. So a hundred lines in a row are read in one step.

const ringBytes = 1 << 22;
/** Limits of one step: characters written, bytes read. */
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
/** Maximum UTF-8 bytes of a UTF-16 unit. */
const unitBytes = 3;

/** Position of a message in the printed text: the message comes after all text before `position`. */
export type RingPosition = { position: number; mark: number };

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

  /** Writes text, wrapping around at the end of the ring. Returns the position after it. */
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

  /** Returns the position of the first control byte from `at` on, or `end` if there is no control byte before `end`. */
  controlFrom(at: number, end: number): number {
    const start = at % ringBytes;
    const length = (end - at) >>> 0;
    const found = this.#bytes.subarray(start, start + length).indexOf(control);
    if (found >= 0) return (at + found) >>> 0;
    const left = start + length - ringBytes;
    const behind = left > 0 ? this.#bytes.subarray(0, left).indexOf(control) : -1;
    return behind < 0 ? end : (at + (ringBytes - start) + behind) >>> 0;
  }

  /** Returns the last position up to `at` that does not split a character. */
  wholeUntil(at: number): number {
    let place = at;
    while (((this.#bytes[place % ringBytes] ?? 0) & 0xc0) === 0x80) place = (place - 1) >>> 0;
    return place;
  }
}

/** The printing side, on the main thread. */
export class RingWriter {
  readonly #ring: Ring;
  readonly #wake: () => void;
  #label: string | undefined;
  #marks = 0;

  /** @param wake called when there is text to read and the reader may be idle */
  constructor(memory: SharedArrayBuffer, wake: () => void) {
    this.#ring = new Ring(memory);
    this.#wake = wake;
  }

  /** Sends a message in order with the printed text. `send` gets the position of the message and sends it along. */
  post(send: (place: RingPosition) => void): void {
    const mark = ++this.#marks;
    // The message is sent before the mark is written, so that a reader that reaches the mark knows that the message
    // will arrive. If code is terminated between the two steps, there is no mark to wait at.
    send({ position: this.#ring.position(written), mark });
    // The reader is not woken, because a mark alone contains no text.
    this.#store(this.#ring.put(this.#roomFor(maxControlBytes), controlOf(markSign + mark)));
  }

  write(label: string, text: string): void {
    if (text !== '' && label !== this.#label) {
      const bytes = controlOf(labelSign + label);
      this.#store(this.#ring.put(this.#roomFor(bytes.length), bytes));
      // The label is stored last. If code is terminated before this line, the next code writes the label again.
      this.#label = label;
    }
    for (let at = 0; at < text.length;) {
      const end = at + maxTextChars;
      // A surrogate pair is one character and must not be split.
      const isCut = end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1] ?? '');
      const part = text.length <= maxTextChars ? text : text.slice(at, isCut ? end - 1 : end);
      this.#store(this.#ring.putText(this.#roomFor(part.length * unitBytes), part));
      this.#call();
      at = isCut ? end - 1 : end;
    }
  }

  /** Waits until that many bytes are free; returns the position to write at. */
  #roomFor(bytes: number): number {
    const ring = this.#ring;
    const at = ring.position(written);
    while (ringBytes - ((at - ring.position(taken)) >>> 0) < bytes) {
      this.#call();
      Atomics.wait(ring.counters, taken, Atomics.load(ring.counters, taken), 50);
    }
    return at;
  }

  /**
   * Publishes the written bytes. This is the last step, so that text of code that was terminated halfway is not
   * published.
   */
  #store(position: number): void {
    Atomics.store(this.#ring.counters, written, position);
  }

  #call(): void {
    if (Atomics.exchange(this.#ring.counters, isWoken, 1) === 0) this.#wake();
  }
}

/** The reading side, on the worker. */
export class RingReader {
  readonly #ring: Ring;
  readonly #take: (label: string, text: string) => void;
  #label = '';
  #passed = 0;

  constructor(memory: SharedArrayBuffer, take: (label: string, text: string) => void) {
    this.#ring = new Ring(memory);
    this.#take = take;
  }

  /**
   * Passes on the text printed before a message, calls `then` to handle the message, and allows later text to be read.
   */
  pass({ position, mark }: RingPosition, then: () => void): void {
    this.drain(position);
    this.#passed = mark;
    then();
  }

  /**
   * Passes on the text before `position`, or up to the first message that has not arrived yet.
   * @returns whether there was such text
   */
  drain(position?: number): boolean {
    const end = position ?? this.#ring.position(written);
    const start = this.#ring.position(taken);
    let at = start;
    // If `position` is before `taken`, the text up to the message was already read by a wake-up that came earlier.
    while (at !== end && (end - at) >>> 0 <= ringBytes) {
      const next = this.#readOne(at, end);
      if (next === at) break;
      at = next;
      Atomics.store(this.#ring.counters, taken, at);
      Atomics.notify(this.#ring.counters, taken);
    }
    return at !== start;
  }

  /**
   * Stops reading until the next wake-up. Call `drain` again afterwards, because text may be printed at this moment.
   */
  rest(): void {
    Atomics.store(this.#ring.counters, isWoken, 0);
  }

  /** Reads one control or one run of text; returns the position after it, or `at` if a message has not arrived yet. */
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

/** Bytes of a control: the sign and the digits of any number, between two control bytes. */
const maxControlBytes = 24;

function controlOf(said: string): Buffer {
  const bytes = Buffer.allocUnsafe(Buffer.byteLength(said) + 2);
  bytes[0] = bytes[bytes.length - 1] = control;
  bytes.write(said, 1);
  return bytes;
}
