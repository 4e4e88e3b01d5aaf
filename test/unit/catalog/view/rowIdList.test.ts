import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { RowIdList } from '#catalog/view/rowIdList.ts';

const chunk = 2 ** 17;

const folders = (): string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith(`lance-catalog-spill-${process.pid}-`));

/** Returns the files that this process has open although they have no name. */
const unnamedFiles = (): string[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return /lance-catalog-spill-.*\(deleted\)$/.test(path) ? [path] : [];
    } catch {
      return [];
    }
  });

/** Returns row ids that are easy to check: position × 3. */
const idsFrom = (start: number, length: number): BigUint64Array =>
  BigUint64Array.from({ length }, (_, index) => BigInt((start + index) * 3));

suite('A list of row ids', () => {
  test('returns the ids at positions, across chunks and beyond the end', async () => {
    const list = new RowIdList();
    for (let at = 0; at < 3 * chunk; at += 50_001) list.push(idsFrom(at, 50_001));
    const { length } = list;
    for (const [start, end] of [
      [0, 3],
      [chunk - 2, chunk + 2],
      [chunk - 1, 3 * chunk + 1],
      [length - 2, length + 50],
      [length + 1, length + 5],
    ] as const)
      assert.deepEqual(await list.slice(start, end), idsFrom(start, Math.max(0, Math.min(end, length) - start)));
    await list.close();
  });

  test('keeps a stated number of chunks in memory and the others in a file, which ends with it', async () => {
    const list = new RowIdList(2);
    for (let at = 0; at < 5 * chunk; at += chunk / 2) {
      list.push(idsFrom(at, chunk / 2));
      await list.settle();
    }
    assert.deepEqual([unnamedFiles().length, folders()], [1, []]);
    assert.deepEqual(await list.slice(0, list.length), idsFrom(0, 5 * chunk));
    assert.deepEqual(await list.slice(chunk * 3 - 5, chunk * 3 + 5), idsFrom(chunk * 3 - 5, 10));
    await list.close();
    assert.deepEqual([unnamedFiles(), folders(), list.length], [[], [], 0]);
  });

  test('sorts its end, also across chunks, and keeps in memory what may still be sorted', async () => {
    const list = new RowIdList(1);
    list.push(idsFrom(0, chunk - 3));
    const start = list.length;
    const tail = idsFrom(start, 2 * chunk);
    list.push(tail.toReversed());
    await list.settle(start);
    list.sort(start, list.length);
    await list.settle();
    assert.deepEqual(await list.slice(start, list.length), tail);
    await list.close();
  });
});
