import assert from 'node:assert/strict';
import type { QuerySpec } from '#catalog/query/querySpec.ts';
import { CatalogError } from '#shared/errors.ts';
import {
  catalogSource,
  exactBytes,
  type PanelCatalog,
  placeOfState,
} from '../../../../extension/panels/tableSource.ts';

const signal = new AbortController().signal;
const place = { connection: 'sample', path: ['shop'], table: 'products' };

/** Returns a catalog with one table at version 3, which records its calls. */
function world() {
  const asked: unknown[] = [];
  const catalog: PanelCatalog = {
    location: '/data/shop',
    describeTable: () =>
      Promise.resolve({ name: 'products', namespacePath: ['shop'], version: 3, numRows: 5, columns: [] }),
    openTable: (name, options) => {
      asked.push([name, options]);
      const queryIpc = (spec: QuerySpec) => (asked.push(spec), Promise.resolve(new Uint8Array([1])));
      return Promise.resolve({ queryIpc });
    },
  };
  return { asked, source: catalogSource(place, () => Promise.resolve(catalog)) };
}

suite('the source of a table panel', () => {
  test('reads every page from the version that was first opened, opening it once', async () => {
    const { asked, source } = world();
    await source.open(signal);
    await source.rows(0, 5, signal);
    await source.rows(5, 10, signal);
    assert.deepEqual(asked, [
      ['products', { namespacePath: ['shop'], version: 3 }],
      { offset: 0, limit: 5 },
      { offset: 5, limit: 5 },
    ]);
  });

  test('reads no page before the table is open', async () => {
    await assert.rejects(world().source.rows(0, 5, signal), /is not open/);
  });

  for (const [kind, location, says] of [
    ['Unauthenticated', 'https://a.example', /^No\. Choose "Update API Key…" on "sample" in the Lance Catalog view/],
    ['PermissionDenied', 'https://a.example', /Update API Key/],
    ['PermissionDenied', '/data/shop', /^No\. Send it\.$/],
    ['TableNotFound', 'https://a.example', /^No\. Send it\.$/],
  ] as const) {
    test(`says what to do here about ${kind} of ${location}`, async () => {
      const refusal = new CatalogError(kind, 'No.', 'Send it.');
      const refuse = () => Promise.reject(refusal);
      const refusing: PanelCatalog = { location, describeTable: refuse, openTable: refuse };
      const source = catalogSource(place, () => Promise.resolve(refusing));
      await assert.rejects(source.open(signal), ({ message }: Error) => says.test(message));
    });
  }

  test('goes on after the engine was restarted', async () => {
    const reads: string[] = [];
    const make = (name: string): PanelCatalog => ({
      location: '/data/shop',
      describeTable: () => Promise.resolve({ name, namespacePath: [], version: 1, numRows: 5, columns: [] }),
      openTable: () => Promise.resolve({ queryIpc: () => (reads.push(name), Promise.resolve(new Uint8Array())) }),
    });
    let current = make('first');
    const source = catalogSource(place, () => Promise.resolve(current));
    await source.open(signal);
    await source.rows(0, 1, signal);
    current = make('second');
    await source.rows(1, 2, signal);
    assert.deepEqual(reads, ['first', 'second']);
  });

  test('is found again from what the panel kept', async () => {
    const { key } = await world().source.open(signal);
    assert.deepEqual(placeOfState({ key, title: 'x' }), place);
    const { key: pinned } = await world().source.versions!.at(2).open(signal);
    assert.deepEqual(placeOfState({ key: pinned, title: 'x' }), { ...place, version: 3 });
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
