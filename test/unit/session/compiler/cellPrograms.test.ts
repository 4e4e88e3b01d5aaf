import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript-6';
import { type ConvertedCell, createCellConverter } from '#session/compile/cellConverter.ts';
import { CellHost } from '#session/compiler/cellHost.ts';
import { cellOptions } from '#session/compiler/cellOptions.ts';
import { CellPrograms } from '#session/compiler/cellPrograms.ts';
import { sharedDocuments } from '#session/compiler/installedFiles.ts';
import { tempFolder } from '../../../harness/temp.ts';

/** A cell of each kind that a checker with earlier cells might confuse with another. */
const cells = [
  'let n = 1; n + 1',
  'n + m',
  'const m = "text"; const { length, ...others } = { length: 2, x: n };',
  'interface Point { x: number } const p: Point = { x: n }',
  'p.y',
  'm.toFixed(); n.toFixed()',
  'class Point { constructor(readonly x: number) {} twice() { return this.x * 2 } } new Point(2).twice()',
  'p.x; new Point(1)',
  'import { join, type ParsedPath } from "node:path"; join("a", m)',
  'const parsed = (await import("node:path")).parse("a/b"); parsed.base',
  'parsed; join("a", 1)',
  'function f<T>(x: T[]): T | undefined { return x[0] } var v = f([1, 2, 3])',
  'for (var i = 0; i < 3; i++) v = i; i',
  'v.nothing; i.nothing',
  'enum Colour { red, green } namespace Inner { export const deep = Colour.red }',
  'Inner.deep satisfies Colour; Colour[0]',
  'type Colour = "red" | "green"; const c: Colour = "blue"',
  'declare global { var added: number; interface Array<T> { last(): T } }',
  '[1].last() + added',
  'added = "text"; [""].first()',
  'const wrong: number = m',
  'const wrong: number = m',
  'const fn = async () => { for await (const x of [n]) yield x }',
  '`${n}` // @ts-expect-error',
  '// @ts-expect-error\nn.nothing',
  'let lateMap = new Map([[n, m]]); lateMap.get(1)',
  'export default class { x = n }',
  'lateMap.get("one"); new Set<string>([1])',
  'Array.from({ length: n }, (_, at) => at).map(String)',
  'await { then(done: (n: number) => void) { done(11) } }',
  'await (async () => n)()',
  'n as; [',
  'misspeled; lenght; Colur; lateMapp',
];

/** Keeps the positions of the source map, but not the file name, which users never see. */
const readable = ({ output, ...rest }: ConvertedCell) => ({
  ...rest,
  output: output?.replace(/base64,(.*)$/, (_, map: string) => JSON.parse(atob(map)).mappings),
});

const makePrograms = (folder = tempFolder()) => {
  const host = new CellHost(folder, cellOptions());
  const service = ts.createLanguageService(host, sharedDocuments);
  const programs = new CellPrograms(host, service);
  return {
    programs,
    load: (previous: string, cell: string) => programs.load(previous, `${cell}\nexport {};`, false).program,
  };
};

suite('Programs of cells', function () {
  this.timeout(120_000);

  test('compile a cell that joins one before it to the same as a cell by itself', () => {
    const folder = tempFolder();
    const [joining, alone] = [createCellConverter({ folder }), createCellConverter({ folder })];
    let previous = '';
    for (const cell of cells) {
      // Check an import in between: a cell can't share a program with an import, so the next cell gets a program of its
      // own.
      alone.service(previous, 'import "node:fs";');
      const expected = alone.convert(previous, cell);
      const converted = joining.convert(previous, cell);
      assert.deepEqual(readable(converted), readable(expected), `It is another for: ${cell}`);
      previous = converted.declarations;
    }
    joining.close();
    alone.close();
  });

  test('are one for cells that ask for nothing new, whatever these declare', () => {
    const { load } = makePrograms();
    const first = load('', '1');
    assert.equal(load('declare let n: number;\n', 'n'), first);
    assert.equal(load('declare let n: string;\n', 'Array.from(n)'), first);
  });

  test('are new for an import, and for the cell after it', () => {
    const { load } = makePrograms();
    const first = load('', '1');
    const importing = load('', 'import { join } from "node:path";');
    assert.notEqual(importing, first);
    const after = load('import { join } from "node:path";\n', 'join("a")');
    assert.notEqual(after, importing);
    assert.equal(load('import { join } from "node:path";\ndeclare let n: number;\n', 'join("b")'), after);
  });

  test('are new where a declaration names a module that was not looked for, and where the globals are added to', () => {
    const { load } = makePrograms();
    const first = load('', '1');
    const second = load('declare let parsed: import("node:path").ParsedPath;\n', '2');
    assert.notEqual(second, first);
    assert.notEqual(load('declare global { var added: number }\n', '3'), second);
  });

  test('are new when a file of the person has changed', () => {
    const folder = tempFolder();
    mkdirSync(folder, { recursive: true });
    const file = join(folder, 'util.ts');
    writeFileSync(file, 'export const one = 1;');
    const { load } = makePrograms(folder);
    const previous = 'import { one } from "./util.ts";\n';
    const first = load(previous, 'one');
    assert.equal(load(previous, 'one + 1'), first);
    writeFileSync(file, 'export const one = "more than it was";');
    assert.notEqual(load(previous, 'one + 2'), first);
  });

  test('are left after a number of cells, so that what a checker knows of them does not grow', () => {
    const { load } = makePrograms();
    const seen = new Set<ts.Program>();
    for (let i = 0; i < 1000; i++) seen.add(load('', String(i)));
    assert.ok(seen.size > 5 && seen.size < 20, `${seen.size} programs for 1000 cells`);
  });
});
