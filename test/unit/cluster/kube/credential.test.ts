import assert from 'node:assert/strict';
import { renewing, type KubeCredential } from '#cluster/kube/credential.ts';

const { signal } = new AbortController();

suite('A credential that is renewed', () => {
  test('is read again once after a refusal, and its refused successor is kept', async () => {
    let reads = 0;
    let time = 0;
    const source = renewing(
      () => Promise.resolve({ token: `token ${++reads}` }),
      () => time,
    );
    const first = await source(signal);
    const second = await source(signal, first);
    assert.deepEqual([first.token, second.token], ['token 1', 'token 2']);
    assert.equal(await source(signal, first), second);
    assert.equal(await source(signal, second), second);
    time = 120_000;
    assert.equal((await source(signal, second)).token, 'token 3');
  });

  test('is read for all who wait, and no longer when the last of them leaves', async () => {
    const signals: AbortSignal[] = [];
    let finish: ((credential: KubeCredential) => void) | undefined;
    const source = renewing((own) => {
      signals.push(own);
      return new Promise((resolve, reject) => {
        finish = resolve;
        own.addEventListener('abort', () => reject(new Error('The read was canceled.')));
      });
    });
    const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()];
    const left = source(first.signal);
    const stays = source(second.signal);
    first.abort();
    await assert.rejects(left, { kind: 'Aborted' });
    assert.equal(signals[0]?.aborted, false);
    finish?.({ token: 'a', expiresAt: new Date(0) });
    assert.equal((await stays).token, 'a');
    const alone = source(third.signal);
    third.abort();
    await assert.rejects(alone, /The read was canceled/);
    assert.deepEqual([signals.length, signals[1]?.aborted], [2, true]);
  });
});
