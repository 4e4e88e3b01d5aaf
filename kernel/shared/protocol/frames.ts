// Framing of the pipe between an editor and a kernel: u32le length, then that many bytes of UTF-8 JSON.

/** Larger than any of our messages; a peer that announces a larger frame does not use this protocol. */
const maxFrameBytes = 256 * 1024 * 1024;

/**
 * Encodes one message.
 * @throws TypeError if JSON can't represent it, RangeError if it exceeds the frame limit
 */
export function encodeFrame(message: unknown): Uint8Array {
  const body = new TextEncoder().encode(JSON.stringify(message));
  if (body.length > maxFrameBytes)
    throw new RangeError(`A message of ${body.length} bytes is over the limit of ${maxFrameBytes}.`);
  const frame = new Uint8Array(4 + body.length);
  new DataView(frame.buffer).setUint32(0, body.length, true);
  frame.set(body, 4);
  return frame;
}

/**
 * Returns a function that takes the chunks of a stream and emits each whole message.
 * @throws RangeError from the returned function on a length over the limit, SyntaxError on a body that is not JSON
 */
export const frameDecoder = (onMessage: (message: unknown) => void): ((chunk: Uint8Array) => void) =>
  bodyDecoder((body) => onMessage(JSON.parse(new TextDecoder().decode(body))));

/**
 * Returns a function that takes the chunks of a stream and emits the body of each frame. If one chunk holds the whole
 * body, the body is a view of the chunk.
 * @throws RangeError from the returned function on a length over the limit
 */
export function bodyDecoder(onBody: (body: Uint8Array) => void, maxBytes = maxFrameBytes): (chunk: Uint8Array) => void {
  let chunks: Uint8Array[] = [];
  let have = 0;
  let need = 4;
  let inBody = false;

  // Chunks are joined once per frame and not at each chunk, because a large output arrives in thousands of chunks.
  const take = (size: number): Uint8Array => {
    const all = chunks.length === 1 ? chunks[0]! : concat(chunks, have);
    const rest = all.subarray(size);
    chunks = rest.length ? [rest] : [];
    have = rest.length;
    return all.subarray(0, size);
  };

  return (chunk) => {
    chunks.push(chunk);
    have += chunk.length;
    while (have >= need) {
      const bytes = take(need);
      if (inBody) {
        inBody = false;
        need = 4;
        onBody(bytes);
        continue;
      }
      need = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
      if (need > maxBytes) throw new RangeError(`A frame of ${need} bytes is over the limit of ${maxBytes}.`);
      inBody = true;
    }
  };
}

type ByteSource = { on(event: 'data', listener: (chunk: Uint8Array) => void): unknown };

/**
 * Calls `onMessage` for each message.
 * @param onBroken called on an invalid frame, after which frame boundaries are unknown
 */
export function readFrames(source: ByteSource, onMessage: (message: unknown) => void, onBroken: () => void): void {
  const decode = frameDecoder(onMessage);
  source.on('data', (chunk) => {
    try {
      decode(chunk);
    } catch {
      onBroken();
    }
  });
}

function concat(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const all = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
