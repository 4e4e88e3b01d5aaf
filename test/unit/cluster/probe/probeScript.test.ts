import assert from 'node:assert/strict';
import { readProbeLog } from '#cluster/probe/probeScript.ts';

suite('The lines of a probe', () => {
  test('say who it is and what became of its object', () => {
    const text = 'probe identity a@b.c\nprobe written 200\nprobe removed 204\n';
    assert.deepEqual(readProbeLog(text), { identity: 'a@b.c', written: '200', removed: '204' });
  });

  test('are found among what curl complains of', () => {
    const text = 'curl: (22) The requested URL returned error: 404\nprobe identity none\n';
    assert.deepEqual(readProbeLog(text), { identity: undefined, written: undefined, removed: undefined });
  });
});
