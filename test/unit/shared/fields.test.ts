import assert from 'node:assert/strict';
import { fieldAt, listAt, mapAt, numberAt, stringAt, textsAt } from '#shared/fields.ts';

const reply: unknown = JSON.parse(`{
  "status": { "name": "a", "empty": "", "count": 2, "huge": 1e999, "list": ["a", 1, null], "labels": { "a": "b", "c": 1 } }
}`);

suite('Fields of JSON', () => {
  test('are found by their path', () => {
    assert.equal(fieldAt(reply, 'status', 'count'), 2);
    assert.equal(stringAt(reply, 'status', 'name'), 'a');
    assert.equal(numberAt(reply, 'status', 'count'), 2);
    assert.deepEqual(listAt(reply, 'status', 'list'), ['a', 1, null]);
    assert.deepEqual(textsAt(reply, 'status', 'list'), ['a']);
    assert.deepEqual(mapAt(reply, 'status', 'labels'), { a: 'b' });
  });

  test('of another type read like missing ones', () => {
    for (const path of [['status', 'count'], ['status', 'empty'], ['status'], ['other'], ['status', 'name', 'length']])
      assert.equal(stringAt(reply, ...path), undefined, path.join('.'));
    for (const path of [
      ['status', 'name'],
      ['status', 'huge'],
      ['other', 'count'],
    ])
      assert.equal(numberAt(reply, ...path), undefined, path.join('.'));
    assert.deepEqual(listAt(reply, 'status', 'labels'), []);
    assert.deepEqual(mapAt(reply, 'status', 'list'), {});
    for (const value of [undefined, null, 'status', 1, [reply]]) assert.equal(fieldAt(value, 'status'), undefined);
  });

  test('are never those that every object inherits', () => {
    assert.equal(fieldAt(reply, 'toString'), undefined);
    assert.equal(fieldAt(reply, 'status', '__proto__'), undefined);
    assert.equal(fieldAt(reply, 'constructor', 'name'), undefined);
  });
});
