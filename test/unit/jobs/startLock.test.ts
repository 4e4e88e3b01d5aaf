import assert from 'node:assert/strict';
import { existsSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { whileLocked } from '../../../kernel/jobs/service/startLock.ts';
import { tempFolder } from '../../harness/temp.ts';

const soon = (): AbortSignal => AbortSignal.timeout(30_000);
/** No process has it: numbers end at four million. */
const nobody = 2 ** 30;

suite('What one process of a person does at a time', function () {
  this.timeout(40_000);

  test('is done by one after the other', async () => {
    const folder = join(tempFolder(), 'jobs');
    let inside = 0;
    const most: number[] = [];
    const calls = [1, 2, 3, 4].map((one) =>
      whileLocked(folder, soon(), async () => {
        most.push(++inside);
        await sleep(5);
        inside--;
        return one;
      }),
    );
    assert.deepEqual(await Promise.all(calls), [1, 2, 3, 4]);
    assert.deepEqual(most, [1, 1, 1, 1]);
    assert.ok(!existsSync(join(folder, '.start.lock')));
  });

  test('is free again after a call that failed', async () => {
    const folder = join(tempFolder(), 'jobs');
    await assert.rejects(
      whileLocked(folder, soon(), () => Promise.reject(new Error('no'))),
      /no/,
    );
    assert.equal(await whileLocked(folder, soon(), () => Promise.resolve(7)), 7);
  });

  test('is free where who held it was killed', async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, '.start.lock'), `${hostname()} ${nobody} x`);
    assert.equal(await whileLocked(folder, soon(), () => Promise.resolve(7)), 7);
  });

  test('is free where another machine holds it and has not touched it for long', async () => {
    const folder = tempFolder();
    const path = join(folder, '.start.lock');
    writeFileSync(path, 'another.example 1 x');
    const longAgo = new Date(Date.now() - 3_600_000);
    utimesSync(path, longAgo, longAgo);
    assert.equal(await whileLocked(folder, soon(), () => Promise.resolve(7)), 7);
  });

  test('is waited for while who holds it lives, until the wait is given up', async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, '.start.lock'), `${hostname()} ${process.pid} x`);
    const stop = new AbortController();
    const waiting = whileLocked(folder, stop.signal, () => Promise.resolve(7));
    await sleep(150);
    stop.abort();
    await assert.rejects(waiting, { name: 'AbortError' });
  });
});
