import assert from 'node:assert/strict';
import { codeOf } from '#session/analysis/cellSource.ts';

/** Cells with their code. In the code, `·` stands for a blank that replaces another character. */
const cells: readonly (readonly [what: string, cell: string, code: string])[] = [
  ['code alone', 'const a = 1 % b;\na ? 1 : 2', 'const a = 1 % b;\na ? 1 : 2'],
  ['a line magic among code', 'a();\n%cd ..\nb()', 'a();\n······\nb()'],
  ['a line magic with blanks before it', '  %env A=1', '··········'],
  ['the code of a line that is timed', '%time await f()', '······await f()'],
  ['the code of a line that is timed often', '%timeit f()', '········f()'],
  ['the code of a line that is timed often, behind options', '%timeit -n 5 f()', '·············f()'],
  ['code that is timed and goes on below', '%time f(\n  1)\n%pwd', '····· f(\n  1)\n····'],
  ['a cell that is timed', '%%time\nf()', '······\nf()'],
  ['a line within a text of several lines', 'a(`\n%cd ..\n`)', 'a(`\n%cd ..\n`)'],
  ['a conditional expression that goes on below', 'const x = a\n  ? b\n  : c', 'const x = a\n  ? b\n  : c'],
  ['a magic of a strange name', '%tiem f()\na', '·········\na'],
  ['a cell magic', '%%sql\nselect *\nfrom a', '·····\n········\n······'],
  ['values of a query', '%%sql\nselect ${a.b}, ${f({ c: "}" })}', '·····\n·······;(a.b)··;(f({ c: "}" }))'],
  ['a value of a query that is not closed', '%%sql\nselect ${a.\nfrom b', '·····\n·······;(a.\n······'],
  ['a question before a name', '?db.openTable', '·············'],
  ['a question behind a name', 'db?', '···'],
  ['the head of a conditional expression', 'const x = a\nb?\n1 : 2', 'const x = a\nb?\n1 : 2'],
  ['a remainder on a line of its own', 'a\n  % b', 'a\n  % b'],
  ['lines that end as on Windows', '%cd ..\r\na', '······\r\na'],
];

suite('the code of a cell', () => {
  for (const [what, cell, code] of cells) {
    test(`is known in ${what}, at its place`, () => {
      const found = codeOf(cell);
      assert.equal(found, code.replaceAll('·', ' '));
      assert.equal(found.length, cell.length);
    });
  }

  test('declares the variable of %%sql behind its end, so that other cells know its name and type', () => {
    const cell = '%%sql --to top\nselect 1';
    assert.equal(codeOf(cell), `${' '.repeat(14)}\n${' '.repeat(8)}\nlet top!: arrow.Table;`);
    assert.match(codeOf('%%sql top\nselect 1'), /\nlet top!: arrow\.Table;$/);
    assert.equal(codeOf('%%sql --to a b\nselect 1').trim(), '');
  });
});
