import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { RecentSet } from '#session/core/boundedSets.ts';

// The wire format of Jupyter messaging 5.4 ("The wire protocol"): identities, delimiter, signature, four JSON parts,
// buffers.

export const protocolVersion = '5.4';
const delimiter = Buffer.from('<IDS|MSG>');

export type Frames = (Buffer | string)[];

export function bytesOf(frames: Frames): number {
  let bytes = 0;
  for (const frame of frames) bytes += Buffer.byteLength(frame);
  return bytes;
}

export type Header = { msg_id: string; msg_type: string; session: string } & Record<string, unknown>;

export type JupyterMessage = {
  /** ZeroMQ identities of the client, sent back unchanged with the reply. */
  identities: Buffer[];
  signature: string;
  header: Header;
  /** The header of the message that this message replies to; empty if the message is not a reply. */
  parent: Record<string, unknown>;
  metadata: Record<string, unknown>;
  content: Record<string, unknown>;
  buffers: Buffer[];
};

export type Signer = {
  sign(parts: readonly Buffer[]): string;
  /** Whether a message is signed with the key and was not received before. Compares signatures in constant time. */
  accepts(parts: readonly Buffer[], signature: Buffer): boolean;
  remember(signature: string): void;
};

/** Number of remembered signatures. A message with a remembered signature is refused, because it may be a replay. */
const seenSignatures = 1 << 16;

/** Signs the four JSON parts with HMAC-SHA256; an empty key disables signing and checking. */
export function createSigner(key: string): Signer {
  const sign = (parts: readonly Buffer[]): string => {
    if (key === '') return '';
    const hmac = createHmac('sha256', key);
    for (const part of parts) hmac.update(part);
    return hmac.digest('hex');
  };
  const seen = new RecentSet(seenSignatures);
  return {
    sign,
    remember: (signature) => seen.add(signature),
    accepts(parts, signature) {
      if (key === '') return true;
      const text = sign(parts);
      const expected = Buffer.from(text);
      if (signature.length !== expected.length || !timingSafeEqual(signature, expected) || seen.has(text)) return false;
      seen.add(text);
      return true;
    },
  };
}

/** Decodes a message; returns undefined if it is malformed, replayed or not signed with the key. */
export function decodeMessage(frames: readonly Buffer[], signer: Signer): JupyterMessage | undefined {
  const at = frames.findIndex((frame) => frame.equals(delimiter));
  const signature = frames[at + 1];
  const parts = frames.slice(at + 2, at + 6);
  if (at < 0 || !signature || parts.length < 4 || !signer.accepts(parts, signature)) return undefined;
  // Some clients send null for empty parts.
  const [header, parent = {}, metadata = {}, content] = parts.map(parseObject);
  if (!isHeader(header) || !content) return undefined;
  return {
    identities: frames.slice(0, at),
    signature: signature.toString(),
    header,
    parent,
    metadata,
    content,
    buffers: frames.slice(at + 6),
  };
}

export type Outgoing = {
  identities: readonly (Buffer | string)[];
  type: string;
  content: unknown;
  parent: Header | undefined;
  metadata?: Record<string, unknown>;
  buffers?: readonly Uint8Array[];
  /** Default: a new id. */
  id?: string;
};

/**
 * Returns the frames of a message from this kernel.
 * @throws TypeError if JSON can't hold the content
 */
export function encodeMessage(
  { identities, type, content, parent, metadata = {}, buffers = [], id = randomUUID() }: Outgoing,
  session: string,
  signer: Signer,
): Frames {
  const header = {
    msg_id: id,
    msg_type: type,
    session,
    username: 'kernel',
    date: new Date().toISOString(),
    version: protocolVersion,
  };
  const parts = [header, parent ?? {}, metadata, content].map((part) => Buffer.from(JSON.stringify(part)));
  return [
    ...identities,
    delimiter,
    signer.sign(parts),
    ...parts,
    ...buffers.map((each) => Buffer.from(each.buffer, each.byteOffset, each.length)),
  ];
}

function parseObject(part: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(part.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    // A message without a header is dropped like an unsigned message, because it does not say which client gets the
    // reply.
    return undefined;
  }
}

const isHeader = (value: Record<string, unknown> | undefined): value is Header =>
  value !== undefined && ['msg_id', 'msg_type', 'session'].every((name) => typeof value[name] === 'string');
