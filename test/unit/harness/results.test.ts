import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestEvent } from '../../harness/reporter.ts';
import { ResultsFile } from '../../harness/results.ts';
import { tempFolder } from '../../harness/temp.ts';

const begin: TestEvent = { event: 'begin', node: 'v24.0.0', pid: 1 };
const pass: TestEvent = { event: 'pass', title: 'a', ms: 1 };

const testOf = (worker: number, title: string): TestEvent => ({ event: 'test', title, worker });
const suiteOf = (file: string, ms: number, cpu: number): TestEvent => ({ event: 'suite', file, ms, cpu });

/** Returns a results file with these events, read after the end of the process. */
function read(...events: TestEvent[]): ResultsFile {
  const file = join(tempFolder(), 'results.ndjson');
  writeFileSync(file, events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  const results = new ResultsFile(file, () => {});
  results.read();
  return results;
}

suite('A results file', () => {
  let ci: string | undefined;
  setup(() => (ci = process.env['CI']));
  teardown(() => {
    if (ci === undefined) delete process.env['CI'];
    else process.env['CI'] = ci;
  });

  test('with passed tests and an end is trusted', () => {
    assert.equal(read(begin, pass, { event: 'end', failures: 0 }).problem(), undefined);
  });

  test('without an end is not trusted, and the test that ran is named', () => {
    assert.match(read(begin, pass, { event: 'test', title: 'b hangs' }).problem() ?? '', /no end.*"b hangs"/);
  });

  test('names the tests of all processes that ran at its end', () => {
    const results = read(begin, testOf(1, 'a'), testOf(2, 'b hangs'), { ...pass, worker: 1 }, testOf(1, 'c hangs too'));
    assert.match(results.problem() ?? '', /"c hangs too" and "b hangs"/);
  });

  test('adds up the time of the suites of a file', () => {
    assert.deepEqual(read(begin, suiteOf('a', 2, 1), suiteOf('b', 5, 4), suiteOf('a', 1, 1)).files(), [
      { file: 'a', ms: 3, cpu: 2 },
      { file: 'b', ms: 5, cpu: 4 },
    ]);
  });

  test('in which no test ran is not trusted', () => {
    assert.match(read(begin, { event: 'end', failures: 0 }).problem() ?? '', /no test ran/);
  });

  test('that was never written is not trusted', () => {
    const results = new ResultsFile(join(tempFolder(), 'none'), () => {});
    results.read();
    assert.match(results.problem() ?? '', /no end/);
  });

  test('is read while its last line is half written', () => {
    const file = join(tempFolder(), 'results.ndjson');
    const results = new ResultsFile(file, () => {});
    writeFileSync(file, `${JSON.stringify(begin)}\n{"event":"pa`);
    results.read();
    writeFileSync(file, `${JSON.stringify(begin)}\n${JSON.stringify(pass)}\n`);
    results.read();
    assert.deepEqual(results.events, [begin, pass]);
  });

  test('counts a skip as a skip on a desk, and as a failure in CI unless it names a part', () => {
    const events: TestEvent[] = [
      { event: 'skip', title: 'a', part: null },
      { event: 'skip', title: 'b', part: 'windows-pipes' },
    ];
    delete process.env['CI'];
    assert.deepEqual(read(...events).tally(), { passed: 0, failed: 0, skipped: 2 });
    process.env['CI'] = '1';
    assert.deepEqual(read(...events).tally(), { passed: 0, failed: 1, skipped: 1 });
  });
});
