import assert from 'node:assert/strict';
import { showAsImage, showImage } from '#session/display/images.ts';
import { imageSize } from '#shared/format/images.ts';
import { isCatalogError } from '#shared/errors.ts';

const bytesOf = (base64: string): Uint8Array => new Uint8Array(Buffer.from(base64, 'base64'));
const gif = bytesOf('R0lGODlhAwAFAIAAAP///wAAACH5BAEAAAAALAAAAAADAAUAAAIEhI+pWwA7');
const png = (width: number, height: number): Uint8Array => {
  const bytes = Buffer.alloc(33);
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]);
  bytes.write('IHDR', 12);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
};
/** A first segment, then the segment with the size 300 × 200. */
const jpeg = Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc2, 0, 17, 8, 0, 200, 1, 44, 3, 1, 1, 1, 1);
const webp = (kind: string, body: readonly number[]): Uint8Array =>
  Uint8Array.from([...Buffer.from(`RIFF0000WEBP${kind}0000`), ...body, ...Array<number>(12).fill(0)]);

suite('A picture in an output', () => {
  for (const [name, bytes, size] of [
    ['PNG', png(640, 480), { width: 640, height: 480 }],
    ['GIF', gif, { width: 3, height: 5 }],
    ['JPEG', jpeg, { width: 300, height: 200 }],
    ['WebP with a header', webp('VP8X', [0, 0, 0, 0, 99, 0, 0, 49, 0, 0]), { width: 100, height: 50 }],
    ['WebP', webp('VP8 ', [0, 0, 0, 0x9d, 1, 0x2a, 100, 0, 50, 0]), { width: 100, height: 50 }],
    ['WebP without loss', webp('VP8L', [0x2f, 99, 0x40, 12, 0]), { width: 100, height: 50 }],
  ] as const) {
    test(`of the format ${name} is told by its first bytes, with its size`, async () => {
      assert.deepEqual(imageSize(bytes), size);
      const shown = await showImage(bytes);
      const [mime = ''] = Object.keys(shown?.data ?? {});
      assert.equal(Buffer.from(String(shown?.data[mime]), 'base64').compare(bytes), 0);
      assert.match(String(shown?.data['text/plain']), new RegExp(`image, ${size.width} × ${size.height}, `));
    });
  }

  test('that ends too early has no size, and is shown all the same', async () => {
    const cut = png(1, 1).subarray(0, 12);
    assert.equal(imageSize(cut), undefined);
    assert.equal((await showImage(cut))?.data['text/plain'], 'PNG image, 12 bytes');
  });

  test('whose header is damaged has no size', async () => {
    const damaged = Uint8Array.from(png(640, 480), (byte, at) => (at >= 8 ? 0xf4 : byte));
    assert.equal(imageSize(damaged), undefined);
    assert.doesNotMatch(String((await showImage(damaged))?.data['text/plain']), /×/);
  });

  test('may be SVG, behind a declaration and a comment', async () => {
    const svg = '<?xml version="1.0"?>\n<!-- made by hand -->\n<svg xmlns="http://www.w3.org/2000/svg"/>';
    assert.equal((await showImage(Buffer.from(svg)))?.data['image/svg+xml'], svg);
    assert.equal((await showAsImage(svg)).data['image/svg+xml'], svg);
  });

  test('may be a Blob', async () => {
    const shown = await showImage(new Blob([gif as Uint8Array<ArrayBuffer>], { type: 'image/gif' }));
    assert.equal(shown?.data['image/gif'], Buffer.from(gif).toString('base64'));
    assert.equal(showImage(new Blob(['text'], { type: 'text/plain' })), undefined);
  });

  test('may be a canvas, by its bytes or by its data URL', async () => {
    const url = `data:image/gif;base64,${Buffer.from(gif).toString('base64')}`;
    for (const canvas of [
      { toDataURL: () => url },
      { toDataURL: async () => url },
      { toDataURL: () => url, toBuffer: () => Buffer.from(gif) },
    ])
      assert.equal((await showImage(canvas))?.data['image/gif'], Buffer.from(gif).toString('base64'));
  });

  test('too large for a notebook is a line that says so', async () => {
    const large = new Uint8Array(9 * 1024 * 1024);
    large.set(png(1, 1));
    assert.deepEqual(await showImage(large), {
      data: {
        'text/plain': 'PNG image of 9.4 MB, too large for a notebook. Show a smaller image, or write it to a file.',
      },
      metadata: {},
    });
  });

  test('is not what other bytes are', async () => {
    assert.equal(showImage(Uint8Array.of(1, 2, 3)), undefined);
    await assert.rejects(showAsImage('text'), (error) => isCatalogError(error, 'InvalidInput'));
    await assert.rejects(showAsImage(7), /Expected an image for display\.image\. Pass the bytes/);
  });
});
