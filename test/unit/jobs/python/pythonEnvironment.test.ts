import assert from 'node:assert/strict';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { environmentFolder, makePythonEnvironment } from '#jobs/python/pythonEnvironment.ts';
import { isRunning } from '../../../harness/running.ts';
import { tempFolder } from '../../../harness/temp.ts';

/**
 * Stands in for a Python on PATH that can create environments, because the real one downloads packages.
 * @param venv its action when it creates an environment
 */
function pythonStandIn(venv: string): string {
  const folder = tempFolder();
  const path = join(folder, 'python3');
  const versions = JSON.stringify({ executable: 'x', python: '3.12.1', lance: null, problem: null });
  writeFileSync(path, `#!/bin/sh\nif [ "$1" = -c ]; then echo '${versions}'; exit 0; fi\n${venv}\n`);
  chmodSync(path, 0o755);
  return folder;
}

suite('The Python environment of the product', function () {
  this.timeout(30_000);
  const before = { ...process.env };
  teardown(() => {
    process.env['PATH'] = before['PATH'];
    delete process.env['XDG_DATA_HOME'];
    if (before['XDG_DATA_HOME'] !== undefined) process.env['XDG_DATA_HOME'] = before['XDG_DATA_HOME'];
  });
  function use(venv: string): void {
    process.env['XDG_DATA_HOME'] = tempFolder();
    process.env['PATH'] = `${pythonStandIn(venv)}:${before['PATH']}`;
  }

  test('is not created if a step fails, and the last line of that step is shown', async () => {
    use('echo first; echo "no ensurepip" >&2; exit 1');
    const lines: string[] = [];
    await assert.rejects(
      makePythonEnvironment(new AbortController().signal, (line) => lines.push(line)),
      { kind: 'PythonMissing', message: /"python3 -m venv .*" failed: no ensurepip/ },
    );
    assert.deepEqual(lines.slice(1).toSorted(), ['first', 'no ensurepip']);
    assert.equal(existsSync(environmentFolder()), false);
  });

  test('that is canceled leaves neither a process nor a folder', async () => {
    use(`mkdir -p "$3"
(trap "" TERM; while :; do sleep 0.1; touch "$3/more"; done) &
echo "child $!"
wait`);
    const stop = new AbortController();
    let pid = 0;
    const making = makePythonEnvironment(stop.signal, (line) => {
      const found = /^child (\d+)$/.exec(line)?.[1];
      if (found === undefined) return;
      pid = Number(found);
      stop.abort();
    });
    try {
      await assert.rejects(making, { name: 'AbortError' });
      assert.equal(isRunning(pid), false);
      assert.equal(existsSync(environmentFolder()), false);
    } finally {
      if (isRunning(pid)) process.kill(pid, 'SIGKILL');
    }
  });
});
