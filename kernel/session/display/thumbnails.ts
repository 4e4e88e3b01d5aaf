import { createRequire } from 'node:module';
import type * as Photon from '@silvia-odwyer/photon-node';
import { requireLazy } from '#shared/loadLazy.ts';
import { imageSize } from '#shared/format/images.ts';

// Thumbnails replace images that are too large for an output. They are made with Photon, which is WebAssembly, because
// a native image library would need a binary for each platform.

/** Makes the thumbnails of one output. */
export type ThumbnailMaker = {
  /**
   * Returns a thumbnail of an image, of about `maxBytes` bytes at most, in a format that browsers show; undefined for
   * bytes that are not a readable image, and if it is late.
   */
  readonly make: (image: Uint8Array, maxBytes: number) => Uint8Array | undefined;
  /** Whether the thumbnails so far have taken so long that no more are made. */
  readonly isLate: boolean;
};

/** Longest side in pixels: for an image that can be enlarged, and for one that is only seen in its row. */
const sides = { large: 128, small: 64 } as const;
/** Bytes that a thumbnail with large sides usually takes. */
const largeBytes = 5 * 1024;
const jpegQuality = 75;
/** An image with more pixels would take more than 0.2 GB of memory. */
const maxPixels = 40_000_000;

/**
 * Creates the maker for one output.
 * @param maxMs time after which no more thumbnails are made, because code of cells waits meanwhile
 */
export function createThumbnailMaker(maxMs: number, now: () => number = () => performance.now()): ThumbnailMaker {
  let spentMs = 0;
  return {
    get isLate() {
      return spentMs > maxMs;
    },
    make(image, maxBytes) {
      const size = imageSize(image);
      if (!size || size.width * size.height > maxPixels || spentMs > maxMs) return undefined;
      const began = now();
      try {
        // An interrupt must not terminate code of the library, which has one memory for all images. Between two images
        // it can.
        return requireLazy(() => shrink(photon(), image, maxBytes >= largeBytes ? sides.large : sides.small));
      } catch {
        // The image is damaged, or has a format that the library does not support.
        return undefined;
      } finally {
        spentMs += now() - began;
      }
    },
  };
}

const photon = (): typeof Photon => createRequire(import.meta.filename)('@silvia-odwyer/photon-node') as typeof Photon;

function shrink({ PhotonImage, resize, SamplingFilter }: typeof Photon, bytes: Uint8Array, side: number): Uint8Array {
  const image = PhotonImage.new_from_byteslice(bytes);
  try {
    const [width, height] = [image.get_width(), image.get_height()];
    const scale = Math.min(1, side / Math.max(width, height));
    const fit = (length: number): number => Math.max(1, Math.round(length * scale));
    const small = resize(image, fit(width), fit(height), SamplingFilter.Triangle);
    try {
      // JPEG is smaller, but has no transparency.
      const made = isOpaque(small.get_raw_pixels()) ? small.get_bytes_jpeg(jpegQuality) : small.get_bytes();
      return made.length < bytes.length ? made : bytes;
    } finally {
      small.free();
    }
  } finally {
    image.free();
  }
}

/** Whether all pixels of red, green, blue and alpha are opaque. */
function isOpaque(pixels: Uint8Array): boolean {
  for (let at = 3; at < pixels.length; at += 4) if (pixels[at] !== 255) return false;
  return true;
}
