import assert from 'node:assert/strict';
import { runInNewContext } from 'node:vm';
import { Field, Float64, Schema, Utf8 } from '#arrow';
import { updateArguments, updateEntries } from '#catalog/arguments/updateEntries.ts';
import { sqlLiteral } from '#catalog/sqlText.ts';
import type { UpdateSpec } from '#catalog/table/table.ts';
import { isCatalogError } from '#shared/errors.ts';
import { fails } from '../../contract/expect.ts';

const refused = (call: () => unknown, ...words: string[]): void => {
  assert.throws(call, (error: unknown) => {
    assert.ok(isCatalogError(error, 'InvalidInput'), String(error));
    for (const word of words) assert.ok(error.message.includes(word), `"${error.message}" does not say "${word}"`);
    return true;
  });
};

suite('SQL literals', () => {
  test('of text double its quotes and leave everything else as it is', () => {
    assert.equal(sqlLiteral("it's"), "'it''s'");
    assert.equal(sqlLiteral("'; DROP TABLE t; --"), "'''; DROP TABLE t; --'");
    assert.equal(
      sqlLiteral('back\\slash\nline "double" `tick` %_ ünï 😀 \0'),
      '\'back\\slash\nline "double" `tick` %_ ünï 😀 \0\'',
    );
    assert.equal(sqlLiteral(''), "''");
  });

  test('of numbers stay numbers of their kind', () => {
    const cases: readonly [unknown, string][] = [
      [0, '0'],
      [-0, '-0.0'],
      [-7, '-7'],
      [1.5, '1.5'],
      [5e-324, '5e-324'],
      [1e300, '1e+300'],
      [2 ** 53, '9.007199254740992e+15'],
      [2 ** 53 - 1, '9007199254740991'],
      [9_007_199_254_740_993n, '9007199254740993'],
      [2n ** 64n - 1n, '18446744073709551615'],
      [-(2n ** 63n) + 1n, '-9223372036854775807'],
      [-(2n ** 63n), "CAST('-9223372036854775808' AS BIGINT)"],
    ];
    for (const [value, sql] of cases) assert.equal(sqlLiteral(value), sql);
  });

  test('of nothing, truth, times and bytes', () => {
    assert.equal(sqlLiteral(null), 'NULL');
    assert.equal(sqlLiteral(undefined), 'NULL');
    assert.equal(sqlLiteral(true), 'TRUE');
    assert.equal(sqlLiteral(false), 'FALSE');
    assert.equal(sqlLiteral(new Date('2024-02-29T12:34:56.789Z')), "timestamp '2024-02-29 12:34:56.789'");
    assert.equal(sqlLiteral(new Date(-1)), "timestamp '1969-12-31 23:59:59.999'");
    assert.equal(sqlLiteral(Uint8Array.of(0, 255, 16)), "X'00ff10'");
    assert.equal(sqlLiteral(new Uint8Array()), "X''");
  });

  test('of lists have one type for all', () => {
    assert.equal(sqlLiteral([1, 2, 3]), '[1, 2, 3]');
    assert.equal(sqlLiteral([1, 2.5]), '[1.0, 2.5]');
    assert.equal(sqlLiteral(Float32Array.of(1, 0.5)), '[1.0, 0.5]');
    assert.equal(sqlLiteral(BigInt64Array.of(1n, -2n)), '[1, -2]');
    assert.equal(sqlLiteral(["a'b", 'c']), "['a''b', 'c']");
    assert.equal(sqlLiteral([[1, 2], [3]]), '[[1, 2], [3]]');
  });

  test('are made of the values of another realm too', () => {
    assert.equal(sqlLiteral(runInNewContext('new Date(0)')), "timestamp '1970-01-01 00:00:00.000'");
    assert.equal(sqlLiteral(runInNewContext('Uint8Array.of(1)')), "X'01'");
    assert.equal(sqlLiteral(runInNewContext('[1, 2]')), '[1, 2]');
  });

  test('are refused for what has none, naming the column', () => {
    for (const value of [Number.NaN, Infinity, -Infinity])
      refused(() => sqlLiteral(value, 'price'), '"price"', String(value));
    refused(() => sqlLiteral(2n ** 64n, 'id'), '"id"', '64 bits');
    refused(() => sqlLiteral(-(2n ** 63n) - 1n, 'id'), '64 bits');
    refused(() => sqlLiteral('half \ud800 pair', 'name'), '"name"', 'surrogate');
    refused(() => sqlLiteral(new Date(Number.NaN), 'at'), '"at"', 'invalid Date');
    refused(() => sqlLiteral(new Date('+012000-01-01T00:00:00Z'), 'at'), '12000');
    refused(() => sqlLiteral({ x: 1 }, 'place'), '"place"', 'object');
    refused(() => sqlLiteral(() => 1, 'f'), 'function');
    refused(() => sqlLiteral(Symbol('s'), 'f'), 'symbol');
    refused(() => sqlLiteral([], 'tags'), 'empty');
    refused(() => sqlLiteral([1, null], 'tags'), 'position 1');
    refused(() => sqlLiteral([1, Number.NaN], 'vector'), '"vector[1]"');
  });
});

const schema = new Schema([
  new Field('name', new Utf8(), true),
  new Field('note', new Utf8(), true),
  new Field('a', new Float64(), true),
]);
const entriesOf = (spec: UpdateSpec) => updateEntries(updateArguments(spec, {}), () => Promise.resolve(schema));

const wrong = (spec: UpdateSpec, ...words: string[]) => fails(async () => entriesOf(spec), 'InvalidInput', ...words);

suite('the columns of an update', () => {
  test('are values as literals and SQL as it is', async () => {
    const spec: UpdateSpec = {
      where: 'id = 3',
      values: { name: "it's", note: null },
      valuesSql: { price: 'price * 2' },
    };
    assert.deepEqual(await entriesOf(spec), [
      ['name', "'it''s'"],
      ['note', 'NULL'],
      ['price', 'price * 2'],
    ]);
  });

  test('are refused where they make no sense', async () => {
    await wrong({}, 'no column');
    await wrong({ values: {} }, 'no column');
    await wrong({ values: { a: 1 }, valuesSql: { a: '2' } }, 'two values', '"a"');
    await wrong({ valuesSql: { a: ' ' } }, '"a"');
    await wrong({ where: '', values: { a: 1 } }, 'filter is empty');
    await wrong({ value: { a: 1 } } as UpdateSpec, '"value"', 'values');
  });
});
