import { type ImageSize, imageSize } from '#shared/format/images.ts';
import { countText } from '#shared/format/numbers.ts';

/** The bytes of an image, as a cell has them. */
export type ThumbnailImage = { readonly bytes: Uint8Array; readonly mime: string };

/** The largest size of a thumbnail, in pixels of the page. */
export type ThumbnailBox = { readonly width: number; readonly height: number };

/** Returns the largest thumbnail that a row has space for. */
export const thumbnailBox = (rowHeight: number): ThumbnailBox => ({ width: 2.9 * rowHeight, height: rowHeight - 9 });

/** An image with more pixels is not decoded: it would take more than 0.4 GB of memory. */
const maxPixels = 100_000_000;
/** Number of images that are decoded at the same time. */
const maxDecodes = 4;
/** Maximum pixels of all decoded thumbnails that are kept, 4 bytes each. */
const maxKeptPixels = 4_000_000;

type Waiting = { readonly run: () => Promise<void> };

const waiting: Waiting[] = [];
let running = 0;
type Kept = { readonly bitmap: ImageBitmap; readonly box: string };

/** Decoded thumbnails by their image. They don't keep the image, which is a part of a loaded page. */
const thumbnails = new WeakMap<Uint8Array, Kept>();
/** The thumbnails, the least recently used first. */
const kept = new Set<Kept>();
let keptPixels = 0;

/**
 * Draws a thumbnail of an image into a canvas. The browser decodes it on another thread, in the size of the thumbnail.
 * SVG is not decoded, because it is a document.
 * @param onDamaged called if the image can't be decoded
 * @returns a function that ends the drawing
 */
export function drawThumbnail(
  canvas: HTMLCanvasElement,
  image: ThumbnailImage,
  box: ThumbnailBox,
  onDamaged: (reason: string) => void,
): () => void {
  const scale = window.devicePixelRatio || 1;
  const key = `${box.width} × ${box.height} × ${scale}`;
  const known = thumbnails.get(image.bytes);
  if (known?.box === key && kept.has(known)) {
    kept.delete(known);
    kept.add(known);
    paint(canvas, known.bitmap, scale);
    return () => {};
  }
  let isEnded = false;
  const run = async (): Promise<void> => {
    try {
      const bitmap = await decode(image, box, scale);
      if (!isEnded) paint(canvas, bitmap, scale);
      keep(image.bytes, bitmap, key);
    } catch (error) {
      if (!isEnded) onDamaged(error instanceof TooLarge ? error.message : 'damaged');
    }
  };
  const job: Waiting = { run };
  waiting.push(job);
  startNext();
  return () => {
    isEnded = true;
    const at = waiting.indexOf(job);
    if (at >= 0) waiting.splice(at, 1);
  };
}

class TooLarge extends Error {}

function startNext(): void {
  while (running < maxDecodes) {
    const job = waiting.shift();
    if (!job) return;
    running++;
    void job.run().finally(() => {
      running--;
      startNext();
    });
  }
}

function decode({ bytes, mime }: ThumbnailImage, box: ThumbnailBox, scale: number): Promise<ImageBitmap> {
  const size = imageSize(bytes);
  if (size && size.width * size.height > maxPixels)
    throw new TooLarge(`${countText(size.width)} × ${countText(size.height)} pixels, too large to draw`);
  const file = new Blob([bytes as Uint8Array<ArrayBuffer>], { type: mime });
  return createImageBitmap(file, size ? shrunk(size, box, scale) : {});
}

/** Returns the options to decode an image in the size of its thumbnail. The browser keeps the other side's proportion. */
function shrunk({ width, height }: ImageSize, box: ThumbnailBox, scale: number): ImageBitmapOptions {
  const [widest, highest] = [box.width * scale, box.height * scale];
  if (width <= widest && height <= highest) return {};
  const isWide = width / height > widest / highest;
  const side = isWide ? { resizeWidth: Math.round(widest) } : { resizeHeight: Math.round(highest) };
  return { ...side, resizeQuality: 'medium' };
}

function paint(canvas: HTMLCanvasElement, bitmap: ImageBitmap, scale: number): void {
  canvas.width = bitmap.width;
  canvas.height = bitmap.height;
  canvas.style.width = `${bitmap.width / scale}px`;
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
  canvas.classList.remove('lance-decoding');
}

function keep(bytes: Uint8Array, bitmap: ImageBitmap, box: string): void {
  const before = thumbnails.get(bytes);
  if (before) forget(before);
  const thumbnail = { bitmap, box };
  thumbnails.set(bytes, thumbnail);
  kept.add(thumbnail);
  keptPixels += pixelsOf(bitmap);
  for (const oldest of kept) {
    if (keptPixels <= maxKeptPixels || oldest === thumbnail) return;
    forget(oldest);
  }
}

function forget(thumbnail: Kept): void {
  if (!kept.delete(thumbnail)) return;
  keptPixels -= pixelsOf(thumbnail.bitmap);
  thumbnail.bitmap.close();
}

const pixelsOf = ({ width, height }: ImageBitmap): number => width * height;
