import assert from 'node:assert/strict';
import {
  Binary,
  Decimal,
  Field,
  FixedSizeList,
  Float32,
  Int64,
  makeData,
  Table,
  tableFromArrays,
  TimestampMillisecond,
  Utf8,
  vectorFromArray,
} from '#arrow';
import { readRows } from '#catalog/arrow/rowValues.ts';
import { chartSpec } from '#session/display/chartData.ts';

const vector = makeData({
  type: new FixedSizeList(2, new Field('item', new Float32(), true)),
  length: 2,
  nullCount: 0,
  child: makeData({ type: new Float32(), data: Float32Array.of(1, 2, 3, 4) }),
});
const table = new Table({
  id: vectorFromArray([1n, 2n ** 60n], new Int64()),
  price: vectorFromArray([Uint32Array.of(1890, 0, 0, 0), null], new Decimal(2, 10, 128)),
  sold: vectorFromArray([new Date(0), null], new TimestampMillisecond()),
  name: vectorFromArray(['a', 'b'], new Utf8()),
  photo: vectorFromArray([Buffer.from('x'), null], new Binary()),
  embedding: new Table({ v: vector as never }).getChildAt(0)!,
});
const plain = [
  { id: 1, price: 18.9, sold: '1970-01-01T00:00:00.000Z', name: 'a' },
  { id: 2 ** 60, price: null, sold: null, name: 'b' },
];

const bar = (values: unknown) => ({ mark: 'bar', data: { values }, encoding: { x: { field: 'name' } } });
async function* stream<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

/** Returns the specification as its JSON, and the notes. */
async function drawn(spec: Record<string, unknown>, limit?: number): Promise<{ spec: unknown; notes: string[] }> {
  const made = await chartSpec(spec, { limit });
  return { spec: JSON.parse(JSON.stringify(made.spec)) as unknown, notes: made.notes };
}

suite('The data of a chart', () => {
  for (const [what, values] of [
    ['a table', table],
    ['a record batch', table.batches[0]],
    ['an array of record batches', table.batches],
    ['a promise of a table', Promise.resolve(table)],
    ['a stream of record batches', stream(table.batches)],
    ['a stream with its schema', { schema: table.schema, batches: stream(table.batches) }],
  ] as const)
    test(`may be ${what}`, async () => {
      assert.deepEqual(await drawn(bar(values)), { spec: bar(plain), notes: [] });
    });

  test('may be rows of a table, whose lists stay', async () => {
    const rows = plain.map((row, index) => ({
      ...row,
      embedding: index === 0 ? [1, 2] : [3, 4],
      ...(index === 1 && { photo: null }),
    }));
    assert.deepEqual((await drawn(bar(readRows(table)))).spec, bar(rows));
  });

  test('has a vector only if the specification names its column', async () => {
    const transform = [{ calculate: 'datum.embedding[0]', as: 'first' }];
    const { spec } = await drawn({ ...bar(table), transform });
    const { values } = (spec as { data: { values: Record<string, unknown>[] } }).data;
    assert.deepEqual(values[1]?.['embedding'], [3, 4]);
  });

  test('may be anywhere in the specification, and without values around it', async () => {
    const spec = { data: table, datasets: { own: table }, layer: [{ data: { name: 'x', values: table } }] };
    assert.deepEqual((await drawn(spec)).spec, {
      data: { values: plain },
      datasets: { own: plain },
      layer: [{ data: { name: 'x', values: plain } }],
    });
  });

  test('has the first rows of many, with a sentence', async () => {
    const many = tableFromArrays({ n: Int32Array.from({ length: 6000 }, (_, i) => i) });
    const first = await drawn(bar(many));
    assert.equal((first.spec as { data: { values: unknown[] } }).data.values.length, 5000);
    assert.deepEqual(first.notes, [
      'The chart draws the first 5,000 of 6,000 rows. Aggregate the rows first, for example with sql, or pass { limit: 50000 } as a second argument.',
    ]);
    assert.match((await drawn(bar(stream(many.batches)), 7)).notes[0] ?? '', /^The chart draws the first 7 rows\./);
    assert.deepEqual((await drawn(bar(many), 6000)).notes, []);
  });

  test('is an error if its value is undefined, because the chart would be empty', () => {
    for (const data of [undefined, { values: undefined }])
      assert.throws(() => chartSpec({ mark: 'bar', data }, {}), { kind: 'InvalidInput', what: /no data/ });
    assert.throws(() => chartSpec({ layer: [{ data: { values: undefined } }] }, {}), { kind: 'InvalidInput' });
    assert.deepEqual(chartSpec({ data: { url: 'x.csv' } }, {}), { spec: { data: { url: 'x.csv' } }, notes: [] });
  });

  test('of Plotly may be columns of tables and typed arrays', async () => {
    const trace = { x: table.getChild('name'), y: table.getChild('price'), z: Float64Array.of(1, 2), w: [1n] };
    assert.deepEqual((await drawn({ data: [trace] })).spec, {
      data: [{ x: ['a', 'b'], y: [18.9, null], z: [1, 2], w: [1] }],
    });
  });

  test('is read at once if nothing has to be awaited, and stays as it is if it is plain', () => {
    const spec = bar([{ n: 1, when: new Date(0), inner: { a: [null, 'b'] } }]);
    const made = chartSpec(spec, {});
    assert.ok(!(made instanceof Promise));
    assert.deepEqual(made.spec, spec);
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    assert.throws(() => JSON.stringify(chartSpec(cycle, {})), /circular/);
  });
});
