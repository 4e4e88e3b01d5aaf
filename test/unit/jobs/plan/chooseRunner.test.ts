import assert from 'node:assert/strict';
import { chooseRunner, type ChoosingRequest, type Runners } from '#jobs/plan/chooseRunner.ts';
import type { Runner } from '#jobs/runners/runner.ts';
import { CatalogError } from '#shared/errors.ts';
import type { RunnerName } from '#shared/jobs/backfill.ts';
import type { FunctionBody } from '#shared/jobs/computedFunction.ts';

const { signal } = new AbortController();

const sql: FunctionBody = { kind: 'sql', expression: '1' };

function requestOf(options: Partial<ChoosingRequest> = {}, body: FunctionBody = sql): ChoosingRequest {
  return {
    table: { catalog: { implementation: 'dir', root: '/data' }, namespacePath: [], name: 't' },
    column: 'c',
    function: { name: 'c', version: '1', hash: 'ab', inputs: [], output: '', onError: { mode: 'fail' }, ...body },
    ...options,
  };
}

/** Stand-ins for runners. The test uses only their answer whether they can run a job. */
function runnerStandIns(answers: Partial<Record<RunnerName, string | true | Error>>): Runners {
  const load = (name: RunnerName): Promise<Runner> => {
    const answer = answers[name];
    if (answer instanceof Error) return Promise.reject(answer);
    const found = { isPossible: answer === true, reason: answer === true ? `${name} can.` : String(answer) };
    return Promise.resolve({
      name,
      availability: () => Promise.resolve(found),
      run: () => Promise.reject(new Error()),
    });
  };
  return { known: Object.keys(answers) as RunnerName[], load };
}

suite('the choice of a runner', () => {
  test('what needs nothing else comes first, and the others are said with their reasons', async () => {
    const runners = runnerStandIns({ ray: 'No Ray was named.', 'local-python': true, local: true });
    const choice = await chooseRunner(requestOf(), runners, signal);
    assert.deepEqual([choice.runner, choice.reason], ['local', 'local can.']);
    assert.deepEqual(choice.others, [
      { runner: 'local-python', isPossible: true, reason: 'local-python can.' },
      { runner: 'ray', isPossible: false, reason: 'No Ray was named.' },
    ]);
  });

  test('where no column names the rows, Python takes its place', async () => {
    const runners = runnerStandIns({ local: 'There is no key.', 'local-python': true });
    assert.equal((await chooseRunner(requestOf(), runners, signal)).runner, 'local-python');
  });

  test('a Ray that is named is used, and if it can not be reached no other runner is', async () => {
    const request = requestOf({ ray: { address: 'http://127.0.0.1:8265' } });
    assert.equal((await chooseRunner(request, runnerStandIns({ local: true, ray: true }), signal)).runner, 'ray');
    await assert.rejects(chooseRunner(request, runnerStandIns({ local: true, ray: 'It is away.' }), signal), {
      kind: 'RunnerUnavailable',
      message: 'The runner "ray" can\'t run this. It is away. Set the runner to "local" to run it there.',
    });
  });

  test('a function that only the server has runs there', async () => {
    const runners = runnerStandIns({ local: true, rest: true });
    assert.equal((await chooseRunner(requestOf({}, { kind: 'server' }), runners, signal)).runner, 'rest');
  });

  test('the runner that is asked for is used, and no other in its place', async () => {
    const runners = runnerStandIns({ local: true, 'local-python': 'There is no Python.' });
    assert.equal((await chooseRunner(requestOf({ runner: 'local' }), runners, signal)).reason, 'It was requested.');
    await assert.rejects(chooseRunner(requestOf({ runner: 'local-python' }), runners, signal), {
      kind: 'RunnerUnavailable',
      message:
        'The runner "local-python" can\'t run this. There is no Python. Set the runner to "local" to run it there.',
    });
  });

  test('one that does not exist is refused with a list of the existing ones', async () => {
    const runners = runnerStandIns({ local: true, 'local-python': true });
    await assert.rejects(chooseRunner(requestOf({ runner: 'foo' as RunnerName }), runners, signal), {
      kind: 'RunnerUnavailable',
      message: 'There is no runner "foo". Use auto, local, local-python, or omit it.',
    });
  });

  test('where none can, the reason of each is said', async () => {
    const runners = runnerStandIns({ local: 'There is no key.', 'local-python': 'There is no Python.' });
    await assert.rejects(
      chooseRunner(requestOf(), runners, signal),
      /local: There is no key\. local-python: There is no Python\./,
    );
  });

  test('one that can not be checked does not prevent the use of another', async () => {
    const runners = runnerStandIns({ local: true, ray: new Error('It does not load.') });
    const choice = await chooseRunner(requestOf(), runners, signal);
    assert.equal(choice.runner, 'local');
    assert.deepEqual(choice.others, [{ runner: 'ray', isPossible: false, reason: 'It does not load.' }]);
  });

  test('a missing version is reported alone, not as a reason of each runner', async () => {
    const missing = new CatalogError('VersionNotFound', 'Table "t" has no version 9.', 'See listVersions().');
    const runners = runnerStandIns({ local: missing, ray: 'No Ray address or profile is set.' });
    await assert.rejects(chooseRunner(requestOf(), runners, signal), missing);
  });
});
