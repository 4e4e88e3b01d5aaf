const startsWith = (bytes: Uint8Array, head: readonly number[], at = 0): boolean =>
  head.every((byte, i) => bytes[at + i] === byte);

const ascii = (text: string): number[] => Array.from(text, (char) => char.charCodeAt(0));

const heads = {
  'image/png': [0x89, ...ascii('PNG'), 0x0d, 0x0a, 0x1a, 0x0a],
  'image/jpeg': [0xff, 0xd8, 0xff],
  'image/gif': ascii('GIF8'),
  'image/webp': ascii('RIFF'),
  'image/avif': ascii('ftypavi'),
} as const;

type ImageMime = keyof typeof heads;

/** Detects an image format (PNG, JPEG, GIF, WebP, AVIF) from the first bytes. */
export function imageMime(bytes: Uint8Array): ImageMime | undefined {
  if (startsWith(bytes, heads['image/png'])) return 'image/png';
  if (startsWith(bytes, heads['image/jpeg'])) return 'image/jpeg';
  if (startsWith(bytes, heads['image/gif'])) return 'image/gif';
  // RIFF is also a container for audio and video, so the name after it is checked too.
  if (startsWith(bytes, heads['image/webp']) && startsWith(bytes, ascii('WEBP'), 8)) return 'image/webp';
  // The box has its length first. Its brand is "avif" for an image and "avis" for an animation.
  if (startsWith(bytes, heads['image/avif'], 4)) return 'image/avif';
  return undefined;
}

/** Returns the image MIME type in a field's metadata, `{"mime": "image/png"}`, if any. */
export function declaredImageMime(metadata: ReadonlyMap<string, string>): string | undefined {
  const mime = metadata.get('mime');
  return mime !== undefined && /^image\/[a-z0-9.+-]+$/.test(mime) ? mime : undefined;
}

/** Size in pixels. */
export type ImageSize = { width: number; height: number };

/**
 * Returns the size in the header of a PNG, JPEG, GIF, WebP or AVIF image; `undefined` for other bytes or a truncated
 * header.
 */
export function imageSize(bytes: Uint8Array): ImageSize | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    switch (imageMime(bytes)) {
      case 'image/png':
        return pngSize(view);
      case 'image/gif':
        return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
      case 'image/jpeg':
        return jpegSize(view);
      case 'image/webp':
        return webpSize(view);
      case 'image/avif':
        return avifSize(bytes, view);
      case undefined:
        return undefined;
    }
  } catch {
    // A DataView throws at the end of the file.
    return undefined;
  }
}

/** Reads the size from the first chunk of a PNG file, which is always a header of 13 bytes. */
function pngSize(view: DataView): ImageSize | undefined {
  const isHeader = view.getUint32(8) === 13 && view.getUint32(12) === 0x49484452;
  return isHeader ? { width: view.getUint32(16), height: view.getUint32(20) } : undefined;
}

/** Reads the size from the first frame header among the segments of a JPEG file. */
function jpegSize(view: DataView): ImageSize | undefined {
  for (let at = 2; at + 9 < view.byteLength;) {
    const marker = view.getUint8(at + 1);
    if (view.getUint8(at) !== 0xff) return undefined;
    // The markers C4, C8 and CC are in the same range, but do not start a frame header.
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    at += 2 + view.getUint16(at + 2);
  }
  return undefined;
}

/**
 * Reads the size from the first chunk of a WebP file. There are three kinds of chunks, each with the size at another
 * offset.
 */
function webpSize(view: DataView): ImageSize | undefined {
  const kind = String.fromCharCode(...[12, 13, 14, 15].map((at) => view.getUint8(at)));
  const u24 = (at: number) => view.getUint16(at, true) + (view.getUint8(at + 2) << 16);
  if (kind === 'VP8X') return { width: u24(24) + 1, height: u24(27) + 1 };
  if (kind === 'VP8 ') return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
  if (kind !== 'VP8L') return undefined;
  const bits = view.getUint32(21, true);
  return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
}

/** The bytes in which the properties of an AVIF image are. */
const avifHeader = 4096;

/** Reads the largest size among the properties of an AVIF file: a part of an image has a size too. */
function avifSize(bytes: Uint8Array, view: DataView): ImageSize | undefined {
  let found: ImageSize | undefined;
  const box = ascii('ispe');
  for (let at = 0; at + 16 <= Math.min(bytes.length, avifHeader); at++) {
    if (!startsWith(bytes, box, at)) continue;
    const size = { width: view.getUint32(at + 8), height: view.getUint32(at + 12) };
    if (!found || size.width * size.height > found.width * found.height) found = size;
  }
  return found;
}
