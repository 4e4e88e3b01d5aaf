// Decoder for the LZ4 frame format. Arrow compresses buffers with it, and Node.js has no decoder. The npm packages
// considered are native code for one function, support only the block format, or lack types or releases; the format is
// a page long. Checksums are ignored, because the bytes arrive over TCP, usually with TLS.

const frameMagic = 0x184d2204;
/** Magic of frames with other content (`…50` to `…5f`), which are skipped. */
const skippableMagic = 0x184d2a50;
const blockSizes: Partial<Record<number, number>> = { 4: 64 << 10, 5: 256 << 10, 6: 1 << 20, 7: 4 << 20 };

/**
 * Decodes consecutive LZ4 frames.
 * @param maxBytes limit of the output
 * @throws RangeError if the input is not an LZ4 frame, is cut short, needs a dictionary or is too large
 */
export function decodeLz4Frames(input: Uint8Array, maxBytes: number = 2 ** 30): Uint8Array {
  const output = new Output(maxBytes);
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  for (let at = 0; at < input.length;) {
    const magic = view.getUint32(at, true);
    if ((magic & 0xfffffff0) >>> 0 === skippableMagic) at += 8 + view.getUint32(at + 4, true);
    else if (magic === frameMagic) at = decodeFrame(view, input, at + 4, output);
    else throw new RangeError('The data is not an LZ4 frame.');
  }
  return output.bytes();
}

/** Decodes the frame whose descriptor starts at `start`, and returns where it ends. */
function decodeFrame(view: DataView, input: Uint8Array, start: number, output: Output): number {
  const flags = view.getUint8(start);
  if (flags >> 6 !== 1) throw new RangeError(`Version ${flags >> 6} of the LZ4 frame format is not supported.`);
  if (flags & 1) throw new RangeError('The LZ4 frame needs a dictionary, which is not supported.');
  const maxBlock = blockSizes[(view.getUint8(start + 1) >> 4) & 7];
  if (maxBlock === undefined) throw new RangeError('The LZ4 frame has no valid block size.');
  const hasContentSize = (flags & 8) !== 0;
  const blockEnd = flags & 16 ? 4 : 0;
  const frameEnd = flags & 4 ? 4 : 0;
  // After the magic: flags, block size, optionally the content size, and a checksum of one byte.
  let at = start + 3 + (hasContentSize ? 8 : 0);
  const from = flags & 32 ? undefined : output.length;
  for (;;) {
    const size = view.getUint32(at, true);
    at += 4;
    if (size === 0) return at + frameEnd;
    const length = size & 0x7fffffff;
    if (at + length > input.length) throw new RangeError('The LZ4 frame is cut short.');
    const block = input.subarray(at, at + length);
    output.startBlock(maxBlock);
    // Independent blocks can't refer to earlier blocks of the frame; linked blocks can refer to the whole frame.
    if (size & 0x80000000) output.copy(block, 0, length);
    else decodeBlock(block, output, from ?? output.length);
    at += length + blockEnd;
  }
}

/** Decodes literal bytes and copies of earlier output. Copies can't start before `first`. */
function decodeBlock(block: Uint8Array, output: Output, first: number): void {
  let at = 0;
  const more = (nibble: number): number => {
    let length = nibble;
    if (nibble < 15) return length;
    for (let byte = 255; byte === 255; at++) {
      if (at >= block.length) throw new RangeError('The LZ4 block is cut short.');
      byte = block[at]!;
      length += byte;
    }
    return length;
  };
  while (at < block.length) {
    const token = block[at++]!;
    const literals = more(token >> 4);
    if (at + literals > block.length) throw new RangeError('The LZ4 block is cut short.');
    output.copy(block, at, at + literals);
    at += literals;
    // The last sequence has literals only, so no copy follows.
    if (at === block.length) return;
    if (at + 2 > block.length) throw new RangeError('The LZ4 block is cut short.');
    const distance = block[at]! | (block[at + 1]! << 8);
    at += 2;
    output.repeat(distance, more(token & 15) + 4, first);
  }
}

/** A growing byte buffer. It is never shared, so it is aligned for views with 64-bit numbers. */
class Output {
  readonly #maxBytes: number;
  #bytes = new Uint8Array(0);
  length = 0;
  #blockEnd = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Reserves space for a block of at most `maxBlock` bytes, within the limit of the output. */
  startBlock(maxBlock: number): void {
    this.#blockEnd = this.length + maxBlock;
    const wanted = Math.min(this.#blockEnd, this.#maxBytes);
    if (wanted <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.min(Math.max(wanted, this.#bytes.length * 2), this.#maxBytes));
    grown.set(this.#bytes.subarray(0, this.length));
    this.#bytes = grown;
  }

  copy(source: Uint8Array, start: number, end: number): void {
    this.#check(end - start);
    this.#bytes.set(source.subarray(start, end), this.length);
    this.length += end - start;
  }

  repeat(distance: number, count: number, first: number): void {
    const from = this.length - distance;
    if (distance === 0 || from < first) throw new RangeError('The LZ4 block refers to data before its start.');
    this.#check(count);
    if (distance >= count) this.#bytes.copyWithin(this.length, from, from + count);
    // If a copy overlaps its own output, it repeats bytes that this loop has just written.
    else for (let i = 0; i < count; i++) this.#bytes[this.length + i] = this.#bytes[from + i]!;
    this.length += count;
  }

  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }

  #check(count: number): void {
    const end = this.length + count;
    if (end > this.#blockEnd) throw new RangeError('An LZ4 block is larger than its frame says.');
    if (end <= this.#maxBytes) return;
    const error = new RangeError(`The LZ4 frame holds more than ${this.#maxBytes} bytes.`);
    throw Object.assign(error, { code: 'ERR_BUFFER_TOO_LARGE' });
  }
}
