import assert from 'node:assert/strict';
import { type FileHost, saveThrough } from '../../../../webviews/grid/saveFile.ts';

const parts = () => [Uint8Array.of(1, 2), Uint8Array.of(3)];

function recorded(change: Partial<FileHost> = {}): { host: FileHost; calls: string[] } {
  const calls: string[] = [];
  const host: FileHost = {
    create: (name) => (calls.push(`create ${name}`), Promise.resolve({ id: 7, name: 'chosen.bin' })),
    write: (id, bytes) => (calls.push(`write ${id} ${bytes.join()}`), Promise.resolve(null)),
    close: (id, isComplete) => (calls.push(`close ${id} ${isComplete}`), Promise.resolve(null)),
    ...change,
  };
  return { host, calls };
}

suite('A saved file', () => {
  test('is sent in parts, and its name is the one that the user chose', async () => {
    const { host, calls } = recorded();
    const progress: number[] = [];
    const save = saveThrough(host);
    const { signal } = new AbortController();
    const saved = await save({ name: 'a.bin', parts }, { signal, onProgress: (bytes) => progress.push(bytes) });
    assert.equal(saved, 'chosen.bin');
    assert.deepEqual(calls, ['create a.bin', 'write 7 1,2', 'write 7 3', 'close 7 true']);
    assert.deepEqual(progress, [2, 3]);
  });

  test('is not written if the user chooses no place', async () => {
    const { host, calls } = recorded({ create: () => Promise.resolve(null) });
    const { signal } = new AbortController();
    assert.equal(await saveThrough(host)({ name: 'a', parts }, { signal, onProgress: () => {} }), undefined);
    assert.deepEqual(calls, []);
  });

  test('is given up after a cancellation or a failure', async () => {
    const controller = new AbortController();
    const canceled = recorded();
    const saving = saveThrough(canceled.host)(
      { name: 'a', parts },
      { signal: controller.signal, onProgress: () => controller.abort() },
    );
    await assert.rejects(saving, { name: 'AbortError' });
    assert.deepEqual(canceled.calls, ['create a', 'write 7 1,2', 'close 7 false']);
    const failed = recorded({ write: () => Promise.reject(new Error('The disk is full.')) });
    const { signal } = new AbortController();
    const failing = saveThrough(failed.host)({ name: 'a', parts }, { signal, onProgress: () => {} });
    await assert.rejects(failing, { message: 'The disk is full.' });
    assert.deepEqual(failed.calls, ['create a', 'close 7 false']);
  });
});
