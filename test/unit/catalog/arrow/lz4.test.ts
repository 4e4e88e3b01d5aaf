import assert from 'node:assert/strict';
import { decodeLz4Frames } from '#catalog/arrow/lz4.ts';

// Frames written by hand from the description of the format. The contract tests use frames of real writers.

const magic = [0x04, 0x22, 0x4d, 0x18];
/** Version 1, independent blocks of up to 64 KB, no checksums. */
const header = [...magic, 0x60, 0x40, 0x82];
const size = (bytes: number): number[] => [bytes & 255, (bytes >> 8) & 255, (bytes >> 16) & 255, (bytes >> 24) & 255];
const frame = (...blocks: number[][]): Uint8Array =>
  Uint8Array.from([...header, ...blocks.flatMap((block) => [...size(block.length), ...block]), 0, 0, 0, 0]);
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
const codes = (letters: string): number[] => [...Buffer.from(letters, 'latin1')];

suite('LZ4 frames', () => {
  test('of literals and of copies that overlap themselves', () => {
    // 3 literals, then 9 bytes from 3 back; the last sequence has 5 literals only.
    const block = [0x35, ...codes('abc'), 3, 0, 0x50, ...codes('12345')];
    assert.equal(text(decodeLz4Frames(frame(block))), 'abcabcabcabc12345');
  });

  test('with lengths beyond one byte', () => {
    const long = 'x'.repeat(15 + 255 + 3);
    const block = [0xf0, 255, 3, ...codes(long)];
    assert.equal(text(decodeLz4Frames(frame(block))), long);
  });

  test('with a block that is not compressed, one after another, and a frame to skip between', () => {
    const plain = Uint8Array.from([...header, ...size(3 | 0x80000000), ...codes('raw'), 0, 0, 0, 0]);
    const skipped = Uint8Array.from([0x5a, 0x2a, 0x4d, 0x18, ...size(4), 1, 2, 3, 4]);
    const all = Buffer.concat([plain, skipped, frame([0x20, ...codes('hi')])]);
    assert.equal(text(decodeLz4Frames(all)), 'rawhi');
  });

  test('with linked blocks look back into the block before, and with independent ones may not', () => {
    const blocks = [
      [0x50, ...codes('hello')],
      [0x01, 5, 0, 0x10, ...codes('!')],
    ];
    const linked = frame(...blocks);
    linked[4] = 0x40;
    assert.equal(text(decodeLz4Frames(linked)), 'hellohello!');
    assert.throws(() => decodeLz4Frames(frame(...blocks)), RangeError);
  });

  test('that are cut short, wrong or too large are refused', () => {
    const whole = frame([0x35, ...codes('abc'), 3, 0, 0x50, ...codes('12345')]);
    for (let length = 1; length < whole.length; length++) {
      assert.throws(() => decodeLz4Frames(whole.subarray(0, length)), RangeError, `cut at ${length}`);
    }
    assert.throws(() => decodeLz4Frames(Uint8Array.from(codes('no frame at all'))), RangeError);
    assert.throws(() => decodeLz4Frames(frame([0x30, ...codes('abc')].concat(0x10, 9, 0))), RangeError);
    // A block that expands to 200,000 bytes, although the frame declares blocks of at most 64 KB.
    const bomb = [0x1f, 97, 1, 0, ...Array.from({ length: 800 }, () => 255), 0, 0x10, 98];
    assert.throws(() => decodeLz4Frames(frame(bomb)), RangeError);
    const block = [0x1f, 97, 1, 0, ...Array.from({ length: 200 }, () => 255), 0, 0x10, 98];
    assert.throws(() => decodeLz4Frames(frame(block, block, block), 60_000), /60000/);
  });

  test('never hold more than the limit, not even by a part of one block', () => {
    const tooLarge = { code: 'ERR_BUFFER_TOO_LARGE', message: /1000 bytes/ };
    const plain = Uint8Array.from([
      ...header,
      ...size(1001 | 0x80000000),
      ...Array.from({ length: 1001 }, () => 7),
      ...size(0),
    ]);
    assert.throws(() => decodeLz4Frames(plain, 1000), tooLarge);
    assert.equal(decodeLz4Frames(plain, 1001).length, 1001);
    // 1 literal, 4 + 15 + 255 × 3 + 220 copies of it, and 1 literal: 1,006 bytes.
    const copies = frame([0x1f, 7, 1, 0, 255, 255, 255, 220, 0x10, 7]);
    assert.equal(decodeLz4Frames(copies, 1006).length, 1006);
    assert.throws(() => decodeLz4Frames(copies, 1000), tooLarge);
    assert.throws(() => decodeLz4Frames(copies, 0), { code: 'ERR_BUFFER_TOO_LARGE' });
  });
});
