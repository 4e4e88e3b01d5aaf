import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { decodeRelayed, readRelayed, type RelayMessage, sendRelayed } from '#session/jupyter/relay/relayMessages.ts';
import { tempFolder } from '../../../../harness/temp.ts';

/** Both ends of a connection. */
async function pair(): Promise<[Socket, Socket]> {
  const path = join(tempFolder(), 's');
  const server = createServer().listen(path);
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = connect(path);
  const [other] = await accepted;
  server.close();
  return [client, other];
}

suite('The messages between a kernel and its relay', () => {
  test('come as they were sent, one after the other', async () => {
    const [from, to] = await pair();
    const came: RelayMessage[] = [];
    readRelayed(to, (message) => came.push(message));
    const large = Buffer.alloc(3_000_000, 'x');
    sendRelayed(from, 'hello', ['ü', ''], 1);
    sendRelayed(from, 'publish', [Buffer.from([0, 255]), large, 'end']);
    sendRelayed(from, 'close');
    from.end();
    await once(to, 'close');
    assert.deepEqual(
      came.map(({ kind, number }) => [kind, number]),
      [
        ['hello', 1],
        ['publish', 0],
        ['close', 0],
      ],
    );
    assert.deepEqual(came[0]?.frames.map(String), ['ü', '']);
    assert.deepEqual([...(came[1]?.frames[0] ?? [])], [0, 255]);
    assert.ok(came[1]?.frames[1]?.equals(large));
    assert.equal(String(came[1]?.frames[2]), 'end');
    assert.deepEqual(came[2]?.frames, []);
  });

  test('may be longer than one of an editor: a widget gives several frames, each as large as ZeroMQ takes', async () => {
    const [from, to] = await pair();
    const came: RelayMessage[] = [];
    readRelayed(to, (message) => came.push(message));
    const large = Buffer.alloc(100 << 20, 'x');
    assert.ok(sendRelayed(from, 'shell', [large, large, large]));
    from.end();
    await once(to, 'close');
    assert.deepEqual(
      came.map(({ frames }) => frames.map(({ length }) => length)),
      [[large.length, large.length, large.length]],
    );
    from.destroy();
    assert.equal(sendRelayed(from, 'close'), false);
  });

  test('end the connection when they are none', async () => {
    for (const bytes of [
      // The message has an unknown type.
      [9, 0, 0, 0, 99, 0, 0, 0, 0, 0, 0, 0, 0],
      // The declared length is shorter than any message.
      [2, 0, 0, 0, 0, 0],
      // The first message declares more frames than it contains. The second declares a frame that is longer than the
      // message.
      [9, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255],
      [13, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0],
      // The declared length is above the limit.
      [255, 255, 255, 255],
    ]) {
      const [from, to] = await pair();
      let came = 0;
      readRelayed(to, () => came++);
      from.on('error', () => {});
      from.write(Buffer.from(bytes));
      await once(from, 'close');
      assert.deepEqual([came, to.destroyed], [0, true], String(bytes));
    }
  });

  test('are checked before anything in them is used', () => {
    assert.throws(() => decodeRelayed(Buffer.alloc(3)), RangeError);
    assert.throws(() => decodeRelayed(Buffer.from([200, 0, 0, 0, 0, 0, 0, 0, 0])), /not a relay message/);
  });
});
