import { createRequire } from 'node:module';
import type * as Photon from '@silvia-odwyer/photon-node';
import type { Table } from '#arrow';
import { binaries, int32, int64, tableOf, texts, timestamp, vectors } from './columns.ts';
import { encodePng } from './pictures.ts';
import { bell, below, between, pick, type Random, seeded } from './random.ts';

const photoCount = 40;
const embeddingWidth = 512;
/** Each fourth photo is a PNG, the others are JPEG. */
const pngEvery = 4;
const jpegQuality = 88;

const lights = [
  { name: 'morning', top: [122, 170, 214], bottom: [250, 221, 178], sun: [255, 241, 200] },
  { name: 'afternoon', top: [52, 120, 200], bottom: [176, 214, 240], sun: [255, 255, 240] },
  { name: 'evening', top: [64, 48, 110], bottom: [244, 142, 88], sun: [255, 196, 110] },
  { name: 'night', top: [8, 12, 34], bottom: [40, 52, 92], sun: [226, 230, 244] },
] as const;
const grounds = [
  { title: 'Forest', color: [34, 82, 52] },
  { title: 'Meadows', color: [112, 148, 62] },
  { title: 'Desert', color: [196, 148, 86] },
  { title: 'Snow', color: [206, 216, 228] },
  { title: 'Rocks', color: [96, 92, 98] },
] as const;
const firstDay = BigInt(Date.UTC(2025, 2, 1)) * 1000n;

type Color = readonly [number, number, number] | readonly number[];
type Scene = {
  light: (typeof lights)[number];
  ground: (typeof grounds)[number];
  sun: [number, number];
  hills: number[];
};

/** Creates a table of landscapes with captions and embeddings: JPEG and PNG images of 50 to 300 KB. */
export function makePhotos(): Table {
  const random = seeded(1839);
  const rows = Array.from({ length: photoCount }, (_, row) => makePhoto(random, row));
  const embeddings = new Float32Array(photoCount * embeddingWidth);
  for (const [row, { embedding }] of rows.entries()) embeddings.set(embedding, row * embeddingWidth);
  return tableOf({
    id: int64(BigInt64Array.from(rows, (_, row) => BigInt(row + 1))),
    image: binaries(
      rows.map(({ image }) => image),
      {},
    ),
    caption: texts(rows.map(({ caption }) => caption)),
    embedding: vectors(embeddings, embeddingWidth),
    width: int32(Int32Array.from(rows, ({ width }) => width)),
    height: int32(Int32Array.from(rows, ({ height }) => height)),
    taken: timestamp(
      BigInt64Array.from(rows, (_, row) => firstDay + BigInt(row) * 86_400_000_000n + BigInt(row * 7_919_000_000)),
    ),
  });
}

function makePhoto(random: Random, row: number) {
  const isPng = row % pngEvery === pngEvery - 1;
  const [width, height] = isPng ? [256, 192] : row % 3 === 0 ? [480, 640] : [640, 480];
  const scene: Scene = {
    light: pick(random, lights),
    ground: pick(random, grounds),
    sun: [between(random, 0.15, 0.85), between(random, 0.12, 0.45)],
    hills: Array.from({ length: 3 + below(random, 3) }, () => between(random, 0, 2 * Math.PI)),
  };
  const rgba = drawScene(scene, width, height, row);
  const side = scene.sun[0] < 0.4 ? 'on the left' : scene.sun[0] > 0.6 ? 'on the right' : 'in the middle';
  return {
    width,
    height,
    image: isPng ? encodePng({ width, height, rgba }) : encodeJpeg(rgba, width, height),
    caption: `${scene.ground.title} in the ${scene.light.name} with ${scene.hills.length} ridges, the ${scene.light.name === 'night' ? 'moon' : 'sun'} ${side}.`,
    embedding: embed(random, scene),
  };
}

/** Returns an embedding in which photos of the same light and ground are near. */
function embed(random: Random, { light, ground }: Scene): Float32Array {
  const direction = seeded(lights.indexOf(light) * grounds.length + grounds.indexOf(ground) + 1);
  const values = Array.from({ length: embeddingWidth }, () => bell(direction) + 0.35 * bell(random));
  const length = Math.hypot(...values);
  return Float32Array.from(values, (value) => value / length);
}

function drawScene({ light, ground, sun, hills }: Scene, width: number, height: number, seed: number): Uint8Array {
  const rgba = new Uint8Array(width * height * 4).fill(255);
  // Grain as in a photo. Without it, an image would take a few kilobytes only.
  let grain = seed + 1;
  const [sunX, sunY, radius] = [sun[0] * width, sun[1] * height, width / 16];
  const ridges = hills.map((phase, index) =>
    Float64Array.from({ length: width }, (_, x) => ridge(x / width, phase, index, hills.length) * height),
  );
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at += 4) {
      let front = -1;
      for (let index = 0; index < ridges.length; index++) if (y >= ridges[index]![x]!) front = index;
      const sky = y / height;
      const glow = Math.max(0, 1 - Math.hypot(x - sunX, y - sunY) / (radius * 5)) ** 2;
      const isSun = Math.hypot(x - sunX, y - sunY) < radius;
      // Ridges that are farther away are paler.
      const near = front < 0 ? 0 : 0.35 + (0.65 * (front + 1)) / ridges.length;
      for (let channel = 0; channel < 3; channel++) {
        const air = mix(light.top, light.bottom, sky, channel);
        const base =
          front < 0 ? (isSun ? light.sun[channel]! : air + glow * 60) : shade(air, ground.color, near, channel);
        grain = (Math.imul(grain, 1_664_525) + 1_013_904_223) >>> 0;
        rgba[at + channel] = Math.max(0, Math.min(255, base + ((grain >>> 24) - 128) / 9));
      }
    }
  }
  return rgba;
}

const ridge = (x: number, phase: number, index: number, count: number): number =>
  0.45 + (0.5 * (index + 0.5)) / count + 0.05 * Math.sin(5 * x + phase) + 0.02 * Math.sin(17 * x + 3 * phase);

const mix = (from: Color, to: Color, share: number, channel: number): number =>
  from[channel]! + (to[channel]! - from[channel]!) * share;

const shade = (air: number, color: Color, near: number, channel: number): number =>
  air * (1 - near) * 0.8 + color[channel]! * near;

const photon = createRequire(import.meta.filename)('@silvia-odwyer/photon-node') as typeof Photon;

function encodeJpeg(rgba: Uint8Array, width: number, height: number): Uint8Array {
  const image = new photon.PhotonImage(rgba, width, height);
  try {
    return image.get_bytes_jpeg(jpegQuality);
  } finally {
    image.free();
  }
}
