import assert from 'node:assert/strict';
import { isJobId, newJobId } from '#shared/jobs/jobId.ts';

const random = (byte: number): Uint8Array => new Uint8Array(8).fill(byte);

suite('Names of jobs', () => {
  test('sort by the time at which they were made', () => {
    const times = [0, 1, 31, 32, 1_700_000_000_000, 1_700_000_000_001, 9_999_999_999_999];
    const ids = times.map((time, index) => newJobId(time, random(255 - index)));
    assert.deepEqual(ids.toSorted(), ids);
  });

  test('are file names, parts of names in Kubernetes, and recognised', () => {
    const id = newJobId(Date.now(), random(200));
    assert.match(id, /^bf-[0-9a-z]{18}$/);
    assert.ok(isJobId(id));
  });

  test('are never taken for a path', () => {
    for (const text of [
      '',
      'bf-',
      '..',
      'bf-../../../../etc/x',
      `bf-${'0'.repeat(17)}`,
      `bf-${'0'.repeat(18)}\n`,
      'bf-ABCDEFGHJKMNPQRSTV',
    ])
      assert.ok(!isJobId(text), text);
  });
});
