import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { inRoot } from '../../../scripts/paths.ts';
import { python } from '../../harness/needs/python.ts';
import { tempFolder } from '../../harness/temp.ts';
import { command } from '../support.ts';
import { installedKernel } from './jupyterHome.ts';
import { relayKernelspec } from './relayedKernel.ts';

suite('The end of cells and kernels under Jupyter', function () {
  this.timeout(240_000);

  test('interrupts keep the state, a crash is reported, and the kernel ends with its parent', async () => {
    // Some of these kernels get a memory limit by NODE_OPTIONS, and with NODE_OPTIONS a kernel uses no snapshot.
    const { env } = await installedKernel({ hasSnapshot: false });
    relayKernelspec(env['JUPYTER_DATA_DIR'] ?? '');
    const script = inRoot('test/kernel/python/ends.py');
    const { code, stdout, stderr } = await command(python(), [script, join(tempFolder(), 'go')], { env, seconds: 220 });
    assert.equal(code, 0, stderr);
    const { report, ...seen } = JSON.parse(stdout) as Record<string, unknown>;
    const stopped = ['ok', 'Interrupted', true];
    assert.deepEqual(seen, {
      interrupted: {
        loop: stopped,
        'after an await': stopped,
        'in a timer': stopped,
        'that catches': stopped,
        'async finally': stopped,
        microtasks: stopped,
        'regular expression': stopped,
        'Atomics.wait': stopped,
      },
      blocked: 'error',
      advice: true,
      late: ['late'],
      died: true,
      'reported again': '',
      orphan: 'ended',
    });
    const reason = /^The previous kernel ended without warning; it used .* so it may have run out of memory\./;
    assert.match(String(report), reason);
    assert.match(String(report), /It was running cell \[2\] \(const all: .*\)\. These variables were lost: rows\./);
    const folder = join(env['XDG_DATA_HOME'] ?? '', 'lance-catalog', 'crash');
    assert.deepEqual(existsSync(folder) ? readdirSync(folder) : [], []);
  });
});
