import assert from 'node:assert/strict';
import { readViewFile, viewFileSchema, writeViewFile, type ViewFile } from '#shared/viewFile.ts';
import { readViewText } from '../../../../extension/viewFiles/viewFileText.ts';

const least = { lanceView: 1, connection: { kind: 'dir', path: './catalog' }, table: 'shop/orders' };
const full: ViewFile = {
  connection: { kind: 'rest', uri: 'https://catalog.example.com', database: 'eu', name: 'company' },
  table: ['shop', 'a/b'],
  version: 3,
  view: {
    where: "amount > 400 AND name <> '</script>'",
    orderBy: [
      { column: 'amount', descending: true },
      { column: 'id', descending: false },
    ],
  },
  columns: {
    order: ['id', 'amount'],
    pinned: ['id'],
    hidden: ['note', '__proto__'],
    widths: [
      { name: 'id', width: 90 },
      { name: '__proto__', width: 80 },
    ],
    rowHeight: 'large',
  },
};

const problemOf = (value: unknown): string => {
  const read = readViewText(typeof value === 'string' ? value : JSON.stringify(value));
  if (!('problem' in read)) throw new Error('The file has no problem.');
  return `${read.problem.line}:${read.problem.column} ${read.problem.message}`;
};

suite('A view file', () => {
  test('is read as it was written', () => {
    assert.deepEqual(readViewText(writeViewFile(full)), { file: full });
    const small: ViewFile = {
      connection: { kind: 'dir', path: '.' },
      table: ['orders'],
      view: { where: '', orderBy: [] },
    };
    assert.deepEqual(readViewText(writeViewFile(small)), { file: small });
    assert.equal(
      writeViewFile(small),
      '{\n  "lanceView": 1,\n  "connection": {\n    "kind": "dir",\n    "path": "."\n  },\n  "table": "orders"\n}\n',
    );
  });

  test('needs a catalog and a table, and everything else has a default', () => {
    assert.deepEqual(readViewFile(least).file, {
      connection: { kind: 'dir', path: './catalog' },
      table: ['shop', 'orders'],
      view: { where: '', orderBy: [] },
    });
    assert.match(problemOf({ ...least, table: undefined }), /The file has no "table"/);
    assert.match(problemOf({ ...least, lanceView: 2 }), /lanceView must be 1, .* but is 2/);
  });

  test('with a mistake is refused, with its place', () => {
    const text =
      '{\n  "lanceView": 1,\n  "connection": { "kind": "dir", "path": "x" },\n  "table": "t",\n  "wher": "a > 1"\n}';
    assert.equal(problemOf(text), '5:3 wher is not a field. Did you mean "where"?');
    assert.match(problemOf('{\n  "lanceView": 1,\n  oops\n}'), /^3:3 The file is not valid JSON: invalid symbol\./);
    assert.match(problemOf({ ...least, where: 5 }), /where must be a SQL condition/);
    assert.match(
      problemOf({ ...least, orderBy: [{ column: 'a', descending: 'yes' }] }),
      /orderBy\[0\]\.descending must be true or false/,
    );
    assert.match(problemOf({ ...least, orderBy: [7] }), /orderBy\[0\] must be an object/);
    assert.match(problemOf({ ...least, columns: { hidden: [1] } }), /columns\.hidden must be a list of names/);
    assert.match(problemOf({ ...least, connection: { kind: 'dir', uri: 'https://a.b' } }), /connection has no "path"/);
    assert.match(
      problemOf({ ...least, connection: { kind: 'rest', uri: 'https://a.b', path: 'x' } }),
      /connection\.path has no meaning/,
    );
    for (const value of [null, [], 'text', 7])
      assert.match(problemOf(JSON.stringify(value)), /^1:1 The file must be an object/);
  });

  test('has no secrets', () => {
    const rest = { kind: 'rest', uri: 'https://catalog.example.com' };
    for (const name of ['apiKey', 'token', 'headers'])
      assert.match(problemOf({ ...least, connection: { ...rest, [name]: 'x' } }), /Keep secrets out of view files/);
    for (const uri of [
      'https://me:secret@a.b',
      'https://a.b?key=1',
      'https://a.b#x',
      'file:///etc',
      'javascript:alert(1)',
      'a.b',
    ])
      assert.match(problemOf({ ...least, connection: { ...rest, uri } }), /connection\.uri must be an address/, uri);
  });

  test('names no folder of another machine', () => {
    for (const path of [
      '\\\\evil\\share',
      '//evil/share',
      '/\\evil',
      'file://evil/share',
      'a\nb',
      'a\0b',
      ' ',
      'x'.repeat(5_000),
    ])
      assert.match(
        problemOf({ ...least, connection: { kind: 'dir', path } }),
        /connection\.path must be a path/,
        path.slice(0, 20),
      );
    for (const path of ['.', '../data', '~/data', '/data', 'C:\\data', 's3://bucket/data'])
      assert.notEqual(readViewFile({ ...least, connection: { kind: 'dir', path } }).file, undefined, path);
  });

  test('of any content changes nothing but its own view', () => {
    for (const text of [
      '{ "__proto__": { "where": "true" } }',
      `{ "lanceView": 1, "connection": { "kind": "dir", "path": "x", "__proto__": { "uri": "https://a.b" } }, "table": "t" }`,
    ])
      assert.match(problemOf(text), /__proto__ is not a field/);
    assert.equal(({} as Record<string, unknown>)['where'], undefined);
    const text = JSON.stringify(least).replace(/}$/, ', "columns": { "widths": { "__proto__": 5 } } }');
    const read = readViewText(text);
    assert.deepEqual('file' in read && read.file.columns?.widths, [{ name: '__proto__', width: 5 }]);
    // Too many levels for a parser that calls itself.
    const deep = `{ "lanceView": 1, "table": ${'['.repeat(200_000)}${']'.repeat(200_000)} }`;
    assert.match(problemOf(deep), /must be|no "connection"/);
  });

  test('has limits of length, and keeps the direction of names as data', () => {
    assert.match(problemOf({ ...least, where: 'x'.repeat(100_001) }), /at most 100000 characters/);
    assert.match(problemOf({ ...least, table: ['a'.repeat(1_001)] }), /table must be a path/);
    assert.match(problemOf({ ...least, table: Array.from({ length: 33 }, () => 'a') }), /table must be a path/);
    assert.match(problemOf({ ...least, table: ['\uD800'] }), /table must be a path/);
    const orderBy = Array.from({ length: 101 }, () => ({ column: 'a' }));
    assert.match(problemOf({ ...least, orderBy }), /orderBy has 101 columns/);
    assert.deepEqual(readViewFile({ ...least, table: ['a\u202Eb'] }).file?.table, ['a\u202Eb']);
  });

  test('has a schema for the editor', () => {
    const schema = viewFileSchema() as { required: string[]; properties: Record<string, unknown> };
    assert.deepEqual(schema.required, ['lanceView', 'connection', 'table']);
    assert.ok(['where', 'orderBy', 'columns', 'version'].every((name) => name in schema.properties));
  });
});
