import { CatalogError } from '#shared/errors.ts';
import { imageMime, imageSize } from '#shared/format/images.ts';
import { sizeText } from '#shared/format/numbers.ts';
import { type RenderedOutput, textOnly } from './mimeBundle.ts';
import { dataProperty, isObject, methodOf } from './typeGuards.ts';

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
