import assert from 'node:assert/strict';
import fs, { existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tryFileLock, withFileLock } from '#processes/fileLock.ts';
import { tempFolder } from '../../harness/temp.ts';

const soon = (): AbortSignal => AbortSignal.timeout(30_000);
/** An id that no process has: ids end at four million. */
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

  test('has one holder when several find the lock of a killed one', async () => {
    const folder = tempFolder();
    const path = join(folder, 'lock');
    writeFileSync(path, `${hostname()} ${nobody} x`);
    let holders = 0;
    let most = 0;
    const end = new AbortController();
    const hold = (): Promise<void> =>
      tryFileLock(path, busy, async () => {
        most = Math.max(most, ++holders);
        await sleep(10_000, undefined, { signal: end.signal }).catch(() => undefined);
        holders--;
      }).catch(() => undefined);
    const held: Promise<void>[] = [];
    // Two other processes run at the worst moments. The first runs after the state of the lock was read, the second
    // while the lock is moved away.
    const { statSync, renameSync } = fs;
    const restore = (): void => {
      Object.assign(fs, { statSync, renameSync });
      syncBuiltinESMExports();
    };
    Object.assign(fs, {
      statSync: (...args: Parameters<typeof statSync>) => {
        const found = statSync(...args);
        if (args[0] !== path) return found;
        Object.assign(fs, { statSync });
        syncBuiltinESMExports();
        held.push(hold());
        return found;
      },
      renameSync: (from: string, to: string) => {
        renameSync(from, to);
        if (holders === 0) return;
        Object.assign(fs, { renameSync });
        syncBuiltinESMExports();
        held.push(hold());
      },
    });
    syncBuiltinESMExports();
    try {
      held.push(hold());
      await sleep(0);
      assert.equal(held.length >= 2, true);
      assert.equal(most, 1);
    } finally {
      restore();
      end.abort();
      await Promise.all(held);
    }
    assert.deepEqual(readdirSync(folder), []);
  });

  test('is free where another process was killed while it removed the lock of a killed one', async () => {
    const folder = tempFolder();
    const path = join(folder, 'lock');
    writeFileSync(path, `${hostname()} ${nobody} x`);
    const { rmSync } = fs;
    Object.assign(fs, {
      rmSync: () => {
        throw new Error('killed');
      },
    });
    syncBuiltinESMExports();
    try {
      await assert.rejects(tryFileLock(path, busy, () => Promise.resolve(7)));
    } finally {
      Object.assign(fs, { rmSync });
      syncBuiltinESMExports();
    }
    const longAgo = new Date(Date.now() - 3_600_000);
    for (const each of readdirSync(folder)) utimesSync(join(folder, each), longAgo, longAgo);
    assert.equal(await tryFileLock(path, busy, () => Promise.resolve(7)), 7);
    assert.deepEqual(readdirSync(folder), []);
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

  test('is refused immediately to a caller that does not wait, and done if no other process does it', async () => {
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
