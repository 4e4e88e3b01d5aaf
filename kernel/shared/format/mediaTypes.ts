import { imageMime } from './images.ts';

/** What bytes are, as far as their start tells. */
export type MediaType = {
  readonly kind: 'image' | 'audio' | 'video' | 'text' | 'document' | 'binary';
  /** `undefined` for bytes of an unknown format. */
  readonly mime: string | undefined;
  /** `PNG image`, `WAV audio`, `bytes` */
  readonly label: string;
};

/** Number of bytes that tell the type of any known format. */
export const typeBytes = 128;

const binary: MediaType = { kind: 'binary', mime: undefined, label: 'bytes' };

const signatures: readonly { readonly starts: string; readonly at?: number; readonly type: MediaType }[] = [
  { starts: 'WAVE', at: 8, type: { kind: 'audio', mime: 'audio/wav', label: 'WAV audio' } },
  { starts: 'fLaC', type: { kind: 'audio', mime: 'audio/flac', label: 'FLAC audio' } },
  { starts: 'ID3', type: { kind: 'audio', mime: 'audio/mpeg', label: 'MP3 audio' } },
  { starts: '\u00FF\u00FB', type: { kind: 'audio', mime: 'audio/mpeg', label: 'MP3 audio' } },
  { starts: 'OpusHead', at: 28, type: { kind: 'audio', mime: 'audio/ogg', label: 'Opus audio' } },
  { starts: 'OggS', type: { kind: 'audio', mime: 'audio/ogg', label: 'Ogg audio' } },
  { starts: 'ftypM4A', at: 4, type: { kind: 'audio', mime: 'audio/mp4', label: 'M4A audio' } },
  { starts: 'ftypqt', at: 4, type: { kind: 'video', mime: 'video/quicktime', label: 'QuickTime video' } },
  { starts: 'ftyp', at: 4, type: { kind: 'video', mime: 'video/mp4', label: 'MP4 video' } },
  { starts: 'AVI ', at: 8, type: { kind: 'video', mime: 'video/x-msvideo', label: 'AVI video' } },
  { starts: '%PDF-', type: { kind: 'document', mime: 'application/pdf', label: 'PDF' } },
];

/** Detects the type of bytes from their start: at least `typeBytes` of them, or all. */
export function mediaType(head: Uint8Array): MediaType {
  const image = imageMime(head);
  if (image) return { kind: 'image', mime: image, label: `${image.slice('image/'.length).toUpperCase()} image` };
  const start = String.fromCharCode(...head.subarray(0, typeBytes));
  if (start.startsWith('\u001A\u0045\u00DF\u00A3')) return matroska(start);
  const known = signatures.find(({ starts, at = 0 }) => start.startsWith(starts, at));
  if (known) return known.type;
  return head.length > 0 && isText(head) ? { kind: 'text', mime: 'text/plain', label: 'text' } : binary;
}

const matroska = (start: string): MediaType =>
  start.includes('webm')
    ? { kind: 'video', mime: 'video/webm', label: 'WebM video' }
    : { kind: 'video', mime: 'video/x-matroska', label: 'Matroska video' };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Whether bytes are UTF-8 without control characters, except those of lines. The last character may be cut. */
function isText(head: Uint8Array): boolean {
  try {
    // oxlint-disable-next-line no-control-regex -- binary data has control characters, and text has not
    return !/[\u0000-\u0008\u000E-\u001A\u001C-\u001F]/.test(utf8.decode(wholeCharacters(head)));
  } catch {
    return false;
  }
}

/** Returns UTF-8 without the first bytes of a character at the end whose other bytes are missing. */
export function wholeCharacters(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    // A byte of the form 10xxxxxx continues a character. The number of leading ones in its first byte is its length.
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}
