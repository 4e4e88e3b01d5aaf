import assert from 'node:assert/strict';
import { closeSync, existsSync, openSync, readdirSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Int32 } from '#arrow';
import { withHash } from '#jobs/definition/hash.ts';
import { encodeOutput } from '#jobs/definition/outputType.ts';
import { acceptFunction, checkAccepted, consentText, isAccepted } from '#jobs/definition/trust.ts';
import { withConsent } from '#jobs/service/consent.ts';
import { recordWriteError } from '#jobs/records/recordErrors.ts';
import { isJobError } from '#shared/jobs/jobErrors.ts';
import { tempFolder } from '../../../harness/temp.ts';

const common = {
  name: 'size',
  version: '',
  inputs: ['text'],
  output: encodeOutput('size', new Int32()),
  onError: { mode: 'fail' },
} as const;
const code = 'export default (row) => row.text.length;';
const lengthOf = (text: string) =>
  withHash({ ...common, kind: 'typescript', takes: 'row', code: text, source: 'what it says it is' });
const fn = lengthOf(code);
const sql = withHash({ ...common, kind: 'sql', expression: 'length(text)' });

suite('Consent to functions that were found', () => {
  const before = process.env['XDG_DATA_HOME'];
  let home: string;
  setup(() => {
    home = tempFolder();
    process.env['XDG_DATA_HOME'] = home;
  });
  teardown(() => {
    if (before === undefined) delete process.env['XDG_DATA_HOME'];
    else process.env['XDG_DATA_HOME'] = before;
  });

  test('is asked for until it was given, and then is given for good', () => {
    assert.throws(
      () => checkAccepted(fn, 'shop/t'),
      (error) => isJobError(error) && error.kind === 'FunctionNotAccepted' && error.message.includes(fn.hash),
    );
    acceptFunction(fn.hash, { name: fn.name, table: 'shop/t' });
    acceptFunction(fn.hash);
    checkAccepted(fn, 'shop/t');
    assert.equal(isAccepted(fn.hash), true);
  });

  test('to one function is none to another', () => {
    acceptFunction(fn.hash);
    assert.equal(isAccepted(lengthOf(`${code} `).hash), false);
  });

  test('may be given for one time, which is not remembered', () => {
    checkAccepted(fn, 't', [fn.hash]);
    assert.equal(isAccepted(fn.hash), false);
  });

  test('is not asked for where no code runs', () => checkAccepted(sql, 't'));

  test('is kept where only the person can read and write', () => {
    acceptFunction(fn.hash);
    const folder = join(home, 'lance-catalog', 'accepted-functions');
    assert.deepEqual(readdirSync(folder), [fn.hash]);
    assert.equal(statSync(join(folder, fn.hash)).mode & 0o777, 0o600);
    assert.equal(statSync(folder).mode & 0o777, 0o700);
  });

  test('names the path if the disk is full', function () {
    if (!existsSync('/dev/full')) this.skip();
    const full = openSync('/dev/full', 'w');
    try {
      assert.throws(
        () => writeSync(full, fn.hash),
        (error) => {
          const told = recordWriteError(error, '/home/a', 'accepted');
          assert.equal(told?.kind, 'StorageFull');
          assert.match(
            told.message,
            /^There is no space left for the hash of an accepted function in "\/home\/a"\. Free some space there/,
          );
          return true;
        },
      );
    } finally {
      closeSync(full);
    }
    process.env['XDG_DATA_HOME'] = join(home, 'file');
    writeFileSync(join(home, 'file'), '');
    assert.throws(
      () => acceptFunction(fn.hash),
      /^JobError: Can't write the hash of an accepted function to ".*accepted-functions"/,
    );
  });

  test('is not to be had by a hash that is a path', () => {
    assert.throws(() => acceptFunction('../../.bashrc'), /not a function hash/);
    assert.equal(isAccepted('../../../etc/passwd'), false);
  });

  test('is asked for with everything to be seen that may hide code', () => {
    const hidden = lengthOf(`/* \u202e */ steal(); // \x1b[2K\rharmless\u200b\n${code}`);
    const text = consentText(hidden, { author: 'A\x1b[8m', table: 't', column: 'size' });
    assert.ok(text.includes('/* \\u{202e} */ steal(); // \\u{1b}[2K\\u{d}harmless\\u{200b}\n'), text);
    for (const sign of ['\x1b', '\r', '\u202e', '\u200b']) assert.ok(!text.includes(sign), JSON.stringify(sign));
  });

  test('is asked for with all of the code, also of a long function', () => {
    const long = `${'# a comment\n'.repeat(1751)}harm()`;
    assert.equal(long.length, 21_018);
    const python = withHash({ ...common, kind: 'python', takes: 'row', code: long, entry: 'f' });
    const about = { author: '', table: 't', column: 'size' };
    assert.ok(consentText(python, about).endsWith(`1,752 lines and 21,018 characters:\n\n${long}`));
    const text = consentText(lengthOf(long), about);
    assert.match(text, /code that runs has 1,752 lines and 21,018 characters\. Below it is the source/);
    assert.ok(
      text.includes(`\n\n${long}\n\nSource code, according to the author, which does not run:\n\nwhat it says`),
    );
    const same = withHash({ ...common, kind: 'typescript', takes: 'row', code, source: `${code}\n` });
    assert.ok(consentText(same, about).endsWith(`characters:\n\n${code}`));
  });

  test('is not asked for where the code is too long to be shown, which says how to allow it', async () => {
    const long = lengthOf(`${'x'.repeat(1024 ** 2)}; harm()`);
    let asked = 0;
    const consent = {
      table: 't',
      column: 'size',
      stored: () => Promise.resolve({ function: long, author: '', registeredAt: '' }),
      ask: () => Promise.resolve((asked++, true)),
      howToAllow: (hash: string) => `Add --allow-stored-code ${hash}.`,
    };
    await assert.rejects(
      withConsent(consent, () => Promise.resolve(checkAccepted(long, 't'))),
      (error: Error) =>
        isJobError(error) &&
        error.kind === 'FunctionNotAccepted' &&
        /can't be shown for review.*more than 1,048,576\. Register it again from a file/.test(error.message) &&
        error.message.endsWith(`Add --allow-stored-code ${long.hash}.`),
    );
    assert.deepEqual([asked, isAccepted(long.hash)], [0, false]);
  });

  test('is asked for with the code that would run, and not only with what its author shows', () => {
    const text = consentText(fn, { author: 'Ada "the" first', table: 'shop/t', column: 'size' });
    for (const part of [code, 'what it says it is', fn.hash, '"Ada \\"the\\" first"', '"shop/t"', 'int32'])
      assert.ok(text.includes(part), `${part} in ${text}`);
  });
});
