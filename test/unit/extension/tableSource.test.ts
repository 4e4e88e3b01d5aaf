import assert from 'node:assert/strict';
import type { Catalog } from '#client/catalog.ts';
import { catalogSource, exactBytes, placeOfState } from '../../../extension/panels/tableSource.ts';

const signal = new AbortController().signal;
const place = { connection: 'sample', path: ['shop'], table: 'products' };
const catalog = {
  describeTable: () =>
    Promise.resolve({ name: 'products', namespacePath: ['shop'], version: 3, numRows: 5, columns: [] }),
} as unknown as Catalog;

suite('the source of a table panel', () => {
  test('reads every page from the version that was first opened', async () => {
    const versions: number[] = [];
    const source = catalogSource(
      place,
      () => Promise.resolve(catalog),
      (_catalog, _place, page) => (versions.push(page.version), Promise.resolve(new Uint8Array())),
    );
    await source.open(signal);
    await source.rows(0, 5, signal);
    assert.deepEqual(versions, [3]);
  });

  test('reads no page before the table is open', async () => {
    const source = catalogSource(
      place,
      () => Promise.resolve(catalog),
      () => Promise.resolve(new Uint8Array()),
    );
    await assert.rejects(source.rows(0, 5, signal), /is not open/);
  });

  test('is found again from what the panel kept', async () => {
    const source = catalogSource(
      place,
      () => Promise.resolve(catalog),
      () => Promise.resolve(new Uint8Array()),
    );
    const { key } = await source.open(signal);
    assert.deepEqual(placeOfState({ key, title: 'x' }), place);
  });

  test('is not found from anything else', () => {
    for (const state of [undefined, null, {}, { key: 1 }, { key: 'x' }, { key: '{"connection":"a"}' }]) {
      assert.equal(placeOfState(state), undefined);
    }
  });

  test('sends the bytes of a page without the rest of the buffer they were cut from', () => {
    const whole = new Uint8Array([1, 2, 3, 4]);
    const cut = exactBytes(whole.subarray(1, 3));
    assert.deepEqual([...cut], [2, 3]);
    assert.equal(cut.buffer.byteLength, 2);
    assert.equal(exactBytes(whole), whole);
  });
});
