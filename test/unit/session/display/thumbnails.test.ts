import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { PictureStore } from '#session/display/pictureStore.ts';
import { createThumbnailMaker } from '#session/display/thumbnails.ts';
import { imageMime, imageSize } from '#shared/format/images.ts';
import { encodePng } from '../../../../scripts/sample/pictures.ts';

function pngOf(width: number, height: number, alpha: number): Uint8Array {
  const rgba = randomBytes(width * height * 4);
  for (let at = 3; at < rgba.length; at += 4) rgba[at] = alpha;
  return encodePng({ width, height, rgba });
}

const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw==', 'base64');
const webp = Buffer.from('UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA', 'base64');
const much = 100_000;

suite('A thumbnail', () => {
  test('has the shape of its picture, and more pixels if more bytes are left', () => {
    const picture = pngOf(300, 150, 255);
    const { make } = createThumbnailMaker(Infinity);
    for (const [maxBytes, width, height] of [
      [much, 128, 64],
      [1000, 64, 32],
    ] as const) {
      const thumbnail = make(picture, maxBytes);
      assert.equal(thumbnail && imageMime(thumbnail), 'image/jpeg');
      assert.deepEqual(thumbnail && imageSize(thumbnail), { width, height });
    }
  });

  test('keeps the transparency of its picture', () => {
    const thumbnail = createThumbnailMaker(Infinity).make(pngOf(300, 300, 100), much);
    assert.equal(thumbnail && imageMime(thumbnail), 'image/png');
    assert.deepEqual(thumbnail && imageSize(thumbnail), { width: 128, height: 128 });
  });

  test('is the picture itself if that is smaller', () => {
    const { make } = createThumbnailMaker(Infinity);
    for (const picture of [gif, webp, encodePng({ width: 1, height: 1, rgba: Buffer.alloc(4) })])
      assert.equal(make(picture, much), picture);
  });

  test('is not made of a damaged picture, nor of one with too many pixels, and later ones are made', () => {
    const { make } = createThumbnailMaker(Infinity);
    const whole = pngOf(100, 100, 255);
    const huge = Buffer.from(whole);
    huge.writeUInt32BE(100_000, 16);
    huge.writeUInt32BE(100_000, 20);
    assert.equal(make(whole.subarray(0, 2000), much), undefined);
    assert.equal(make(huge, much), undefined);
    assert.equal(make(Buffer.from('text'), much), undefined);
    assert.ok(make(whole, much));
  });

  test('is not made after thumbnails of one output have taken too long', () => {
    let now = 0;
    const maker = createThumbnailMaker(3000, () => (now += 2000));
    const picture = pngOf(100, 100, 255);
    const made = [1, 2, 3].map(() => [maker.make(picture, much) !== undefined, maker.isLate]);
    assert.deepEqual(made, [
      [true, false],
      [true, true],
      [false, true],
    ]);
  });
});

suite('The whole pictures of outputs', () => {
  test('are found by output, column and row, until later ones need the memory', () => {
    const store = new PictureStore();
    const large = new Uint8Array(200 * 1024 * 1024);
    const first = store.keep([
      { name: 'photo', images: [[2, gif]] },
      { name: 'scan', images: [[0, large]] },
    ]);
    const find = (output: string, column = 'photo', row = 2): Uint8Array | undefined =>
      store.find({ output, column, row });
    assert.deepEqual([find(first), find(first, 'scan', 0)?.length], [new Uint8Array(gif), large.length]);
    assert.deepEqual([find(first, 'photo', 1), find(first, 'other'), find('other')], [undefined, undefined, undefined]);
    const second = store.keep([{ name: 'photo', images: [[2, large]] }]);
    assert.deepEqual([find(first), find(second)?.length], [undefined, large.length]);
  });
});
