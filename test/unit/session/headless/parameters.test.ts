import assert from 'node:assert/strict';
import { runInThisContext } from 'node:vm';
import { type Notebook, parseNotebook, tagsOf } from '#session/headless/notebookFile.ts';
import { injectParameters, literal, readParameter } from '#session/headless/parameters.ts';
import { isCatalogError } from '#shared/errors.ts';
import type { NotebookLanguage } from '#shared/notebookLanguage.ts';

/** Returns the value of the code that is written for a value. */
const valueOf = (value: unknown): unknown => runInThisContext(`(${literal(value)})`);

type Cell = [source: string, ...tags: string[]];

const notebook = (...cells: Cell[]): Notebook =>
  parseNotebook(
    JSON.stringify({
      cells: cells.map(([source, ...tags]) => ({ cell_type: 'code', source, metadata: { tags }, outputs: [] })),
      metadata: {},
      nbformat: 4,
      nbformat_minor: 5,
    }),
    'it',
  );

const injected = (given: Notebook, parameters: Record<string, unknown>, language?: NotebookLanguage) => {
  const written = Object.entries(parameters).map(
    ([name, value]) => [name, { text: JSON.stringify(value), value }] as const,
  );
  const { unknown } = injectParameters(given, new Map(written), language);
  return { unknown, cells: given.cells.map(({ source }) => source) };
};

suite('A parameter of the command line', () => {
  for (const [argument, value] of [
    ['x=5', 5],
    ['x=-1.5e3', -1500],
    ['x=true', true],
    ['x=null', null],
    ['x=["a", 1]', ['a', 1]],
    ['x={"a": {"b": []}}', { a: { b: [] } }],
    ['x="5"', '5'],
    ['x=05', '05'],
    ['x=plain text, with = in it', 'plain text, with = in it'],
    ['x=', ''],
    ['x=True', 'True'],
    ['x=9007199254740993', 9007199254740993n],
    ['x=[-12345678901234567890]', [-12345678901234567890n]],
  ] as const) {
    test(`${argument} is read as what it is`, () =>
      assert.deepEqual(readParameter(argument), ['x', { text: argument.slice(2), value }]));
  }

  test('without a value, or a name that a variable can have, is refused', () => {
    for (const [argument, said] of [
      ['limit', /"limit" has no value/],
      ['=5', /"" is not a valid variable name/],
      ['a b=5', /"a b" is not a valid variable name/],
      ['1x=5', /"1x" is not a valid variable name/],
    ] as const)
      assert.throws(
        () => readParameter(argument),
        (error) => isCatalogError(error, 'InvalidInput') && said.test(error.message),
      );
  });

  test('is written as code that gives it again', () => {
    for (const value of [
      0,
      -0,
      1e300,
      'a"b\\\n\u2028${x}`',
      '😀',
      [],
      {},
      [null, [true]],
      { 'a-b': { c: [1, 'x'] } },
      2n ** 70n,
    ])
      assert.deepEqual(valueOf(value), value);
    const parsed: unknown = JSON.parse('{"__proto__": 1}');
    const again = valueOf(parsed) as object;
    assert.deepEqual(Object.keys(again), ['__proto__']);
  });
});

suite('Parameters of a notebook', () => {
  test('come in a cell below the one that is tagged so', () => {
    const given = notebook(['import fs'], ['let limit = 10', 'parameters'], ['limit']);
    const { cells, unknown } = injected(given, { limit: 5 });
    assert.deepEqual(cells, ['import fs', 'let limit = 10', '// Parameters\nlimit = 5;', 'limit']);
    assert.deepEqual(unknown, []);
    assert.deepEqual(tagsOf(given.cells[2]!), ['injected-parameters']);
  });

  test('have no types in JavaScript', () => {
    const given = notebook(['const limit = 5; let name = "a"; const names = ["b"]', 'parameters']);
    const { cells } = injected(given, { limit: 7, name: 'c', names: ['d'] }, 'javascript');
    assert.equal(cells[1], '// Parameters\nlet limit = 7;\nname = "c";\nlet names = ["d"];');
  });

  test('take the place of those of an earlier run', () => {
    const given = notebook(['let a = 1', 'parameters'], ['// Parameters\na = 2;', 'injected-parameters'], ['a']);
    const { id } = given.cells[1]!;
    assert.deepEqual(injected(given, { a: 3 }).cells, ['let a = 1', '// Parameters\na = 3;', 'a']);
    assert.equal(given.cells[1]?.id, id);
  });

  test('come first where no cell is tagged, and are said to be unknown', () => {
    const { cells, unknown } = injected(notebook(['a']), { a: 1, b: 'x' });
    assert.deepEqual(cells, ['// Parameters\nlet a = 1;\nlet b = "x";', 'a']);
    assert.deepEqual(unknown, ['a', 'b']);
  });

  test('keep the types that their cell declares', () => {
    const source = [
      'const limit = 10, mode: "fast" | "slow" = "slow";',
      'let { other } = { other: 1 };',
      'var names: string[] = [];',
      'using file = null;',
    ].join('\n');
    const { cells, unknown } = injected(notebook([source, 'parameters']), {
      limit: 5,
      mode: 'fast',
      names: ['a'],
      other: 2,
    });
    assert.deepEqual(cells[1]?.split('\n').slice(1), [
      'const limit: number = 5;',
      'const mode: "fast" | "slow" = "fast";',
      'names = ["a"];',
      'let other = 2;',
    ]);
    assert.deepEqual(unknown, ['other']);
  });

  for (const [source, value, written] of [
    ['const names = ["a", "b"]', ['c'], 'const names: string[] = ["c"];'],
    ['const mixed = [1, `x`, -2]', [3], 'const mixed: (number | string)[] = [3];'],
    ['const on = (true)', 'no', 'const on: boolean = "no";'],
    ['const size = { rows: 5, "a-b": [false] }', {}, 'const size: { rows: number; "a-b": boolean[] } = {};'],
    ['const from = new Date(0)', 'x', 'let from = "x";'],
    ['const none = []', ['x'], 'let none = ["x"];'],
    ['const none = null', 1, 'let none = 1;'],
    ['const made = { at: now() }', {}, 'let made = {};'],
    ['const count = 5n', 6, 'const count: bigint = 6n;'],
    ['let count: bigint', 6, 'count = 6n;'],
    ['let zip = "a"', 5, 'zip = "5";'],
    ['const on: string = make()', true, 'const on: string = "true";'],
    ['const list = `a`', [1], 'const list: string = "[1]";'],
    ['let text: string', 'x', 'text = "x";'],
    ['let none = ""', null, 'none = null;'],
    ['let either: string | number', 5, 'either = 5;'],
  ] as const)
    test(`have the type that is plain to see in: ${source}`, () => {
      const [, name = ''] = /^\w+ (\w+)/.exec(source) ?? [];
      const { cells } = injected(notebook([source, 'parameters']), { [name]: value });
      assert.equal(cells[1], `// Parameters\n${written}`);
    });
});
