import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findPython, needPython } from '#jobs/python/findPython.ts';
import { isAtLeast, minimumPylance, pylance } from '#jobs/python/pythonPackages.ts';
import { isJobError } from '#shared/jobs/jobErrors.ts';
import { tempFolder } from '../../../harness/temp.ts';

const { signal } = new AbortController();

/** Stands in for an interpreter with those versions, because a real one of each version is not available. */
function interpreterStandIn(answer: object | string, code = 0): string {
  const path = join(tempFolder(), 'python3');
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  writeFileSync(path, `#!/bin/sh\ncat <<'END'\n${text}\nEND\nexit ${code}\n`);
  chmodSync(path, 0o755);
  return path;
}

const good = { executable: 'x', python: '3.12.1', lance: pylance.version, problem: null };

suite('the Python for backfills', () => {
  test('is the one that is named, when it has what is needed', async () => {
    const path = interpreterStandIn(good);
    const { found, tried } = await findPython({ named: path }, signal);
    assert.deepEqual(found, { path, python: '3.12.1', lance: pylance.version });
    assert.deepEqual(tried, []);
  });

  const problems: Readonly<Record<string, [object | string, RegExp]>> = {
    'without the package': [{ ...good, lance: null }, /It has no package pylance\./],
    'whose package does not load': [
      { ...good, lance: null, problem: 'ImportError: libx' },
      /does not load: ImportError: libx/,
    ],
    'with an old package': [{ ...good, lance: '0.20.0' }, /Its pylance is 0\.20\.0, and .* or newer is required/],
    'that is too old': [{ ...good, python: '3.8.18' }, /It is Python 3\.8\.18, and 3\.10 or newer is required/],
    'that is none': ['hello', /does not run/],
    'that says something else': ['[]', /not a Python interpreter/],
  };
  for (const [title, [answer, words]] of Object.entries(problems))
    test(`is none ${title}, and that is said`, async () => {
      const { found, tried } = await findPython({ named: interpreterStandIn(answer) }, signal);
      assert.equal(found, undefined);
      assert.match(tried[0]?.problem ?? '', words);
    });

  test('is said not to be there', async () => {
    const { tried } = await findPython({ named: join(tempFolder(), 'none') }, signal);
    assert.match(tried[0]?.problem ?? '', /the program does not exist/);
  });

  test('is looked for in the environment variable, and nowhere else where that is set', async () => {
    const path = interpreterStandIn({ ...good, lance: null });
    const { found, tried } = await findPython({ env: { LANCE_CATALOG_PYTHON: path } }, signal);
    assert.equal(found, undefined);
    assert.deepEqual(
      tried.map(({ from }) => from),
      ['of $LANCE_CATALOG_PYTHON'],
    );
  });

  test('is the active virtual environment before what is on PATH', async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'bin/python'), `#!/bin/sh\necho '${JSON.stringify(good)}'\n`);
    chmodSync(join(folder, 'bin/python'), 0o755);
    const { found } = await findPython({ env: { VIRTUAL_ENV: folder } }, signal);
    assert.equal(found?.path, join(folder, 'bin/python'));
  });

  test('is not reported as missing in our environment if the user has not created one', async () => {
    const before = process.env['XDG_DATA_HOME'];
    process.env['XDG_DATA_HOME'] = tempFolder();
    try {
      const { tried } = await findPython({ env: {} }, signal);
      assert.ok(tried.every(({ from }) => !/Lance Catalog/.test(from)));
    } finally {
      if (before === undefined) delete process.env['XDG_DATA_HOME'];
      else process.env['XDG_DATA_HOME'] = before;
    }
  });

  test('is missing in a sentence that says what was looked at and what to do', async () => {
    const path = interpreterStandIn({ ...good, lance: null });
    await assert.rejects(needPython(path, signal), (error) => {
      assert.ok(isJobError(error) && error.kind === 'PythonMissing');
      return error.message.includes(path) && /pip install pylance==/.test(error.hint);
    });
  });

  test('is no longer searched for after an abort', async () => {
    await assert.rejects(findPython({ named: 'python3' }, AbortSignal.abort()), { name: 'AbortError' });
  });

  test('is new enough by its numbers, not by its letters', () => {
    assert.ok(isAtLeast('14.0.2', minimumPylance) && isAtLeast('100.0', minimumPylance));
    assert.ok(!isAtLeast('9.9.9', minimumPylance) && !isAtLeast('', minimumPylance));
  });
});
