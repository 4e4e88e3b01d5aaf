import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { tableFromArrays } from '#arrow';
import { inferRows } from '#catalog/arrow/inferRows.ts';
import { readRows } from '#catalog/arrow/rowValues.ts';
import { Decimal } from '#catalog/values/decimal.ts';
import { Duration } from '#catalog/values/duration.ts';
import { Time } from '#catalog/values/time.ts';
import { Timestamp } from '#catalog/values/timestamp.ts';
import { createShow } from '#session/display/display.ts';
import type { RenderedOutput, ShowOptions } from '#session/display/mimeBundle.ts';

const show = createShow((stack) => stack.replaceAll('evalmachine', 'cell'));
const now = (value: unknown, options?: ShowOptions): RenderedOutput => {
  const shown = show(value, options);
  assert.ok(!(shown instanceof Promise));
  return shown;
};
const htmlOf = (value: unknown, options?: ShowOptions): string => String(now(value, options).data['text/html']);
const textOf = (value: unknown, options?: ShowOptions): string => String(now(value, options).data['text/plain']);

/** Returns a proxy that throws on every access. */
function untouchable(): object {
  const handler = new Proxy(
    {},
    {
      get: (_, trap) => () => {
        throw new Error(`the trap ${String(trap)} was run`);
      },
    },
  );
  return new Proxy({}, handler);
}

const times = (count: number) => Array.from({ length: count }, (_, i) => i);

