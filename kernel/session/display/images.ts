import { imageMime } from '#shared/images.ts';
import { CatalogError } from '#shared/errors.ts';
import { imageSize } from './imageSize.ts';
import { dataProperty, isObject, methodOf } from './shapes.ts';
import { sizeText } from '#shared/markup.ts';
import { textOnly, type Shown } from './shown.ts';

/** A notebook holds the whole picture as text, a third larger. */
const maxBytes = 8 * 1024 * 1024;
const svgStart = /^\uFEFF?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*|<!DOCTYPE svg[^>]*>\s*)*<svg[\s>]/is;

/** What can be shown as a picture: bytes, a Blob, a canvas of node-canvas or of its like; text of SVG or a data URL. */
export type ImageSource = Uint8Array | ArrayBuffer | Blob | string | object;

/** A picture as an output, or `undefined` for what does not look like one. Never throws for a damaged one. */
export function showImage(value: unknown): Shown | Promise<Shown> | undefined {
  if (value instanceof Uint8Array) return ofBytes(value);
  if (value instanceof Blob) return value.type.startsWith('image/') ? ofBlob(value) : undefined;
  return isObject(value) ? ofCanvas(value) : undefined;
}

/**
 * The same for what a person says is a picture: text of SVG, and a data URL, count as well.
 * @throws CatalogError InvalidInput (13) for what is no picture
 */
export async function showAsImage(value: unknown): Promise<Shown> {
  const given = value instanceof ArrayBuffer ? new Uint8Array(value) : value;
  const shown = typeof given === 'string' ? ofText(given) : given instanceof Blob ? ofBlob(given) : showImage(given);
  if (shown) return shown;
  throw new CatalogError(
    'InvalidInput',
    'display.image was given something that is no picture.',
    'Give the bytes of a PNG, JPEG, GIF, WebP or SVG file, a Blob, a canvas, SVG text or a data: URL.',
  );
}

/** SVG text as an output. */
export const showSvg = (text: string): Shown => ({
  data: { 'image/svg+xml': text, 'text/plain': `SVG picture, ${sizeText(Buffer.byteLength(text))}` },
  metadata: {},
});

function ofBytes(bytes: Uint8Array): Shown | undefined {
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
      'text/plain': `${name} picture${dimensions}, ${sizeText(bytes.length)}`,
    },
    metadata: {},
  }));
}

const bounded = (length: number, name: string, make: () => Shown): Shown =>
  length <= maxBytes
    ? make()
    : textOnly(
        `${name} picture of ${sizeText(length)}, too large for a notebook. Show a smaller one, or write it to a file.`,
      );

async function ofBlob(blob: Blob): Promise<Shown> {
  if (blob.size > maxBytes)
    return bounded(blob.size, blob.type.slice('image/'.length).toUpperCase(), () => textOnly(''));
  const shown = ofBytes(new Uint8Array(await blob.arrayBuffer()));
  return shown ?? textOnly(`Blob of type "${blob.type}", ${sizeText(blob.size)}, which is no picture that is known.`);
}

/** node-canvas and its like give their picture as bytes, or at least as a data URL. */
function ofCanvas(canvas: object): Shown | Promise<Shown> | undefined {
  if (typeof dataProperty(canvas, 'toDataURL') !== 'function') return undefined;
  const toBuffer = methodOf(canvas, 'toBuffer');
  const made = toBuffer ? toBuffer('image/png') : undefined;
  if (made instanceof Uint8Array) return ofBytes(made);
  const url: unknown = methodOf(canvas, 'toDataURL')?.();
  if (typeof url === 'string') return ofText(url);
  return url instanceof Promise ? url.then((text) => ofText(String(text)) ?? textOnly('An empty canvas')) : undefined;
}

function ofText(text: string): Shown | undefined {
  const url = /^data:image\/[a-z0-9.+-]+((?:;[^,;]*)*),/i.exec(text);
  if (url) {
    const body = text.slice(url[0].length);
    const isBase64 = /;base64$/i.test(url[1] ?? '');
    return ofBytes(isBase64 ? Buffer.from(body, 'base64') : Buffer.from(decodeURIComponent(body)));
  }
  return svgStart.test(text.slice(0, 1000)) ? ofBytes(Buffer.from(text)) : undefined;
}
