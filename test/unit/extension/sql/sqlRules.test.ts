import assert from 'node:assert/strict';
import {
  firstQuery,
  maxHistory,
  namedConnections,
  problemRange,
  readHistory,
  resultTitle,
  withQuery,
  writeQuestion,
} from '../../../../extension/sql/sqlRules.ts';

const rangeText = (file: string, start: number, offset: number | null): string => {
  const range = problemRange(file, start, { message: '', offset });
  return file.slice(range.start, range.end);
};

const query = (text: string, at = 1) => ({ text, connection: 'shop', at });

suite('The rules of SQL files', () => {
  test('name a result by the first words of its statement, without comments', () => {
    assert.equal(resultTitle('select 1', 'shop'), 'select 1 (shop)');
    assert.equal(resultTitle('-- top\nselect *\n  from /* all */ orders', 'shop'), 'select * from orders (shop)');
    const long = resultTitle(`select ${'column_with_a_name, '.repeat(20)}x from t`, 'shop');
    assert.match(long, /^select column_with_a_name.*… \(shop\)$/);
    assert.ok(long.length < 45);
  });

  test('write the first query of a table with the quotes that its names need', () => {
    assert.equal(firstQuery(undefined), '');
    assert.equal(firstQuery(['orders']), 'select * from orders limit 100');
    assert.equal(firstQuery(['shop', 'eu', 'orders']), 'select * from "shop/eu".orders limit 100');
    assert.equal(firstQuery(['order']), 'select * from "order" limit 100');
    assert.equal(firstQuery(['a "b"']), 'select * from "a ""b""" limit 100');
  });

  test('find the connections that a statement names, and no others', () => {
    const names = ['company', 'my "own"', 'shop', 'absent'];
    const text = `select 'absent', absent from "company".orders, "my ""own""".t -- absent.t`;
    assert.deepEqual(namedConnections(text, names), ['company', 'my "own"']);
    assert.deepEqual(namedConnections("from version('shop.orders', 7)", names), ['shop']);
  });

  test('ask before a statement writes, naming table and connection', () => {
    for (const [effect, verb] of [
      ['create', 'Create'],
      ['replace', 'Replace'],
      ['insert', 'Add'],
    ] as const) {
      const { message, action } = writeQuestion(effect, { table: 'shop.top', connection: 'company' });
      assert.ok(message.startsWith(verb) && message.includes('"shop.top"') && message.includes('"company"'), message);
      assert.ok(action.startsWith(verb));
    }
  });

  test('underline the word at the place of a problem', () => {
    const file = 'select 1;\nselect prise from t;\n';
    const start = file.indexOf('select p');
    assert.equal(rangeText(file, start, 'select '.length), 'prise');
    assert.equal(rangeText(file, start, null), 'select');
    // A query that ends too early.
    assert.equal(rangeText('select * from', 0, 'select * from'.length), 'from');
  });

  test('keep the last queries, the newest first and each once', () => {
    assert.deepEqual(withQuery([query('b'), query('a')], query('a', 2)), [query('a', 2), query('b')]);
    const other = { ...query('a'), connection: 'company' };
    assert.deepEqual(withQuery([other], query('a', 2)), [query('a', 2), other]);
    const many = Array.from({ length: maxHistory }, (_, index) => query(`select ${index}`));
    const more = withQuery(many, query('new'));
    assert.equal(more.length, maxHistory);
    assert.equal(more[0]?.text, 'new');
    assert.deepEqual(withQuery([], query('x'.repeat(30_000))), []);
  });

  test('start an empty history if the stored one has another form', () => {
    for (const stored of [undefined, 'x', [1], [{ text: 'a', connection: 'b', at: -1 }]])
      assert.deepEqual(readHistory(stored), []);
    assert.deepEqual(readHistory([{ text: 'a', connection: 'b', at: 5 }]), [{ text: 'a', connection: 'b', at: 5 }]);
  });
});
