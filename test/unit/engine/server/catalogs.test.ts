import assert from 'node:assert/strict';
import type { Catalog } from '#catalog/catalog.ts';
import { OpenCatalogs } from '#engine/server/openCatalogs.ts';

suite('opened catalogs', () => {
  test('are kept by root, the most recently used of them', async () => {
    const opened: string[] = [];
    const catalogs = new OpenCatalogs<Catalog>((root) => {
      opened.push(root);
      return Promise.resolve({ location: root } as Catalog);
    }, 2);
    const a = await catalogs.get('a');
    await catalogs.get('b');
    assert.equal(await catalogs.get('a'), a);
    await catalogs.get('c');
    assert.equal(await catalogs.get('a'), a);
    await catalogs.get('b');
    assert.deepEqual(opened, ['a', 'b', 'c', 'b']);
  });

  test('are kept when an earlier try to open them fails late', async () => {
    let fail: ((error: Error) => void) | undefined;
    let tries = 0;
    const catalogs = new OpenCatalogs<Catalog>((root) => {
      if (root === 'a' && ++tries === 1) return new Promise((_, reject) => (fail = reject));
      return Promise.resolve({ location: root } as Catalog);
    }, 1);
    const first = catalogs.get('a');
    await catalogs.get('b');
    const second = await catalogs.get('a');
    fail?.(new Error('too late'));
    await assert.rejects(first, /too late/);
    assert.equal(await catalogs.get('a'), second);
  });

  test('that failed to open are asked again', async () => {
    let tries = 0;
    const catalogs = new OpenCatalogs<Catalog>(() => {
      tries++;
      return tries === 1 ? Promise.reject(new Error('not yet')) : Promise.resolve({} as Catalog);
    });
    await assert.rejects(catalogs.get('a'), /not yet/);
    await catalogs.get('a');
    assert.equal(tries, 2);
  });
});
