import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { encodeFrame, frameDecoder, readFrames } from '#shared/protocol/frames.ts';

const messages = [{ a: 1 }, 'ü✓', [], { text: 'x'.repeat(1000) }, null];

suite('frames', () => {
  test('come out whole, however the stream is cut', () => {
    const bytes = Buffer.concat(messages.map(encodeFrame));
    for (const size of [1, 2, 3, 5, 7, 64, 1000, bytes.length]) {
      const out: unknown[] = [];
      const decode = frameDecoder((message) => out.push(message));
      for (let at = 0; at < bytes.length; at += size) decode(bytes.subarray(at, at + size));
      assert.deepEqual(out, messages, `chunks of ${size} bytes`);
    }
  });

  test('of a length over the limit are refused before anything is kept for them', () => {
    const decode = frameDecoder(() => undefined);
    assert.throws(() => decode(Uint8Array.of(0xff, 0xff, 0xff, 0xff)), RangeError);
  });

  test('that hold no JSON are refused', () => {
    const decode = frameDecoder(() => undefined);
    assert.throws(() => decode(Uint8Array.of(1, 0, 0, 0, 0x7b)), SyntaxError);
  });

  test('are read from a stream until something comes that is none', () => {
    const pipe = new PassThrough();
    const read: unknown[] = [];
    readFrames(
      pipe,
      (message) => read.push(message),
      () => read.push('broken'),
    );
    pipe.emit('data', encodeFrame({ a: 1 }));
    pipe.emit('data', Uint8Array.of(0xff, 0xff, 0xff, 0xff));
    assert.deepEqual(read, [{ a: 1 }, 'broken']);
  });

  test('of a large message in small chunks do not take quadratic time', () => {
    const frame = encodeFrame('x'.repeat(8 * 1024 * 1024));
    let received = 0;
    const decode = frameDecoder((message) => (received = (message as string).length));
    const before = process.cpuUsage();
    for (let at = 0; at < frame.length; at += 1024) decode(frame.subarray(at, at + 1024));
    assert.equal(received, 8 * 1024 * 1024);
    // Compare processor time, because elapsed time depends on other processes.
    assert.ok(process.cpuUsage(before).user < 3_000_000);
  });
});
