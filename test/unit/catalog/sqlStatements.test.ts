import assert from 'node:assert/strict';
import { statementAt, statementsIn } from '#catalog/sqlStatements.ts';

const textsIn = (sql: string): string[] => statementsIn(sql).map(({ start, end }) => sql.slice(start, end));

/** Returns the statement at the bar. */
function textAt(marked: string): string | undefined {
  const offset = marked.indexOf('|');
  const sql = marked.replace('|', '');
  const found = statementAt(sql, offset);
  return found && sql.slice(found.start, found.end);
}

suite('The statements of a SQL file', () => {
  test('are separated by semicolons, but not by those in strings, names and comments', () => {
    assert.deepEqual(textsIn(''), []);
    assert.deepEqual(textsIn('-- nothing\n/* at; all */ ;;'), []);
    assert.deepEqual(textsIn('select 1'), ['select 1']);
    assert.deepEqual(textsIn(' select \';\' ; -- a;\nselect "a;b" /* ; */ from t;'), [
      "select ';'",
      'select "a;b" /* ; */ from t',
    ]);
    assert.deepEqual(textsIn("select 'it''s; so'; select 2"), ["select 'it''s; so'", 'select 2']);
  });

  test('belong to the cursor that is in them, or behind their semicolon on the line', () => {
    assert.equal(textAt('select 1|;\nselect 2'), 'select 1');
    assert.equal(textAt('select 1;|\nselect 2'), 'select 1');
    assert.equal(textAt('select 1; -- one |\nselect 2'), 'select 1');
    assert.equal(textAt('|select 1;select 2'), 'select 1');
    assert.equal(textAt('select 1;|select 2'), 'select 2');
    assert.equal(textAt('select 1;\n|\nselect 2'), 'select 2');
    assert.equal(textAt('select 1;\nsel|ect\n2;\nselect 3'), 'select\n2');
    assert.equal(textAt('select 1;\n\n|'), 'select 1');
    assert.equal(textAt('|\n\nselect 1'), 'select 1');
    assert.equal(textAt('-- only a comment |'), undefined);
  });
});
