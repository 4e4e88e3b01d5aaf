import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { inRoot } from '../../../scripts/paths.ts';
import { endGroup, trackProcessGroup } from '../../../scripts/processes.ts';
import { ResultsFile } from '../../harness/results.ts';
import { tempFolder } from '../../harness/temp.ts';
import { isRunning } from '../../harness/running.ts';

const passes = (title: string) => `suite('of ${title}', () => test('passes', () => {}));`;

/**
 * Runs test files, given as texts in the order of running, as a layer does. In CI every failing test and file would run
 * twice and be reported twice, so `CI` is unset unless a test sets it.
 */
function runFiles(workers: number, texts: Readonly<Record<string, string>>, ci?: string) {
  const folder = tempFolder();
  const files = Object.entries(texts).map(([name, text]) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  });
  const path = join(folder, 'results.ndjson');
  const args = [inRoot('test/harness/mochaMain.ts'), '--results', path, '--workers', String(workers), ...files];
  const env = { ...process.env, CI: ci };
  const { status } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 20_000, env });
  const said: string[] = [];
  const results = new ResultsFile(path, (line) => said.push(line), false);
  results.read();
  return { status, results, said: said.join('\n'), folder };
}

suite('Several processes that run the files of a layer', function () {
  this.timeout(30_000);

  test('count every test of every file once, and tell the time of each file', () => {
    const names = ['a.mjs', 'b.mjs', 'c.mjs', 'd.mjs'];
    const { status, results, folder } = runFiles(2, Object.fromEntries(names.map((name) => [name, passes(name)])));
    assert.equal(status, 0);
    assert.equal(results.problem(), undefined);
    assert.deepEqual(results.tally(), { passed: 4, failed: 0, skipped: 0 });
    const files = results.files().map(({ file }) => file);
    assert.deepEqual(
      files.toSorted(),
      names.map((name) => join(folder, name)),
    );
  });

  test('hear of an exception outside of tests once, in the file that it is of', () => {
    const late = `suite('of c', () => test('throws late', () => new Promise(() => {
      setTimeout(() => { throw new Error('on purpose'); });
    })));`;
    const { results, said } = runFiles(1, { 'a.mjs': passes('a'), 'b.mjs': passes('b'), 'c.mjs': late });
    assert.deepEqual(results.tally(), { passed: 2, failed: 1, skipped: 0 });
    assert.match(said, /^ {2}FAIL {2}of c throws late\n.*on purpose/);
  });

  test('leave no listener behind, however many files they run', () => {
    const counts = `suite('of listeners', () => test('are as many as for one file', () => {
      if (process.listenerCount('uncaughtException') > 1) throw new Error('others listen');
    }));`;
    const { results } = runFiles(1, { 'a.mjs': passes('a'), 'b.mjs': passes('b'), 'c.mjs': counts });
    assert.deepEqual(results.tally(), { passed: 3, failed: 0, skipped: 0 });
  });

  test('end the processes of their tests when they are ended', async () => {
    const processes = inRoot('scripts/processes.ts');
    const hangs = `import { spawn } from 'node:child_process';
      import { renameSync, writeFileSync } from 'node:fs';
      import { trackProcessGroup } from ${JSON.stringify(processes)};
      suite('of a', () => test('hangs', () => new Promise(() => {
        const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
        trackProcessGroup(child);
        writeFileSync(import.meta.filename + '.part', String(child.pid));
        renameSync(import.meta.filename + '.part', import.meta.filename + '.pid');
      })));`;
    const file = join(tempFolder(), 'a.mjs');
    writeFileSync(file, hangs);
    const args = [inRoot('test/harness/mochaMain.ts'), '--results', `${file}.ndjson`, file];
    const layer = spawn(process.execPath, args, { detached: true, stdio: 'ignore' });
    trackProcessGroup(layer);
    while (!existsSync(`${file}.pid`)) await pause(20);
    const started = Number(readFileSync(`${file}.pid`, 'utf8'));
    process.kill(started, 0);
    await endGroup(layer, 15_000);
    // An ended process stays listed until its new parent has reaped it.
    while (isRunning(started)) await pause(20);
  });

  test('run the files that are left when a test of one fails', () => {
    const fails = `suite('of a', () => test('fails', () => { throw new Error('on purpose'); }));`;
    const { status, results, said } = runFiles(1, { 'a.mjs': fails, 'b.mjs': passes('b') });
    assert.equal(status, 1);
    assert.equal(results.problem(), undefined);
    assert.deepEqual(results.tally(), { passed: 1, failed: 1, skipped: 0 });
    assert.match(said, /FAIL {2}of a fails\n.*on purpose/);
  });

  // Its tests build on each other: the second one can pass only if the first one has run in the same process.
  const failsOnce = `import { existsSync, writeFileSync } from 'node:fs';
    let isReady = false;
    const ran = import.meta.filename + '.ran';
    suite('of once', () => {
      test('prepares', () => { isReady = existsSync(ran); writeFileSync(ran, ''); });
      test('builds on it', () => { if (!isReady) throw new Error('on purpose'); });
    });`;

  test('run a file again in a new process in CI when its tests failed, and count only the second run', () => {
    const { status, results, said } = runFiles(1, { 'a.mjs': failsOnce, 'b.mjs': passes('b') }, '1');
    assert.equal(status, 0);
    assert.equal(results.problem(), undefined);
    assert.deepEqual(results.tally(), { passed: 3, failed: 0, skipped: 0 });
    assert.match(said, /FAIL {2}of once builds on it\n[\s\S]*AGAIN .*a\.mjs as a whole/);
  });

  test('count a file as failed in CI when it fails again', () => {
    const fails = `suite('of a', () => test('fails', () => { throw new Error('on purpose'); }));`;
    const { status, results } = runFiles(1, { 'a.mjs': fails, 'b.mjs': passes('b') }, '1');
    assert.equal(status, 1);
    assert.deepEqual(results.tally(), { passed: 1, failed: 1, skipped: 0 });
  });

  test('repeat no file in CI when many fail', () => {
    const files = ['a.mjs', 'b.mjs', 'c.mjs', 'd.mjs'].map((name) => [name, failsOnce] as const);
    const { status, results, said } = runFiles(2, Object.fromEntries(files), '1');
    assert.equal(status, 1);
    assert.deepEqual(results.tally(), { passed: 4, failed: 4, skipped: 0 });
    assert.doesNotMatch(said, /as a whole/);
  });

  test('name the file whose process died, and leave the others to the next', () => {
    const dies = `suite('of a', () => test('dies', () => process.kill(process.pid, 'SIGKILL')));`;
    const { status, results } = runFiles(2, { 'a.mjs': dies, 'b.mjs': passes('b'), 'c.mjs': passes('c') });
    assert.equal(status, 1);
    assert.match(results.problem() ?? '', /a\.mjs ended in its midst with SIGKILL/);
    assert.equal(results.tally().passed, 2);
  });

  test('name the files that no worker was left to run', () => {
    const dies = `suite('of a', () => test('dies', () => process.exit(0)));`;
    const { status, results } = runFiles(1, { 'a.mjs': dies, 'b.mjs': passes('b') });
    assert.equal(status, 1);
    assert.match(results.problem() ?? '', /a\.mjs ended in its midst with 0; no process was left to run .*b\.mjs/);
  });

  test('name a file that can not be loaded, and run the others', () => {
    const { status, results } = runFiles(1, { 'a.mjs': `import './none.mjs';`, 'b.mjs': passes('b') });
    assert.equal(status, 1);
    assert.match(results.problem() ?? '', /a\.mjs could not be loaded/);
    assert.equal(results.tally().passed, 1);
  });
});
