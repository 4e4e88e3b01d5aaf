import assert from 'node:assert/strict';
import {
  Binary,
  type DataType,
  Dictionary,
  Field,
  FixedSizeList,
  Float16,
  Float32,
  Int32,
  Int64,
  Int8,
  List,
  Map_,
  Struct,
  TimestampMicrosecond,
  Utf8,
  vectorFromArray,
} from '#arrow';
import { type CellValue, valueOf } from '../../../../webviews/grid/cellValue.ts';
import { jsonParts } from '../../../../webviews/grid/detail/valueFile.ts';

const field = (name: string, type: DataType): Field => new Field(name, type, true);

/** Returns the value of row 0 of a column. */
const first = (type: DataType, ...values: unknown[]): CellValue => valueOf(vectorFromArray(values, type), 0, undefined);

const json = (value: CellValue): unknown => JSON.parse([...jsonParts(value)].join(''));

suite('The whole value of a cell', () => {
  test('of text and bytes are all its bytes', () => {
    const text = first(new Utf8(), 'é'.repeat(5000));
    assert.ok(text.kind === 'text');
    assert.equal(new TextDecoder().decode(text.bytes), 'é'.repeat(5000));
    const bytes = first(new Binary(), Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1));
    assert.ok(bytes.kind === 'binary');
    assert.deepEqual([bytes.bytes.length, bytes.mime], [9, 'image/png']);
  });

  test('of numbers and times is exact', () => {
    assert.deepEqual(first(new Int64(), 9_007_199_254_740_993n), { kind: 'number', text: '9007199254740993' });
    const time = first(new TimestampMicrosecond('UTC'), 1000);
    assert.equal(time.kind, 'time');
    assert.deepEqual(first(new Int64(), null), { kind: 'null' });
  });

  test('of a list of floats, or of integers in a fixed number, is a vector', () => {
    const floats = first(new FixedSizeList(3, field('item', new Float32())), [0.1, 2, 3]);
    assert.ok(floats.kind === 'vector');
    assert.deepEqual([floats.values.length, floats.itemText(0)], [3, '0.1']);
    const halves = first(new FixedSizeList(2, field('item', new Float16())), [0.5, -2]);
    assert.ok(halves.kind === 'vector');
    assert.deepEqual([...halves.values], [0.5, -2]);
    assert.equal(first(new FixedSizeList(2, field('item', new Int8())), [1, 2]).kind, 'vector');
    assert.equal(first(new List(field('item', new Int32())), [1, 2]).kind, 'list');
  });

  test('of nested values has items that are read when they are asked for', () => {
    const type = new Struct([
      field('id', new Int64()),
      field('__proto__', new List(field('item', new Utf8()))),
      field('none', new Utf8()),
    ]);
    const value = first(type, { id: 9_007_199_254_740_993n, ['__proto__']: null, none: null });
    assert.ok(value.kind === 'struct');
    assert.deepEqual([value.size, value.item(1).name], [3, '__proto__']);
    assert.match([...jsonParts(value)].join(''), /"id": 9007199254740993/);
    const map = new Map_(
      field('entries', new Struct([field('key', new Utf8()), field('value', new Int32())])) as never,
    );
    assert.deepEqual(json(first(map, new Map([['a', 1]]))), { a: 1 });
    const list = new List(field('item', new Struct([field('x', new Int32())])));
    assert.deepEqual(json(first(list, [{ x: 1 }, { x: null }])), [{ x: 1 }, { x: null }]);
  });

  test('of a dictionary is the value that it stands for, and of a later chunk its own', () => {
    const value = first(new Dictionary(new Utf8(), new Int32()), 'red', 'blue');
    assert.ok(value.kind === 'text');
    assert.equal(new TextDecoder().decode(value.bytes), 'red');
    const chunks = vectorFromArray([1, 2], new Int32()).concat(vectorFromArray([3], new Int32()));
    assert.deepEqual(valueOf(chunks, 2, undefined), { kind: 'number', text: '3' });
  });
});
