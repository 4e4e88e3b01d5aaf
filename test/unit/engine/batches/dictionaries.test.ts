import assert from 'node:assert/strict';
import {
  type DataType,
  Dictionary,
  Field,
  Int32,
  Int8,
  List,
  Struct,
  Table,
  tableFromIPC,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from '#arrow';
import { tableOf } from '#engine/batches/chunks.ts';
import { isCatalogError } from '#shared/errors.ts';

const dictionary = () => new Dictionary(new Utf8(), new Int32());
const batchOf = (type: DataType, values: unknown[]) => new Table({ c: vectorFromArray(values, type) }).batches[0]!;

const words = (from: number) => Array.from({ length: 100 }, (_, index) => `w${from + index}`);

suite('dictionaries of several batches', () => {
  for (const [what, type, value] of [
    ['a column', dictionary, (word: string | null) => word],
    ['a struct', () => new Struct([new Field('w', dictionary(), true)]), (w: string | null) => ({ w })],
    ['a list', () => new List(new Field('item', dictionary(), true)), (word: string | null) => [word, 'z']],
  ] as const) {
    test(`of ${what} become one, as a file needs it`, () => {
      const parts = [['a', null, 'b'], ['c', 'a'], ['b']].map((part) => part.map((word): unknown => value(word)));
      const batches = parts.map((part) => batchOf(type(), part));
      const read = tableFromIPC(tableToIPC(tableOf(batches[0]!.schema, batches), 'file'));
      assert.deepEqual(
        JSON.parse(JSON.stringify(read.toArray())),
        parts.flat().map((c) => ({ c })),
      );
      assert.equal(read.batches.length, 3);
    });
  }

  test('of more values than their indices count are refused', () => {
    const batches = [0, 100].map((from) => batchOf(new Dictionary(new Utf8(), new Int8()), words(from)));
    assert.throws(
      () => tableOf(batches[0]!.schema, batches),
      (error) => isCatalogError(error, 'InvalidInput') && /200/.test(error.message),
    );
  });
});
