import assert from 'node:assert/strict';
import { existsSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tryFileLock, withFileLock } from '#processes/fileLock.ts';
import { tempFolder } from '../../harness/temp.ts';

const soon = (): AbortSignal => AbortSignal.timeout(30_000);
/** No process has it: numbers end at four million. */
const nobody = 2 ** 30;
const busy = (): Error => new Error('somebody else');

suite('What one process of a person does at a time', function () {
  this.timeout(40_000);

  test('is done by one after the other', async () => {
    const path = join(tempFolder(), 'jobs', 'lock');
    let inside = 0;
    const most: number[] = [];
    const calls = [1, 2, 3, 4].map((one) =>
      withFileLock(path, soon(), async () => {
        most.push(++inside);
        await sleep(5);
        inside--;
        return one;
      }),
    );
    assert.deepEqual(await Promise.all(calls), [1, 2, 3, 4]);
    assert.deepEqual(most, [1, 1, 1, 1]);
    assert.ok(!existsSync(path));
  });

  test('is free again after a call that failed', async () => {
    const path = join(tempFolder(), 'jobs', 'lock');
    await assert.rejects(
      withFileLock(path, soon(), () => Promise.reject(new Error('no'))),
      /no/,
    );
    assert.equal(await withFileLock(path, soon(), () => Promise.resolve(7)), 7);
  });

  test('is free where who held it was killed', async () => {
    const path = join(tempFolder(), 'lock');
    writeFileSync(path, `${hostname()} ${nobody} x`);
    assert.equal(await withFileLock(path, soon(), () => Promise.resolve(7)), 7);
  });

  test('is free where another machine holds it and has not touched it for long', async () => {
    const path = join(tempFolder(), 'lock');
    writeFileSync(path, 'another.example 1 x');
    const longAgo = new Date(Date.now() - 3_600_000);
    utimesSync(path, longAgo, longAgo);
    assert.equal(await withFileLock(path, soon(), () => Promise.resolve(7)), 7);
  });

  test('is waited for while who holds it lives, until the wait is given up', async () => {
    const path = join(tempFolder(), 'lock');
    writeFileSync(path, `${hostname()} ${process.pid} x`);
    const stop = new AbortController();
    const waiting = withFileLock(path, stop.signal, () => Promise.resolve(7));
    await sleep(150);
    stop.abort();
    await assert.rejects(waiting, { name: 'AbortError' });
  });

  test('is refused at once to whoever does not wait, and done where nobody does it', async () => {
    const path = join(tempFolder(), 'lock');
    const inside = withFileLock(path, soon(), () =>
      assert.rejects(
        tryFileLock(path, busy, () => Promise.resolve(7)),
        /somebody else/,
      ),
    );
    await inside;
    assert.equal(await tryFileLock(path, busy, () => Promise.resolve(7)), 7);
  });

  test('is not taken from who has begun to take it and has not said yet who it is', async () => {
    const path = join(tempFolder(), 'lock');
    writeFileSync(path, '');
    await assert.rejects(
      tryFileLock(path, busy, () => Promise.resolve(7)),
      /somebody else/,
    );
  });
});
