import { crc32, deflateSync } from 'node:zlib';
import type { Kind } from './kinds.ts';

/** An image in 8-bit RGBA, row by row from the top. */
type Pixels = { width: number; height: number; rgba: Uint8Array };

const signature = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

/** Encodes an image as a PNG file (truecolor with alpha, no filter, no interlace). */
export function encodePng({ width, height, rgba }: Pixels): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 6, 0, 0, 0], 8);
  const stride = width * 4;
  const lines = Buffer.alloc((stride + 1) * height);
  for (let y = 0; y < height; y++) {
    // Each line starts with its filter number, 0 for none.
    lines.set(rgba.subarray(y * stride, (y + 1) * stride), y * (stride + 1) + 1);
  }
  const body = deflateSync(lines, { level: 9 });
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', body), chunk('IEND', Buffer.alloc(0))]);
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const content = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(content.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(content, 4);
  framed.writeUInt32BE(crc32(content), content.length + 4);
  return framed;
}

// Icons are made of shapes. A shape is a function that returns the distance of a point from the edge of the shape, in
// pixels of a 32 × 32 image. The distance is negative outside of the shape.

type Shape = (x: number, y: number) => number;

const size = 32;

const disc =
  (cx: number, cy: number, radius: number): Shape =>
  (x, y) =>
    radius - Math.hypot(x - cx, y - cy);

const box =
  (left: number, top: number, right: number, bottom: number, round = 1): Shape =>
  (x, y) => {
    const dx = Math.abs(x - (left + right) / 2) - (right - left) / 2 + round;
    const dy = Math.abs(y - (top + bottom) / 2) - (bottom - top) / 2 + round;
    return round - Math.hypot(Math.max(dx, 0), Math.max(dy, 0)) - Math.min(Math.max(dx, dy), 0);
  };

const ring =
  (cx: number, cy: number, radius: number, width: number): Shape =>
  (x, y) =>
    width / 2 - Math.abs(Math.hypot(x - cx, y - cy) - radius);

/** A four-sided shape with level top and bottom edges. */
const taper =
  (top: number, topHalf: number, bottom: number, bottomHalf: number, cx = 16): Shape =>
  (x, y) => {
    const along = (y - top) / (bottom - top);
    const half = topHalf + (bottomHalf - topHalf) * along;
    return Math.min(half - Math.abs(x - cx), y - top, bottom - y);
  };

const union =
  (...shapes: Shape[]): Shape =>
  (x, y) =>
    Math.max(...shapes.map((shape) => shape(x, y)));
const without =
  (shape: Shape, hole: Shape): Shape =>
  (x, y) =>
    Math.min(shape(x, y), -hole(x, y));

const icons: Record<Kind, Shape> = {
  mug: union(box(8, 10, 20, 25, 2), ring(21, 17, 4, 2)),
  lamp: union(taper(6, 4, 16, 9), box(15, 16, 17, 24, 0.5), box(10, 24, 22, 27)),
  chair: union(box(10, 5, 13, 27), box(10, 16, 23, 19), box(20, 16, 23, 27)),
  plant: union(taper(19, 6, 27, 4), disc(11, 13, 4.5), disc(20, 11, 5), disc(16, 8, 4), box(15, 12, 17, 20, 0.5)),
  book: without(box(8, 6, 24, 26, 2), box(11, 8, 12, 24, 0.3)),
  bag: union(taper(13, 7, 27, 9), without(ring(16, 12, 5, 2), box(0, 13, 32, 32))),
  clock: union(ring(16, 16, 10, 3), box(15, 10, 17, 17, 0.5), box(15, 15, 21, 17, 0.5)),
  bottle: union(box(13.5, 5, 18.5, 12), box(10.5, 11, 21.5, 27, 3)),
  cushion: without(box(7, 8, 25, 24, 5), disc(16, 16, 1.6)),
  kettle: union(
    taper(12, 6, 26, 9),
    box(22, 14, 28, 16.5),
    without(ring(16, 12, 6, 2), box(0, 12, 32, 32)),
    disc(16, 10, 1.5),
  ),
};

/** Draws the icon of a product kind on a soft background; `hue` in degrees. */
export function productPicture(kind: Kind, hue: number): Uint8Array {
  const rgba = new Uint8Array(size * size * 4);
  const shape = icons[kind];
  const tile = box(0.5, 0.5, 31.5, 31.5, 6);
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const [px, py] = [x + 0.5, y + 0.5];
      const back = hsl(hue, 0.55, 0.9 - 0.22 * (y / size));
      const front = hsl(hue + 15, 0.6, 0.42 - 0.14 * (y / size));
      const inside = coverage(shape(px, py));
      const at = (y * size + x) * 4;
      for (let channel = 0; channel < 3; channel++) {
        rgba[at + channel] = Math.round(255 * (back[channel]! * (1 - inside) + front[channel]! * inside));
      }
      rgba[at + 3] = Math.round(255 * coverage(tile(px, py)));
    }
  }
  return encodePng({ width: size, height: size, rgba });
}

/** Returns how much of a pixel a shape covers. The edge is one pixel wide, for anti-aliasing. */
const coverage = (depth: number): number => Math.min(1, Math.max(0, depth + 0.5));

/** Returns red, green and blue from 0 to 1. */
function hsl(hue: number, saturation: number, lightness: number): [number, number, number] {
  const channel = (shift: number): number => {
    const k = (shift + (((hue % 360) + 360) % 360) / 30) % 12;
    return lightness - saturation * Math.min(lightness, 1 - lightness) * Math.max(-1, Math.min(k - 3, 9 - k, 1));
  };
  return [channel(0), channel(8), channel(4)];
}
