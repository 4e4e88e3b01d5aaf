import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Int32, type RecordBatch, tableFromArrays } from '#arrow';
import { withHash } from '#jobs/definition/hash.ts';
import { encodeOutput } from '#jobs/definition/outputType.ts';
import { FunctionWorkers, type FunctionWorkersOptions } from '#jobs/worker/functionWorkers.ts';
import { isJobError } from '#shared/jobs/jobErrors.ts';
import { tempFolder } from '../../../harness/temp.ts';

const functionOf = (code: string): FunctionWorkersOptions['function'] => {
  const made = withHash({
    kind: 'typescript',
    name: 'made',
    version: '',
    inputs: ['n'],
    output: encodeOutput('made', new Int32()),
    onError: { mode: 'null' },
    takes: 'row',
    code,
    source: code,
  });
  assert.equal(made.kind, 'typescript');
  return made;
};

const batchOf = (...numbers: number[]): RecordBatch => {
  const [batch] = tableFromArrays({ n: Int32Array.from(numbers) }).batches;
  assert.ok(batch);
  return batch;
};
const values = (batch: RecordBatch): unknown[] => Array.from(batch.getChild('value') ?? []);

type Started = { workers: FunctionWorkers; folder: string; restarts: string[]; printed: () => string };

suite('Workers of a TypeScript function', function () {
  this.timeout(120_000);
  const open: FunctionWorkers[] = [];
  teardown(async () => {
    for (const workers of open.splice(0)) await workers[Symbol.asyncDispose]();
  });

  async function start(code: string, more: Partial<FunctionWorkersOptions> = {}): Promise<Started> {
    const folder = tempFolder();
    const restarts: string[] = [];
    let printed = '';
    const workers = await FunctionWorkers.start({
      function: functionOf(code),
      count: 2,
      folder,
      log: (text) => (printed += text),
      onRestart: (reason) => restarts.push(reason),
      signal: new AbortController().signal,
      ...more,
    });
    open.push(workers);
    return { workers, folder, restarts, printed: () => printed };
  }

  test('answer every batch with its own values, however many wait', async () => {
    const { workers } = await start('export default ({ n }) => n * 2;');
    const batches = Array.from({ length: 40 }, (_, i) => workers.compute(batchOf(i, i + 1)));
    const answers = await Promise.all(batches);
    assert.deepEqual(
      answers.map(values),
      answers.map((_, i) => [i * 2, (i + 1) * 2]),
    );
  });

  test('that are killed are replaced, and no batch is lost', async () => {
    // The first process that gets the row with `n` 3 writes its id and then loops until the test kills it.
    const code = `import { existsSync, writeFileSync } from 'node:fs';
      export default ({ n }) => {
        if (n === 3 && !existsSync('seen')) { writeFileSync('seen', String(process.pid)); for (;;); }
        return n;
      };`;
    const { workers, folder, restarts } = await start(code);
    const answers = [1, 2, 3, 4, 5, 6].map((n) => workers.compute(batchOf(n)));
    const seen = join(folder, 'seen');
    while (!existsSync(seen) || readFileSync(seen, 'utf8') === '')
      await new Promise((resolve) => setImmediate(resolve));
    process.kill(Number(readFileSync(seen, 'utf8')), 'SIGKILL');
    assert.deepEqual((await Promise.all(answers)).map(values), [[1], [2], [3], [4], [5], [6]]);
    assert.deepEqual(restarts, ['killed by SIGKILL']);
    assert.equal(workers.size, 2);
  });

  test('give a batch up that kills them again and again, and say why', async () => {
    const { workers } = await start('export default ({ n }) => { if (n === 1) process.exit(3); return n; };');
    await assert.rejects(workers.compute(batchOf(1)), (error) => {
      assert.ok(isJobError(error) && error.kind === 'FunctionCrashed', String(error));
      assert.match(error.message, /"made" ended repeatedly: exit code 3/);
      return true;
    });
    assert.deepEqual(values(await workers.compute(batchOf(2))), [2]);
  });

  test('do not give up a batch that only waited in a process that died', async () => {
    const code = 'export default ({ n }) => { if (n === 1) process.exit(3); return n; };';
    const { workers } = await start(code, { count: 1 });
    const answers = await Promise.allSettled([1, 2].map((n) => workers.compute(batchOf(n))));
    assert.deepEqual(
      answers.map((answer) => (answer.status === 'fulfilled' ? values(answer.value) : isJobError(answer.reason))),
      [true, [2]],
    );
  });

  test('say at once of a function that does not load, and start no other', async () => {
    const { workers, restarts } = await start('import "not-there"; export default () => 1;');
    await assert.rejects(workers.compute(batchOf(1)), (error) => {
      assert.ok(isJobError(error) && error.kind === 'FunctionInvalid', String(error));
      assert.match(error.message, /can't be loaded: Cannot find package 'not-there'/);
      return true;
    });
    assert.deepEqual(restarts, []);
  });

  test('end on request, and reject their pending calls', async () => {
    const abort = new AbortController();
    const { workers } = await start('export default () => { for (;;); };', { signal: abort.signal });
    const { pids } = workers;
    const waiting = assert.rejects(workers.compute(batchOf(1)), { name: 'AbortError' });
    abort.abort();
    await waiting;
    await workers[Symbol.asyncDispose]();
    assert.equal(pids.length, 2);
    for (const pid of pids) assert.throws(() => process.kill(pid, 0), /ESRCH/);
  });

  test('pass on what the function prints', async () => {
    const { workers, printed } = await start('export default ({ n }) => { console.log("row", n); return n; };');
    await workers.compute(batchOf(1));
    await workers[Symbol.asyncDispose]();
    assert.equal(printed(), 'row 1\n');
  });
});
