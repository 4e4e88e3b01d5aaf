import assert from 'node:assert/strict';
import { messageMeter } from '#session/jupyter/messageGate.ts';

const signature = [0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f];
const greeting = Buffer.concat([Buffer.from([...signature, 3, 0]), Buffer.alloc(52)]);
const more = 1;
const command = 4;
const small = (flags: number, bytes: number): Buffer =>
  Buffer.concat([Buffer.from([flags, bytes]), Buffer.alloc(bytes, 0xff)]);

suite('The meter of ZeroMQ messages', () => {
  test('takes messages within the limit, in chunks of any size', () => {
    const sent = Buffer.concat([
      greeting,
      small(command, 30),
      ...Array<Buffer>(50).fill(small(0, 200)),
      small(more, 9),
    ]);
    for (const size of [1, 7, 4096]) {
      const isWithin = messageMeter(300);
      for (let at = 0; at < sent.length; at += size) assert.ok(isWithin(sent.subarray(at, at + size)), `byte ${at}`);
    }
  });

  test('refuses a longer message before it is whole, also if its frames are empty', () => {
    const longer = Buffer.concat([greeting, small(more, 200), small(command, 9), small(more, 200)]);
    assert.equal(messageMeter(300)(longer), false);
    assert.equal(messageMeter(1000)(Buffer.concat([greeting, ...Array<Buffer>(20).fill(small(more, 0))])), false);
    const announced = Buffer.from([2, 0, 0, 0, 1, 0, 0, 0, 0]);
    assert.equal(messageMeter(300)(Buffer.concat([greeting, announced])), false);
  });

  test('takes the greeting of ZMTP 2.0, and refuses that of 1.0', () => {
    const old = Buffer.concat([Buffer.from([...signature, 1, 5]), small(0, 5), small(0, 200)]);
    assert.equal(messageMeter(300)(Buffer.concat([old, small(more, 200)])), true);
    assert.equal(messageMeter(300)(Buffer.concat([old, small(more, 200), small(0, 200)])), false);
    assert.equal(messageMeter(300)(Buffer.from([1, 0, 5])), false);
    assert.equal(messageMeter(300)(Buffer.from([...signature, 0])), false);
  });
});
