import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { CellOutput } from '#session/threads/coreMessages.ts';
import {
  createOutputWindow,
  OutputReceiver,
  OutputSender,
  maxPendingChars,
  maxPendingOutputs,
} from '#session/threads/outputLimit.ts';

const module = new URL('../../../../kernel/session/threads/outputLimit.ts', import.meta.url).href;

const shown = (chars: number): CellOutput => ({
  type: 'display_data',
  content: { data: { 'text/plain': 'x'.repeat(chars) }, metadata: {}, displayId: 'here' },
});

/** Starts a thread that sends outputs without a pause, and counts them. */
function showing(memory: SharedArrayBuffer, times: number, chars: number) {
  const sent = new Int32Array(new SharedArrayBuffer(4));
  const code = `const { workerData: { module, memory, times, output, sent } } = require('node:worker_threads');
import(module).then(({ OutputSender }) => {
  const sender = new OutputSender(memory);
  for (let i = 0; i < times; i++) sender.send(output, () => Atomics.add(sent, 0, 1));
});`;
  const worker = new Worker(code, { eval: true, workerData: { module, memory, times, output: shown(chars), sent } });
  return { count: () => Atomics.load(sent, 0), over: once(worker, 'exit') };
}

async function until(holds: () => boolean): Promise<void> {
  for (const end = Date.now() + 20_000; !holds(); await sleep(10)) assert.ok(Date.now() < end, 'It took too long.');
}

suite('The room for what is shown', function () {
  this.timeout(60_000);

  for (const [what, chars, room] of [
    ['outputs', 10, maxPendingOutputs],
    ['characters', maxPendingChars / 8, 8],
  ] as const)
    test(`accepts a limited number of ${what}, makes the others wait, and finally sends all`, async () => {
      const memory = createOutputWindow();
      const receiver = new OutputReceiver(memory);
      const times = room * 3 + 1;
      const thread = showing(memory, times, chars);
      await until(() => thread.count() === room);
      await sleep(100);
      assert.equal(thread.count(), room);
      let taken = 0;
      while (taken < times) {
        await until(() => thread.count() > taken);
        for (; taken < thread.count(); taken++) receiver.take();
        assert.ok(thread.count() <= taken + room);
        receiver.makeRoom();
      }
      await thread.over;
      assert.equal(thread.count(), times);
    });

  test('takes one that is larger than all of it', () => {
    let times = 0;
    new OutputSender(createOutputWindow()).send(shown(maxPendingChars + 1), () => times++);
    assert.equal(times, 1);
  });

  test('is not used up by outputs that were cut off while they were sent', () => {
    const memory = createOutputWindow();
    const [sender, receiver] = [new OutputSender(memory), new OutputReceiver(memory)];
    for (let i = 0; i < maxPendingOutputs * 2; i++) {
      assert.throws(() =>
        sender.send(shown(10), () => {
          receiver.take();
          throw new Error('cut off');
        }),
      );
      receiver.makeRoom();
    }
    let times = 0;
    for (let i = 0; i < maxPendingOutputs; i++) sender.send(shown(10), () => times++);
    assert.equal(times, maxPendingOutputs);
  });
});
