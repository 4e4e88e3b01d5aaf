import assert from 'node:assert/strict';
import {
  Binary,
  Field,
  FixedSizeList,
  Float32,
  makeData,
  Schema,
  Table,
  tableFromArrays,
  vectorFromArray,
} from '#arrow';
import { tableHtml } from '#session/display/tables.ts';
import { encodePng } from '../../../../scripts/sample/pictures.ts';

/** Returns a table with one column of images, each followed by the given number of bytes. */
function pictures(...padding: readonly number[]): Table {
  const png = encodePng({ width: 2, height: 2, rgba: Buffer.alloc(16, 200) });
  const column = vectorFromArray(
    padding.map((bytes) => Buffer.concat([png, Buffer.alloc(bytes)])),
    new Binary(),
  );
  return new Table({ picture: column });
}

const count = (html: string, part: RegExp): number => html.match(part)?.length ?? 0;

suite('A table as HTML', () => {
  test('has numbers on the right, and what is no value told from a text', () => {
    const html = tableHtml(tableFromArrays({ id: [1n, null], name: ['null', null] }), 2);
    assert.match(html, /<td class="n">1<\/td><td>null<\/td>/);
    assert.match(html, /<td class="n"><span class="d">null<\/span><\/td><td><span class="d">null<\/span><\/td>/);
  });

  test('has its pictures drawn', () => {
    const html = tableHtml(pictures(0), 1);
    assert.match(
      html,
      /<td><img src="data:image\/png;base64,iVBOR[\w+/=]+" alt="image\/png, \d+ bytes" title="[^"]+">/,
    );
  });

  test('has large pictures as text, and those behind the first ones where there are many', () => {
    const large = tableHtml(pictures(40_000, 0), 2);
    assert.equal(count(large, /<img/g), 1);
    assert.match(large, /<td>image\/png, 4[\d,.]+ ?\w+<\/td>/);
    assert.equal(count(tableHtml(pictures(...Array.from({ length: 10 }, () => 20_000)), 10), /<img/g), 4);
  });

  test('has vectors as lines beside their values', () => {
    const values = Float32Array.from({ length: 300 }, (_, i) => Math.sin(i / 10));
    const type = new FixedSizeList(300, new Field('item', new Float32(), true));
    const data = makeData({ type, length: 1, nullCount: 0, child: makeData({ type: new Float32(), data: values }) });
    const table = new Table(new Schema([new Field('v', type)]), { v: data });
    const html = tableHtml(table, 1);
    assert.match(
      html,
      /<svg viewBox="0 0 72 20"[^>]*><path d="M1\.0 [\d. LM]+" fill="none" stroke="currentColor"\/><\/svg>/,
    );
    assert.match(html, /<span class="d">\[0, 0\.0998, .*…\] 300<\/span>/);
  });
});
