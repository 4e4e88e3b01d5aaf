import { imageMime } from '#shared/images.ts';

/** Width and height in pixels. */
export type ImageSize = { width: number; height: number };

/** The size that a PNG, JPEG, GIF or WebP picture says it has; `undefined` where the file ends before it. */
export function imageSize(bytes: Uint8Array): ImageSize | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    switch (imageMime(bytes)) {
      case 'image/png':
        return { width: view.getUint32(16), height: view.getUint32(20) };
      case 'image/gif':
        return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
      case 'image/jpeg':
        return jpegSize(view);
      case 'image/webp':
        return webpSize(view);
      case undefined:
        return undefined;
    }
  } catch {
    // A DataView throws where the file ends.
    return undefined;
  }
}

/** A JPEG file is a row of segments; one of those that begin a frame has the size. */
function jpegSize(view: DataView): ImageSize | undefined {
  for (let at = 2; at + 9 < view.byteLength;) {
    const marker = view.getUint8(at + 1);
    if (view.getUint8(at) !== 0xff) return undefined;
    // C4, C8 and CC are tables that lie in the same range.
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    at += 2 + view.getUint16(at + 2);
  }
  return undefined;
}

/** WebP has three kinds of first chunk, each with its own place for the size. */
function webpSize(view: DataView): ImageSize | undefined {
  const kind = String.fromCharCode(...[12, 13, 14, 15].map((at) => view.getUint8(at)));
  const u24 = (at: number) => view.getUint16(at, true) + (view.getUint8(at + 2) << 16);
  if (kind === 'VP8X') return { width: u24(24) + 1, height: u24(27) + 1 };
  if (kind === 'VP8 ') return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
  if (kind !== 'VP8L') return undefined;
  const bits = view.getUint32(21, true);
  return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
}
