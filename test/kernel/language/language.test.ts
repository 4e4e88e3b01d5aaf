import { cells } from '../cells.ts';
import { kernelOfSuite } from '../support.ts';

suite('Variables across cells', function () {
  this.timeout(60_000);
  const notebook = kernelOfSuite();

  cells(
    'are seen by closures of earlier cells when they are assigned later, and the other way round',
    notebook,
    { cell: 'let n = 1; const inc = () => { n++; return n }; inc()', value: '2' },
    { cell: 'n', value: '2' },
    { cell: 'n = 100; inc()', value: '101' },
    { cell: 'n', value: '101' },
  );

  cells(
    'that are functions are called as they are declared last, by functions of earlier cells too',
    notebook,
    { cell: 'function helper() { return "old" }\nfunction main() { return helper() }\nmain()', value: "'old'" },
    { cell: 'function helper() { return "new" }' },
    { cell: 'main()', value: "'new'" },
  );

  cells(
    'survive a cell that throws, with the values they had',
    notebook,
    {
      cell: 'let kept = 42; function twice() { return kept * 2 }\nthrow new Error("half way");\nlet never = 1',
      error: /^Error: half way$/,
    },
    { cell: 'kept = 5; twice()', value: '10' },
    { cell: 'never' },
  );

  cells(
    'survive a cell that is refused for its types',
    notebook,
    { cell: 'let sure = 1' },
    { cell: 'const other: string = 3', error: /Type 'number'/ },
    { cell: 'sure', value: '1' },
    { cell: 'other', error: /Cannot find name 'other'/ },
  );

  cells(
    'are redeclared as anything else',
    notebook,
    { cell: 'let thing = 1' },
    { cell: 'const thing = "text"; thing.length', value: '4' },
    { cell: 'class thing { x = 3 }; new thing().x', value: '3' },
    { cell: 'function thing() { return 4 } thing()', value: '4' },
    { cell: 'enum thing { A = 5 }; thing.A', value: '5' },
    { cell: 'import thing from "node:path"; typeof thing.join', value: "'function'" },
    { cell: 'let thing = 6; thing', value: '6' },
  );

  cells(
    'of a destructuring are all there',
    notebook,
    {
      cell: 'const { a, b: [c, ...d], e = 5, ...rest } = { a: 1, b: [2, 3, 4], z: 26 } as { a: number; b: number[]; e?: number; z: number }',
    },
    { cell: '[a, c, d, e, rest]', value: '[ 1, 2, [ 3, 4 ], 5, { z: 26 } ]' },
    { cell: '[a2, a3] = [1, 2]; var a2: number, a3: number; ({ a2 } = { a2: 9 }); [a2, a3]', value: '[ 9, 2 ]' },
  );

  cells(
    'of var in a block or a loop belong to the cell, those of let do not',
    notebook,
    { cell: 'for (var i = 0; i < 3; i++) { var doubled = i * 2; let inner = i } for (var each of ["x"]);' },
    { cell: '[i, doubled, each]', value: "[ 3, 4, 'x' ]" },
    { cell: 'inner', error: /Cannot find name 'inner'/ },
  );

  cells(
    'keep their types from cell to cell',
    notebook,
    { cell: 'interface Shape { side: number } type Named = Shape & { name: string }; enum Kind { A, B }' },
    { cell: 'const shape: Named = { side: 2, name: "s" }; namespace Space { export const size = 3 }' },
    { cell: 'const wrong: Shape = { side: "2" }', error: /Type 'string' is not assignable to type 'number'/ },
    { cell: '[shape.name.length, Kind.B, Kind[0], Space.size]', value: "[ 1, 1, 'A', 3 ]" },
    {
      cell: 'class Square<T extends Shape> { constructor(readonly of: T) {} get area() { return this.of.side ** 2 } }',
    },
    { cell: 'class Named2 extends Square<Named> {} new Named2(shape).area', value: '4' },
    { cell: 'function over(x: string): string; function over(x: number): number; function over(x: any) { return x }' },
    { cell: 'over("a").length + over(1)', value: '2' },
  );

  cells(
    'hide those of the same name inside functions, parameters, properties and labels',
    notebook,
    { cell: 'let name1 = "outer"' },
    {
      cell: `const shadows = [
  ((name1: string) => name1)('parameter'),
  (() => { const name1 = 'local'; return { name1 } })().name1,
  ({ name1: 'property' }).name1,
  ({ name1 }).name1,
];
name1: for (;;) { break name1 }
shadows`,
      value: "[ 'parameter', 'local', 'property', 'outer' ]",
    },
  );

  cells(
    'exported by a cell are variables like any other',
    notebook,
    { cell: 'export const shared = 1; export function reach() { return shared + 1 } export default class Main {}' },
    { cell: 'shared + reach()', value: '3' },
    { cell: 'export { shared as same }; export * from "node:os"; reach()', value: '2' },
  );

  cells(
    'keep the name of the function in them, and call it with no this',
    notebook,
    {
      cell: 'const arrow1 = () => 1; let made = function () { return this }, K = class {}; [arrow1.name, made.name, K.name]',
      value: "[ 'arrow1', 'made', 'K' ]",
    },
    { cell: 'made()' },
    {
      cell: 'function tag(parts: TemplateStringsArray) { return this === undefined && parts.raw[0] } tag`x`',
      value: "'x'",
    },
  );

  cells(
    'are assigned to in every way there is',
    notebook,
    { cell: 'let x: any = 1; let box: any = {}; let later: any' },
    {
      cell: `(x as any) = 3; (x) = 4; x!; x++; for (x of [7]); for (x in { k: 1 }); ({ a: x } = { a: 9 }); ({ x = 3 } = {} as any);
x **= 2; x ??= 5; [x, box.y] = [x + 1, 2]; later ??= () => 1; [x, box, later.name]`,
      value: "[ 10, { y: 2 }, 'later' ]",
    },
  );

  cells(
    'of classes reach into their own bodies',
    notebook,
    {
      cell: `class Base { static #hidden = 0; static { Base.#hidden = x } static get shown() { return Base.#hidden } accessor z = 1; constructor(public own = x) {} }
abstract class Half { abstract whole(): number } class Whole extends Half { whole() { return 1 } }
[Base.shown, new Base().own, new Base().z, new Whole().whole()]`,
      value: '[ 10, 10, 1, 1 ]',
    },
    {
      cell: 'interface Told {} enum Merged { A } enum Merged { B = 1 } class Both {} namespace Both { export const s = 2 }',
    },
    { cell: 'import Alias = Both; [Merged.A, Merged.B, Alias.s, Both.s]', value: '[ 0, 1, 2, 2 ]' },
    { cell: 'export type { Told }; export enum Out { A = 4 } export namespace Outer.Inner { export const v = 5 }' },
    { cell: 'Out.A + Outer.Inner.v', value: '9' },
  );

  cells(
    'of types that are added to the globals stay',
    notebook,
    {
      cell: 'declare global { interface Array<T> { second(): T } } Array.prototype.second = function () { return this[1] }; 0',
      value: '0',
    },
    { cell: '1', value: '1' },
    { cell: '[1, 2].second()', value: '2' },
  );

  cells(
    'may take the names of what is preloaded',
    notebook,
    { cell: 'const db = 1; db', value: '1' },
    { cell: 'let arrow = 2; arrow + db', value: '3' },
  );

  cells(
    'of a const enum, a generator, a label and satisfies work',
    notebook,
    { cell: 'const enum Level { Low = 1, High = 10 }' },
    { cell: 'Level.High', value: '10' },
    {
      cell: 'function* count() { yield* [1, 2] } const typed = { a: 1 } satisfies Record<string, number>; [...count(), typed.a]',
      value: '[ 1, 2, 1 ]',
    },
    {
      cell: 'outer: for (const x of [1, 2]) for (const y of [3]) { if (x === 1) continue outer; console.log(x, y) }',
      out: '2 3\n',
    },
  );

  cells(
    'show as the last expression: strings, promises, nothing',
    notebook,
    { cell: "'just text'", value: "'just text'" },
    { cell: 'Promise.resolve(3)', value: 'Promise { 3 }' },
    { cell: 'undefined' },
    { cell: 'null' },
    { cell: '0 // zero', value: '0' },
    { cell: '42;;', value: '42' },
    { cell: 'let quiet = 1' },
    { cell: '{ a: 1 }', value: '{ a: 1 }' },
    { cell: '{ console.log("a block") }', out: 'a block\n' },
    {
      cell: '{\n  a: nowhere }',
      error: /^TypeScriptError: 2:6 - Cannot find name/,
      trace: /2 \| {3}a: nowhere \}\n {9}\^{7}$/,
    },
  );
});
