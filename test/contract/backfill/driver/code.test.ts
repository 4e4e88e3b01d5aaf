import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { inRoot } from '../../../../scripts/paths.ts';
import { mypy } from '../../../harness/needs/mypy.ts';
import { python } from '../../../harness/needs/python.ts';

/** Runs the tests' Python with these arguments. */
async function run(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: unknown; out: string; errors: string }> {
  const child = spawn(python(), args, { cwd: inRoot(), env: { ...process.env, ...env } });
  const closed = once(child, 'close');
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = (await closed) as unknown[];
  return { code, out, errors };
}

suite('the code of the Python driver', function () {
  // The first time, mypy takes ten seconds of processor time for the types of NumPy.
  this.timeout(300_000);

  test('has types without a gap, and so have its tests', async () => {
    const files = ['kernel/jobs/driver', 'test/contract/python/driver'];
    const { code, out, errors } = await run([...mypy.args, ...files], mypy.env);
    assert.equal(code, 0, out + errors);
  });

  test('passes its own tests, which tell how many they are', async function () {
    const { out, errors } = await run([inRoot('test/contract/python/runDriverTests.py')]);
    const { ran, failed } = JSON.parse(out) as { ran: number; failed: readonly string[] };
    assert.deepEqual(failed, [], errors);
    // There are at least this many tests. A smaller number means that some files were not found.
    assert.ok(ran >= 195, `${ran} tests`);
    this.test!.title += `: ${ran}`;
  });
});