suite('A value in an output', () => {
  for (const [value, text] of [
    [42, '42'],
    ['a', "'a'"],
    [{ a: 1 }, '{ a: 1 }'],
    [new Map([['a', 1]]), "Map(1) { 'a' => 1 }"],
    [[], '[]'],
  ] as const) {
    test(`that fits in a line is text alone: ${text}`, () => {
      assert.deepEqual(now(value).data, { 'text/plain': text });
    });
  }

  test('of many lines is a tree that unfolds without a script, and the text that Node writes', () => {
    const value = {
      name: 'mug',
      prices: new Map([['eu', [1, 2, 3]]]),
      note: 'x'.repeat(80),
      inner: { deep: { er: [{}] } },
    };
    const { data } = now(value);
    assert.deepEqual(Object.keys(data), ['text/html', 'text/plain']);
    assert.equal(data['text/plain'], inspect(value, { depth: 6 }));
    const html = String(data['text/html']);
    assert.match(html, /<details open><summary>Object/);
    assert.match(html, /<span class="k">&#39;eu&#39; =&gt;<\/span> Array\(3\)/);
    assert.doesNotMatch(html, /<script|javascript:|\son\w+=/);
  });

  test('has its markup escaped, in names and values', () => {
    const html = htmlOf({ '<img src=x onerror=alert(1)>': '<script>', list: times(200) });
    assert.doesNotMatch(html, /<img|<script/);
    assert.match(html, /&lt;img src=x/);
  });

  test('runs no getter', () => {
    let runs = 0;
    const value = {
      get price() {
        runs++;
        return 1;
      },
      get schema() {
        runs++;
        return {};
      },
      get toHtml() {
        runs++;
        return () => '';
      },
      list: times(200),
    };
    assert.match(htmlOf(value), /price<\/span>: <span class="d">\[Getter\]/);
    assert.equal(runs, 0);
  });

  test('runs no trap of a proxy inside of it', () => {
    assert.match(textOf({ inner: untouchable(), list: times(200) }), /inner: \{\}/);
  });

  test('may be a proxy that refuses everything', () => {
    assert.equal(textOf(untouchable()), '{}');
  });

  test('names where it holds itself', () => {
    const circle: Record<string, unknown> = { list: times(200) };
    circle['self'] = { circle };
    assert.match(htmlOf(circle), /\[Circular Object\]/);
    assert.match(textOf(circle), /\[Circular \*1\]/);
  });

  test('may hold the same thing twice', () => {
    const shared = { list: times(120) };
    assert.doesNotMatch(htmlOf({ a: shared, b: shared }), /Circular/);
  });

  test('of ten thousand entries is bounded, says what is left out and how to see it', () => {
    const { data } = now(times(10_000));
    assert.ok(JSON.stringify(data).length < 100_000);
    assert.match(String(data['text/html']), /Show 100 more of 9,980<\/summary>[^]*… 9,500 more[^]*limit: 10000/);
    assert.match(String(data['text/plain']), /9900 more items[^]*display\(value, \{ limit: 10000 \}\)/);
  });

  test('says which part is not complete, and a limit that shows it', () => {
    const photo = new Uint8Array(712);
    const rows = [{ id: 1 }, { id: 2, photo }];
    const hint =
      /Not everything is shown: value\[1\]\.photo has 712 entries, of which 500 are listed\. For more entries, use display\(value, \{ limit: 712 \}\)\./;
    assert.match(textOf(rows), hint);
    assert.doesNotMatch(textOf(rows), /levels/);
    const { data } = now(rows, { limit: 712 });
    assert.doesNotMatch(JSON.stringify(data), /Not everything is shown/);
    assert.match(String(now(times(10_000), { limit: 700 }).data['text/plain']), /limit: 7000 \}/);
  });

  test('says nothing of what is left out where all is there', () => {
    const row = {
      id: 1,
      note: 'x'.repeat(200),
      embedding: new Float32Array(384),
      tags: ['a'],
      struct: { a: { b: 1 } },
    };
    assert.doesNotMatch(textOf(row) + htmlOf(row), /Not everything/);
  });

  test('shows as many entries as are asked for', () => {
    const { data } = now(times(10_000), { limit: 10_000 });
    assert.match(String(data['text/html']), /9999/);
    assert.match(String(data['text/plain']), /9999\n?\]$/);
  });

  test('of ten thousand properties is bounded as text', () => {
    const wide = Object.fromEntries(times(10_000).map((i) => [`key${i}`, { value: i }]));
    const text = textOf(wide);
    assert.match(text, /^\{\n {2}key0: \{ value: 0 \}\n/);
    assert.match(text, /… 9,900 more\n\}/);
  });

  test('of a hundred million entries is bounded before it is written', () => {
    const level = (depth: number): unknown[] => Array.from({ length: 100 }, () => (depth > 0 ? inner[depth - 1] : 1));
    const inner: unknown[][] = [];
    for (let depth = 0; depth < 4; depth++) inner.push(level(depth));
    assert.ok(JSON.stringify(now(inner[3]).data).length < 400_000);
  });

  test('is shown to a depth, and says that there is more', () => {
    let deep: object = { end: 'unseen' };
    for (let i = 0; i < 20; i++) deep = { deep, list: times(20) };
    const html = htmlOf(deep);
    assert.doesNotMatch(html, /unseen/);
    assert.match(
      html,
      /Object \{ … \}[^]*Not everything is shown: it has more than 6 levels\. For more levels, display a part/,
    );
  });

  test('has its class as a name, whatever its constructor says', () => {
    class Mug {
      readonly list = times(200);
    }
    Object.defineProperty(Mug.prototype, 'constructor', { get: () => raise('was run') });
    class Cup extends Array<number> {}
    assert.match(htmlOf({ mug: new Mug(), cup: Cup.from(times(200)) }), /cup<\/span>: Cup\(200\)/);
  });

  test('is an error with its stack in the lines of the cells, its cause and what else it has', () => {
    const error = Object.assign(new TypeError('bad', { cause: new Error('below') }), { code: 7 });
    error.stack = 'TypeError: bad\n    at evalmachine:1:2\n    at other:3:4';
    const { data } = now(error);
    assert.match(String(data['text/html']), /TypeError: bad[^]*<pre>\s+at cell:1:2\n\s+at other:3:4<\/pre>[^]*code/);
    assert.match(String(data['text/html']), /cause<\/span>: Error: below/);
    assert.match(String(data['text/plain']), /^TypeError: bad\n\s+at cell:1:2[^]*\[cause\]: Error: below/);
  });

  test('has its own words by inspect.custom', () => {
    assert.deepEqual(now({ [inspect.custom]: () => 'one\ntwo' }).data, { 'text/plain': 'one\ntwo' });
  });

  test('whose own words fail is shown all the same', () => {
    const value = {
      [inspect.custom]: () => {
        throw new Error('no');
      },
      a: 1,
    };
    assert.match(textOf(value), /a: 1/);
  });

  test('has a table inside of it by name, not by its buffers', () => {
    const value = { table: tableFromArrays({ n: times(3) }), column: tableFromArrays({ n: times(3) }).getChildAt(0) };
    assert.match(textOf(value), /table: Table\(3 rows × 1 column\)/);
    assert.match(textOf(value), /column: Vector\(3 values\)/);
  });

  test('is a row whose values are shown as in tables, with short vectors', () => {
    const made = inferRows([
      {
        price: Decimal.from('18.90'),
        at: new Timestamp(1_709_210_096_789_001n, 'us'),
        noon: new Time(43_200n, 's'),
        took: new Duration(1500n, 'ms'),
        vector: new Float32Array(768).fill(0.1),
        bytes: new Uint8Array(100),
        tags: new Map([['a', 1]]),
      },
    ]);
    const [row] = readRows(made);
    const parts = [
      'price: 18.90',
      'at: 2024-02-29T12:34:56.789001Z',
      'noon: 12:00:00',
      'took: 1.500s',
      'vector: Float32Array(768) [ 0.1, 0.1, 0.1, 0.1, … 764 more ]',
      'bytes: Uint8Array 0x0000000000000000… (100 bytes)',
      "tags: Map(1) { 'a' => 1 }",
    ];
    for (const part of parts) assert.ok(textOf(row).includes(part), `${textOf(row)} does not have ${part}`);
    // Many rows are shown as an outline, in which a vector is one line, too.
    const outline = textOf(times(400).map(() => row));
    for (const part of parts) assert.ok(outline.includes(part), `${outline.slice(0, 2000)} does not have ${part}`);
    const html = htmlOf(row);
    for (const part of ['18.90', '2024-02-29T12:34:56.789001Z', '12:00:00', '1.500s'])
      assert.ok(
        html.includes(`: <span class="d">${part}</span>`) || html.includes(part),
        `${html} does not have ${part}`,
      );
    assert.match(html, /vector<\/span>: Float32Array\(768\)[^]*Show 100 more of 748/);
    assert.match(textOf(row?.['vector']), /668 more items/);
  });

  test('has a long text folded, and the rest counted', () => {
    const html = htmlOf({ text: 'line\n'.repeat(5000) });
    assert.match(html, /<pre>line\nline/);
    assert.match(html, /15,000 more characters<\/pre>/);
  });

  test('has holes, symbols and null prototypes named', () => {
    // oxlint-disable-next-line no-sparse-arrays
    const value = [, Object.assign(Object.create(null) as object, { [Symbol('s')]: times(200) })];
    const html = htmlOf(value);
    assert.match(html, /&lt;empty&gt;/);
    assert.match(html, /Object: null prototype[^]*\[Symbol\(s\)\]/);
  });
});

