import type { Socket } from 'node:net';
import { bodyDecoder } from '#shared/protocol/frames.ts';
import type { Frames } from '#session/jupyter/jupyterFrames.ts';

// Messages between a kernel and its relay: u32le length of the rest, u8 kind, u32le number, u32le count of frames, the
// length of each as u32le, and the frames.

const kinds = [
  // From the relay, first message. `number`: 1 if a client has subscribed. Frames: the session, and the signatures of
  // the requests that the relay has answered.
  'hello',
  // From the relay: a request on that channel; to the relay: a reply.
  'shell',
  'control',
  'stdin',
  /** From the relay: a client has subscribed to the topic in frame 0. */
  'subscribed',
  /** From the relay: ZeroMQ has accepted this number of published bytes. */
  'taken',
  /** To the relay: a message to publish. */
  'publish',
  /** To the relay: a question on the stdin channel; the relay answers with the same number. */
  'ask',
  'reached',
  'unreached',
  /** To the relay: an order to send the remaining messages and to end. */
  'close',
] as const;
export type RelayKind = (typeof kinds)[number];

/** Maximum size of a message: several frames of the largest size that ZeroMQ accepts, or the data of a widget. */
const maxBytes = 2 ** 31;
const fixedBytes = 9;

/** Returns `false`, without sending, if the message is too long or the socket is closed. */
export function sendRelayed(socket: Socket, kind: RelayKind, frames: Frames = [], number = 0): boolean {
  const parts = frames.map((frame) => (typeof frame === 'string' ? Buffer.from(frame) : frame));
  const head = Buffer.allocUnsafe(4 + fixedBytes + 4 * parts.length);
  let length = fixedBytes + 4 * parts.length;
  for (const [index, part] of parts.entries()) {
    head.writeUInt32LE(part.length, 4 + fixedBytes + 4 * index);
    length += part.length;
  }
  if (length > maxBytes || socket.destroyed) return false;
  head.writeUInt32LE(length, 0);
  head.writeUInt8(kinds.indexOf(kind), 4);
  head.writeUInt32LE(number, 5);
  head.writeUInt32LE(parts.length, 9);
  // The socket is corked, so that all parts are written in one system call.
  socket.cork();
  socket.write(head);
  for (const part of parts) socket.write(part);
  process.nextTick(() => socket.uncork());
  return true;
}

export type RelayMessage = { kind: RelayKind; number: number; frames: Buffer[] };

/** Passes on the messages of a socket; closes the socket if a message is malformed. */
export function readRelayed(socket: Socket, take: (message: RelayMessage) => void): void {
  const decode = bodyDecoder((body) => take(decodeRelayed(body)), maxBytes);
  socket.on('data', (chunk) => {
    try {
      decode(chunk);
    } catch {
      socket.destroy();
    }
  });
}

/** @throws RangeError if the bytes are not a message */
export function decodeRelayed(bytes: Uint8Array): RelayMessage {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const kind = kinds[body.readUInt8(0)];
  const number = body.readUInt32LE(1);
  const count = body.readUInt32LE(5);
  let at = fixedBytes + 4 * count;
  if (kind === undefined || at > body.length) throw new RangeError('The bytes are not a relay message.');
  const frames: Buffer[] = [];
  for (let index = 0; index < count; index++) {
    const length = body.readUInt32LE(fixedBytes + 4 * index);
    if (at + length > body.length) throw new RangeError('A frame is longer than its message.');
    frames.push(body.subarray(at, at + length));
    at += length;
  }
  return { kind, number, frames };
}
