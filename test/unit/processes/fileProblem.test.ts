import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileProblem, isDiskFull } from '#processes/fileProblem.ts';
import { tempFolder } from '../../harness/temp.ts';

const failureOf = (path: string): Promise<unknown> =>
  readFile(path).then(
    () => undefined,
    (error: unknown) => error,
  );

suite('The problem with a file', () => {
  test('is said in words', async () => {
    const folder = tempFolder();
    assert.equal(fileProblem(await failureOf(join(folder, 'none'))), 'it does not exist');
    assert.equal(fileProblem(await failureOf(folder)), 'it is a folder');
    assert.equal(fileProblem(Object.assign(new Error('x'), { code: 'ENOSPC' })), 'no space is left on the disk');
  });

  test('is the message of the system if it has another code, or none', () => {
    assert.equal(
      fileProblem(Object.assign(new Error('too many open files'), { code: 'EMFILE' })),
      'too many open files',
    );
    assert.equal(fileProblem('odd'), 'odd');
  });

  test('is a full disk only for its codes', () => {
    assert.ok(isDiskFull(Object.assign(new Error('x'), { code: 'EDQUOT' })));
    assert.ok(!isDiskFull(new Error('ENOSPC')));
  });
});
