import assert from 'node:assert/strict';
import * as arrow from '#arrow';
import { typeOfJson } from '#catalog/arrow/jsonArrowTypes.ts';
import { lanceSchema, typeOfLance } from '#engine/server/lanceTypeNames.ts';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { isCatalogError } from '#shared/errors.ts';

const { Field, Int32, Schema, Struct, TimeUnit, Utf8 } = arrow;

const named: readonly (readonly [name: string, type: arrow.DataType])[] = [
  ['null', new arrow.Null()],
  ['bool', new arrow.Bool()],
  ['int8', new arrow.Int8()],
  ['uint64', new arrow.Uint64()],
  ['halffloat', new arrow.Float16()],
  ['float', new arrow.Float32()],
  ['double', new arrow.Float64()],
  ['string', new Utf8()],
  ['large_string', new arrow.LargeUtf8()],
  ['binary', new arrow.Binary()],
  ['large_binary', new arrow.LargeBinary()],
  ['date32:day', new arrow.DateDay()],
  ['date64:ms', new arrow.DateMillisecond()],
  ['time32:s', new arrow.Time(TimeUnit.SECOND, 32)],
  ['time64:ns', new arrow.Time(TimeUnit.NANOSECOND, 64)],
  ['duration:ms', new arrow.Duration(TimeUnit.MILLISECOND)],
  ['timestamp:us:-', new arrow.Timestamp(TimeUnit.MICROSECOND)],
  ['timestamp:s:UTC', new arrow.Timestamp(TimeUnit.SECOND, 'UTC')],
  ['timestamp:ns:+02:00', new arrow.Timestamp(TimeUnit.NANOSECOND, '+02:00')],
  ['decimal:128:10:2', new arrow.Decimal(2, 10, 128)],
  ['decimal:128:5:-2', new arrow.Decimal(-2, 5, 128)],
  ['decimal:256:50:3', new arrow.Decimal(3, 50, 256)],
  ['dict:string:int8:false', new arrow.Dictionary(new Utf8(), new arrow.Int8())],
  ['dict:timestamp:us:UTC:uint16:false', new arrow.Dictionary(new arrow.Timestamp(TimeUnit.MICROSECOND, 'UTC'), new arrow.Uint16())],
]; // prettier-ignore

const typeIn = (type: arrow.DataType): unknown =>
  lanceSchema(new Schema([new Field('c', type, true)]), 't').fields[0]?.type;

suite("Lance's names of types", () => {
  for (const [name, type] of named) {
    test(`are written and read: ${name}`, () => {
      assert.deepEqual(typeIn(type), { type: name });
      assert.equal(typeText(typeOfJson(typeOfLance({ type: name }))), typeText(type));
    });
  }

  test('are written and read in lists and structs', () => {
    const at = new Field('at', new arrow.Timestamp(TimeUnit.MILLISECOND, 'UTC'), false, new Map([['k', 'v']]));
    const struct = new Struct([at, new Field('v', new arrow.FixedSizeList(2, new Field('item', new arrow.Float32(), true)), true)]); // prettier-ignore
    for (const type of [
      new arrow.List(new Field('item', struct, true)),
      new arrow.LargeList(new Field('item', new arrow.FixedSizeBinary(3), true)),
    ]) {
      assert.equal(typeText(typeOfJson(typeOfLance(typeIn(type)))), typeText(type));
    }
    assert.deepEqual(typeIn(struct), {
      type: 'struct',
      fields: [
        { name: 'at', nullable: false, type: { type: 'timestamp:ms:UTC' }, metadata: { k: 'v' } },
        {
          name: 'v',
          nullable: true,
          type: {
            type: 'fixed_size_list',
            length: 2,
            fields: [{ name: 'item', nullable: true, type: { type: 'float' } }],
          },
        },
      ],
    });
  });

  test('are missing for some types, and the error names the column', () => {
    const entries = new Field('entries', new Struct([new Field('key', new Utf8(), false), new Field('value', new Int32(), true)]), false); // prettier-ignore
    for (const type of [
      new arrow.Map_(entries as never),
      new arrow.Interval(arrow.IntervalUnit.DAY_TIME),
      new arrow.Decimal(2, 9, 32),
      new arrow.Dictionary(new arrow.List(new Field('item', new Int32(), true)), new Int32()),
    ]) {
      const schema = new Schema([new Field('deep', new Struct([new Field('odd', type, true)]), true)]);
      assert.throws(
        () => lanceSchema(schema, 'shop'),
        (error) =>
          isCatalogError(error, 'Unsupported') &&
          ['"shop"', '"deep.odd"', typeText(type), 'connectNamespace'].every((word) => error.message.includes(word)),
      );
    }
  });

  test('are left to the reader of the specification if they are unknown', () => {
    for (const type of [
      'map',
      'timestamp:years:UTC',
      'decimal:99:1:1',
      'dict:',
      'dict:string:float:false',
      `${'dict:'.repeat(9000)}a:int8:false`,
    ]) {
      assert.throws(
        () => typeOfJson(typeOfLance({ type })),
        (error) => isCatalogError(error, 'InvalidInput'),
        type,
      );
    }
    assert.equal(typeOfLance(null), null);
  });
});
