import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, replaceFile, replaceFileAsync } from '#processes/files.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { tempFolder } from '../../harness/temp.ts';
import { command } from '../../kernel/support.ts';

suite('A folder of the person alone', function () {
  this.timeout(60_000);

  test('is made with those above it, or left as it is', () => {
    const folder = join(tempFolder(), 'a', 'b');
    makeFolder(folder);
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    mkdirSync(join(folder, 'kept'));
    makeFolder(folder);
    assert.ok(statSync(join(folder, 'kept')).isDirectory());
  });

  test('is made although another process makes the same at the same time', async () => {
    const module = JSON.stringify(inRoot('kernel/processes/files.ts'));
    // Both start each round at the same time with a busy wait, because a sleep would be longer than the gap between the
    // two steps.
    const begins = Date.now() + 1500;
    const code = `import(${module}).then(({ makeFolder }) => {
      for (let round = 0; round < 400; round++) {
        while (Date.now() < ${begins} + round) {}
        makeFolder(${JSON.stringify(tempFolder())} + '/' + round + '/a/b/c/d');
      }
      console.log('made');
    })`;
    const both = [1, 2].map(() => command(process.execPath, ['-e', code], { seconds: 30 }));
    const said = await Promise.all(both);
    assert.deepEqual(
      said.map(({ stdout }) => stdout),
      ['made\n', 'made\n'],
    );
  });

  test('is not made where a file is, at its place or above it', () => {
    const file = join(tempFolder(), 'file');
    writeFileSync(file, '');
    assert.throws(() => makeFolder(file), { code: 'EEXIST' });
    assert.throws(() => makeFolder(join(file, 'below')), { code: 'ENOTDIR' });
  });

  test('that its file system says there can not be is an error, at once', async () => {
    // Run this in a separate process that the test can kill, because Node's own function never returns in this case.
    const module = JSON.stringify(inRoot('kernel/processes/files.ts'));
    const code = `import(${module}).then(({ makeFolder }) => makeFolder('/proc/none/below')).catch((e) => console.log(e.code))`;
    const { stdout } = await command(process.execPath, ['-e', code], { seconds: 20 });
    assert.equal(stdout, 'ENOENT\n');
  });
});

suite('A file that is replaced', () => {
  test('has the new content alone, also beside a draft of a killed process with the same number', async () => {
    const folder = tempFolder();
    const path = join(folder, 'file');
    const left = Array.from({ length: 100 }, (_, count) => `file.${process.pid}-0-${count}.tmp`);
    for (const name of left) writeFileSync(join(folder, name), 'half');
    replaceFile(path, 'first', { isLasting: false });
    assert.equal(readFileSync(path, 'utf8'), 'first');
    await replaceFileAsync(path, 'second', { isLasting: true });
    assert.equal(readFileSync(path, 'utf8'), 'second');
    assert.deepEqual(readdirSync(folder).toSorted(), ['file', ...left].toSorted());
  });
});
