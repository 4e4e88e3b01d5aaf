import { CatalogError } from '#shared/errors.ts';
import { imageMime } from '#shared/format/images.ts';
import { sizeText } from '#shared/format/numbers.ts';
import { type RenderedOutput, textOnly } from './mimeBundle.ts';
import { dataProperty, isObject, methodOf } from './typeGuards.ts';

/** Size in pixels. */
type ImageSize = { width: number; height: number };

/**
 * Returns the size in the header of a PNG, JPEG, GIF or WebP image; `undefined` for other bytes or a truncated file.
 */
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
    // A DataView throws at the end of the file.
    return undefined;
  }
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

/** Maximum size of an image, because a notebook stores the whole image as base64, which is a third larger. */
const maxBytes = 8 * 1024 * 1024;
const svgStart = /^\uFEFF?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*|<!DOCTYPE svg[^>]*>\s*)*<svg[\s>]/is;

/**
 * Returns an image as an output; `undefined` if the value does not look like an image. Never throws for a damaged
 * image.
 */
export function showImage(value: unknown): RenderedOutput | Promise<RenderedOutput> | undefined {
  if (value instanceof Uint8Array) return ofBytes(value);
  if (value instanceof Blob) return value.type.startsWith('image/') ? ofBlob(value) : undefined;
  return isObject(value) ? ofCanvas(value) : undefined;
}

/**
 * Shows a value that the user declares to be an image; also accepts SVG text and data URLs.
 * @throws CatalogError InvalidInput (13) if the value is not an image
 */
export async function showAsImage(value: unknown): Promise<RenderedOutput> {
  const given = value instanceof ArrayBuffer ? new Uint8Array(value) : value;
  const shown = typeof given === 'string' ? ofText(given) : given instanceof Blob ? ofBlob(given) : showImage(given);
  if (shown) return shown;
  throw new CatalogError(
    'InvalidInput',
    'Expected an image for display.image.',
    'Pass the bytes of a PNG, JPEG, GIF, WebP or SVG file, a Blob, a canvas, SVG text or a data: URL.',
  );
}

export const showSvg = (text: string): RenderedOutput => ({
  data: { 'image/svg+xml': text, 'text/plain': `SVG image, ${sizeText(Buffer.byteLength(text))}` },
  metadata: {},
});

function ofBytes(bytes: Uint8Array): RenderedOutput | undefined {
  const mime = imageMime(bytes);
  if (!mime) {
    const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1000)).toString('utf8');
    return svgStart.test(head)
      ? bounded(bytes.length, 'SVG', () => showSvg(new TextDecoder().decode(bytes)))
      : undefined;
  }
  const size = imageSize(bytes);
  const name = mime.slice('image/'.length).toUpperCase();
  const dimensions = size ? `, ${size.width} × ${size.height}` : '';
  return bounded(bytes.length, name, () => ({
    data: {
      [mime]: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64'),
      'text/plain': `${name} image${dimensions}, ${sizeText(bytes.length)}`,
    },
    metadata: {},
  }));
}

const bounded = (length: number, name: string, make: () => RenderedOutput): RenderedOutput =>
  length <= maxBytes
    ? make()
    : textOnly(
        `${name} image of ${sizeText(length)}, too large for a notebook. Show a smaller image, or write it to a file.`,
      );

async function ofBlob(blob: Blob): Promise<RenderedOutput> {
  if (blob.size > maxBytes)
    return bounded(blob.size, blob.type.slice('image/'.length).toUpperCase(), () => textOnly(''));
  const shown = ofBytes(new Uint8Array(await blob.arrayBuffer()));
  return shown ?? textOnly(`Blob of type "${blob.type}", ${sizeText(blob.size)}, not in a known image format.`);
}

/** Canvas objects of node-canvas and similar libraries return their image as bytes, or at least as a data URL. */
function ofCanvas(canvas: object): RenderedOutput | Promise<RenderedOutput> | undefined {
  if (typeof dataProperty(canvas, 'toDataURL') !== 'function') return undefined;
  const toBuffer = methodOf(canvas, 'toBuffer');
  const made = toBuffer ? toBuffer('image/png') : undefined;
  if (made instanceof Uint8Array) return ofBytes(made);
  const url: unknown = methodOf(canvas, 'toDataURL')?.();
  if (typeof url === 'string') return ofText(url);
  return url instanceof Promise ? url.then((text) => ofText(String(text)) ?? textOnly('Empty canvas')) : undefined;
}

function ofText(text: string): RenderedOutput | undefined {
  const url = /^data:image\/[a-z0-9.+-]+((?:;[^,;]*)*),/i.exec(text);
  if (url) {
    const body = text.slice(url[0].length);
    const isBase64 = /;base64$/i.test(url[1] ?? '');
    return ofBytes(isBase64 ? Buffer.from(body, 'base64') : Buffer.from(decodeURIComponent(body)));
  }
  return svgStart.test(text.slice(0, 1000)) ? ofBytes(Buffer.from(text)) : undefined;
}
