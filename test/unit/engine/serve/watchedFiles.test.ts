import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WatchedFiles } from '#engine/serve/watchedFiles.ts';
import { messageOf } from '#shared/errors.ts';
import { tempFolder } from '../../../harness/temp.ts';

async function until(holds: () => boolean): Promise<void> {
  for (const end = Date.now() + 15_000; !holds(); await sleep(5)) assert.ok(Date.now() < end, 'waited fifteen seconds');
}

suite('a watched file', function () {
  this.timeout(20_000);
  let folder: string;
  let path: string;
  let problems: string[];
  let watched: WatchedFiles<number> | undefined;

  setup(() => {
    folder = tempFolder();
    path = join(folder, 'number');
    problems = [];
    writeFileSync(path, '1');
  });
  teardown(() => watched?.close());

  const open = async (paths = [path]) => {
    watched = await WatchedFiles.open({
      paths,
      parse: (files) =>
        files.reduce((sum, { text }) => {
          if (!/^\d+$/.test(text)) throw new Error(`"${text}" is no number`);
          return sum + Number(text);
        }, 0),
      onProblem: (error) => problems.push(messageOf(error)),
      interval: 10,
    });
    return watched;
  };

  test('is read again when it is written', async () => {
    const file = await open();
    assert.equal(file.value, 1);
    writeFileSync(path, '2');
    await until(() => file.value === 2);
  });

  test('is read again when another takes its place', async () => {
    const file = await open();
    writeFileSync(`${path}.new`, '3');
    renameSync(`${path}.new`, path);
    await until(() => file.value === 3);
  });

  test('is read again when a link on its way points elsewhere, as mounted secrets do', async () => {
    for (const version of ['v1', 'v2']) {
      mkdirSync(join(folder, version));
      writeFileSync(join(folder, version, 'number'), version.slice(1));
    }
    symlinkSync('v1', join(folder, 'current'));
    const file = await open([join(folder, 'current', 'number')]);
    symlinkSync('v2', join(folder, 'next'));
    renameSync(join(folder, 'next'), join(folder, 'current'));
    await until(() => file.value === 2);
  });

  test('keeps its value while what it holds is wrong or it is gone, and says so once', async () => {
    const file = await open();
    writeFileSync(path, 'x');
    await until(() => problems.length > 0);
    await sleep(100);
    assert.deepEqual([file.value, problems], [1, ['"x" is no number']]);
    rmSync(path);
    await until(() => problems.length > 1);
    assert.match(problems[1]!, /Can't read the file/);
    assert.equal(file.value, 1);
    writeFileSync(path, '7');
    await until(() => file.value === 7);
  });

  test('belongs to others that change with it', async () => {
    const other = join(folder, 'other');
    writeFileSync(other, '10');
    const file = await open([path, other]);
    assert.equal(file.value, 11);
    writeFileSync(other, '20');
    await until(() => file.value === 21);
  });

  test('that is missing at the beginning is an error', async () => {
    await assert.rejects(() => open([join(folder, 'nope')]), /Can't read the file ".*nope"/);
  });
});