suite('A value with forms of its own', () => {
  const display = Symbol.for('Jupyter.display');

  for (const [name, value, html] of [
    ['Symbol.for("Jupyter.display")', { [display]: () => ({ 'text/html': 'own' }) }, 'own'],
    ['a promise of it', { [display]: async () => ({ 'text/html': 'later' }) }, 'later'],
    ['a proxy around it', new Proxy({ [display]: () => ({ 'text/html': 'wrapped' }) }, {}), 'wrapped'],
    ['_repr_mimebundle_', { _repr_mimebundle_: () => ({ 'text/html': 'ipython' }) }, 'ipython'],
    ['toHtml', { toHtml: () => '<b>html</b>' }, '<b>html</b>'],
    ['a promise of toHtml', { toHtml: async () => '<b>html</b>' }, '<b>html</b>'],
  ] as const) {
    test(`is shown by ${name}`, async () => {
      assert.equal((await show(value)).data['text/html'], html);
    });
  }

  test('may bring metadata, as IPython has it', async () => {
    const { metadata } = await show({
      _repr_mimebundle_: () => [{ 'text/html': 'x' }, { 'text/html': { isolated: true } }],
    });
    assert.deepEqual(metadata, { 'text/html': { isolated: true } });
  });

  test('keeps a text twin beside its HTML', async () => {
    const { data } = await show({ toHtml: () => '<b>html</b>', a: 1 });
    assert.match(String(data['text/plain']), /a: 1/);
  });

  test('fails with what its method throws, at once or later', async () => {
    assert.throws(() => show({ toHtml: () => raise('now') }), /now/);
    await assert.rejects(async () => show({ [display]: async () => raise('later') }), /later/);
  });

  test('that gives something else is shown as the value it is', () => {
    assert.deepEqual(Object.keys(now({ [display]: () => 7, toHtml: 1 }).data), ['text/plain']);
  });
});

function raise(message: string): never {
  throw new Error(message);
}
