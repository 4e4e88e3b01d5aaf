import assert from 'node:assert/strict';
import { type CellConverter, createCellConverter } from '#session/compile/cellConverter.ts';
import { tempFolder } from '../../../harness/temp.ts';

suite('The converter of cells', function () {
  this.timeout(60_000);
  let converter: CellConverter;
  suiteSetup(() => {
    converter = createCellConverter({ folder: tempFolder() });
  });
  suiteTeardown(() => converter.close());

  /** Returns the declarations after these cells. */
  const after = (...cells: string[]): string =>
    cells.reduce((previous, cell) => {
      const { problems, declarations } = converter.convert(previous, cell);
      assert.deepEqual(problems, []);
      return declarations;
    }, '');
  const outputOf = (cell: string, ...before: string[]): string =>
    (converter.convert(after(...before), cell).output ?? '').replace(/\n\/\/# source[^]*$/, '');

  test('reads and writes variables of cells as those of the notebook', () => {
    assert.equal(
      outputOf('let { a, b: [c] } = { a: 1, b: [n] }; f(a, { c })', 'let n = 1; function f(...all: unknown[]) {}'),
      'const [$cell_a, $cell_c, $cell_n, $cell_f] = $kernel.variables(["a", "c", "n", "f"]);\n({ a: $cell_a.v, b: [$cell_c.v] } = { a: 1, b: [$cell_n.v] });\n$kernel.value = (0, $cell_f.v)($cell_a.v, { c: $cell_c.v });',
    );
  });

  test('leaves names of inner scopes, properties and types alone', () => {
    assert.equal(
      outputOf('const g = (n: number) => n + o.n; let t: typeof n;', 'let n = 1; let o = { n };'),
      'const [$cell_g, $cell_o, $cell_t] = $kernel.variables(["g", "o", "t"]);\n$cell_g.v = ({ g: (n) => n + $cell_o.v.n }).g;\n$cell_t.v = void 0;',
    );
  });

  test('loads imports ahead of everything, and only those with something to run', () => {
    assert.equal(
      outputOf(
        'use(join); import { join, type ParsedPath } from "node:path"; import type { Stats } from "node:fs"; import "node:os"; function use(x: unknown) {}',
      ),
      'const [$cell_join, $cell_use] = $kernel.variables(["join", "use"]);\nawait $kernel.load("node:path", [["join", "join"]]);\nawait $kernel.load("node:os", []);\n$cell_use.v = use;\n(0, $cell_use.v)($cell_join.v);\nfunction use(x) { }',
    );
  });

  test('keeps of earlier declarations what a cell does not replace', () => {
    assert.equal(
      after('let a = 1, b = 2; interface Both { x: 1 }', 'let a = "text"; class Both {}', 'type Both = number'),
      'declare let b: number;\ndeclare let a: string;\ndeclare let Both: any;\ntype Both = number;\n',
    );
  });

  test('keeps the documentation of what was declared', () => {
    assert.match(
      after('/** Twice as much. */\nfunction twice(x: number) { return 2 * x }', '1'),
      /\/\*\* Twice as much\. \*\//,
    );
  });

  test('does not grow with cells that declare nothing, or the same again', () => {
    const once = after('let v = 1; import { join } from "node:path"');
    assert.equal(
      after('let v = 1; import { join } from "node:path"', '1', 'let v = 1', 'import { join } from "node:path"').length,
      once.length,
    );
  });

  test('says where a problem is in the text as it was written', () => {
    const { problems, output } = converter.convert('', 'const fine = 1;\nconst bad: string = fine;');
    const [problem] = problems;
    assert.ok(output);
    assert.deepEqual(
      { ...problem, message: undefined },
      {
        start: 22,
        end: 25,
        line: 2,
        column: 7,
        message: undefined,
        code: 2322,
        severity: 'error',
        isSyntax: false,
        sourceLine: 'const bad: string = fine;',
        length: 3,
      },
    );
  });

  test('refuses a cell that is not finished, whatever it declares', () => {
    for (const cell of ['if (true) {', 'let a = 1; if (a) {', 'const text = `']) {
      const { problems, output } = converter.convert('', cell);
      assert.equal(output, undefined, cell);
      assert.deepEqual(
        problems.map(({ end, isSyntax }) => [end, isSyntax]),
        [[cell.length, true]],
        cell,
      );
    }
  });

  test('answers what an editor asks, at the positions of the cell', () => {
    const previous = after('const known = { first: 1, second: 2 }');
    const { service, file } = converter.service(previous, 'known.');
    const names = service.getCompletionsAtPosition(file, 6, {})?.entries.map(({ name }) => name);
    assert.deepEqual(names, ['first', 'second']);
  });
});

suite('The converter of JavaScript cells', function () {
  this.timeout(60_000);
  let converter: CellConverter;
  suiteSetup(() => {
    converter = createCellConverter({ folder: tempFolder(), language: 'javascript' });
  });
  suiteTeardown(() => converter.close());

  const convert = (cell: string, previous = '') => converter.convert(previous, cell, { check: false });
  const after = (...cells: string[]): string =>
    cells.reduce((previous, cell) => convert(cell, previous).declarations, '');

  test('parses what TypeScript takes for types as JavaScript', () => {
    assert.match(convert('console.log(low < high > (0))').output ?? '', /low < high > \(0\)/);
    assert.match(convert('<b>bold</b>').output ?? '', /_jsx\("b"/);
  });

  test('refuses syntax that only TypeScript has', () => {
    const { problems, output } = convert('let typed: number = 5');
    assert.equal(output, undefined);
    assert.deepEqual(
      problems.map(({ message, isSyntax, line, column }) => [message, isSyntax, line, column]),
      [['Type annotations can only be used in TypeScript files.', true, 1, 12]],
    );
  });

  test('knows the fields that a constructor or a later statement adds', () => {
    const previous = after(
      'class Hello { constructor(name) { this.name = name } }\nconst hello = new Hello("a")',
      'const options = {}; options.limit = 5',
    );
    for (const [code, expected] of [
      ['hello.', ['name']],
      ['options.', ['limit']],
    ] as const) {
      const { service, file } = converter.service(previous, code);
      const names = service.getCompletionsAtPosition(file, code.length, {})?.entries.map(({ name }) => name) ?? [];
      for (const name of expected) assert.ok(names.includes(name), `${code} ${names.join()}`);
    }
  });

  test('shares what cells declare, whatever names that are words of TypeScript', () => {
    const previous = after(
      'var again = 1; for (var i = 0; i < 3; i++) again += i',
      'let type = 5, any = 1, declare = 2, namespace = 3',
      'import fs from "fs"; import * as path from "path"; import { join as j } from "path"; const os = require("os")',
      'let again = "text"',
    );
    assert.match(
      convert('[again, i, type, any, declare, namespace, fs, path, j, os]', previous).output ?? '',
      /= \[\$cell_again\.v, \$cell_i\.v, \$cell_type\.v, \$cell_any\.v, \$cell_declare\.v, \$cell_namespace\.v, \$cell_fs\.v, \$cell_path\.v, \$cell_j\.v, \$cell_os\.v\]/,
    );
  });

  test('writes down types by comments of documentation', () => {
    assert.match(after('/** @type {number[]} */\nconst list = []'), /const list: number\[\];/);
  });
});
