/**
 * The result of a cell in a form that can be compared: printed text, a display (with its number if it has one), a
 * result, or an error.
 */
export type Event =
  | { stdout: string }
  | { stderr: string }
  | { display: Record<string, unknown>; id?: number; cell?: number }
  | { update: Record<string, unknown>; id: number; cell?: number }
  | { result: string }
  | { error: string };

/** Cells that use a feature of tslab. */
export type FeatureNotebook = { kernel: 'tslab' | 'jslab'; cells: readonly string[] };

/** A cell whose result intentionally differs from tslab. */
export type Difference = { notebook: string; cell: number; tslab: Event[]; ours: Event[]; reason: string };

/** A file beside the notebooks that cells import. */
export const helperFile = {
  name: 'helper.ts',
  text: `import { display } from 'tslab';
export function shout(text: string): void {
  display.html('<h1>' + text.toUpperCase() + '</h1>');
}
`,
};

/** The notebooks of a kernel run in one process, so the names of one must not affect another. */
export const notebooks: Readonly<Record<string, FeatureNotebook>> = {
  'import * as tslab': {
    kernel: 'tslab',
    cells: [
      "import * as tslab from 'tslab';\ntslab.display.html('Hello <b>tslab!</b>');",
      "tslab.display.text('again')",
    ],
  },
  'import { display, newDisplay, versions }': {
    kernel: 'tslab',
    cells: [
      "import { display, newDisplay as createDisplay, versions } from 'tslab';",
      "display.text('named'); createDisplay().text('new'); console.log(versions.tslab)",
    ],
  },
  "require('tslab')": {
    kernel: 'tslab',
    cells: [
      "const required = require('tslab');\nrequired.display.html('<i>required</i>');",
      "console.log(Object.keys(required).sort().join(), required.display === require('tslab').display);",
    ],
  },
  'text forms': {
    kernel: 'tslab',
    cells: [
      `import { display } from 'tslab';
       display.html('<b>bold</b>'); display.javascript('element.append(1)'); display.markdown('# Title');
       display.latex('$x^2$'); display.svg('<svg xmlns="http://www.w3.org/2000/svg"/>'); display.text('plain\\ntext');`,
    ],
  },
  'forms of bytes': {
    kernel: 'tslab',
    cells: [
      `import { display } from 'tslab';
       display.png(new Uint8Array([137, 80, 78, 71])); display.jpeg(Buffer.from('jpeg'));
       display.gif(new Uint8Array([0, 71, 73, 70]).subarray(1)); display.pdf(Buffer.from('%PDF-'));`,
    ],
  },
  'display.raw': {
    kernel: 'tslab',
    cells: [
      `import { display } from 'tslab';
       display.raw('text/x-own', 'as it is'); display.raw('application/x-own', new Uint8Array([255, 0]));
       display.raw('application/json', '{"a":[1]}');`,
      "display.raw('application/vnd.vega.v5+json', { marks: [], width: 5 } as unknown as string);",
    ],
  },
  'newDisplay and its updates': {
    kernel: 'tslab',
    cells: [
      "import { newDisplay } from 'tslab';\nconst one = newDisplay(); const two = newDisplay();",
      "one.text('1 of 2'); two.html('<p>two</p>'); one.text('2 of 2');",
      "two.markdown('*another form*'); one.html('<b>done</b>');",
      "for (const each of [newDisplay(), newDisplay()]) for (const text of ['a', 'b']) each.text(text);",
    ],
  },
  'an update while a cell waits': {
    kernel: 'tslab',
    cells: [
      `import { newDisplay } from 'tslab';
       const slow = newDisplay();
       for (let i = 0; i < 3; i++) { slow.text('step ' + i); await new Promise((go) => setTimeout(go, 20)); }`,
    ],
  },
  'a file beside the notebook that displays': {
    kernel: 'tslab',
    cells: ["import { shout } from './helper';\nshout('hello');"],
  },
  'what cells print': {
    kernel: 'tslab',
    cells: [
      "console.log('%s is %d', 'a', 1, { b: [2] }); console.log(); void process.stdout.write('no end of line');",
      "console.error('to stderr');",
      'console.table([{ a: 1 }, { a: 2 }]);',
    ],
  },
  'declarations of cells': {
    kernel: 'tslab',
    cells: [
      'interface Greeter { greet(): string }\nclass Person implements Greeter { constructor(private name: string) {} greet() { return this.name } }',
      "const greeter: Greeter = new Person('Ada'); console.log(greeter.greet());",
      'let again = 1; function twice(n: number) { return 2 * n }',
      "let again = 'now a text'; function twice(text: string) { return text + text }",
      'console.log(twice(again)); enum Color { Red = 3 } console.log(Color.Red, Color[3]);',
      "import { join } from 'path'; import fs from 'fs'; console.log(join('a', 'b'), typeof fs.readFileSync);",
    ],
  },
  'top-level await': {
    kernel: 'tslab',
    cells: [
      'const waited = await Promise.resolve(5); console.log(waited);',
      'const pending = new Promise(() => {}); console.log(pending);',
    ],
  },
  'the last expression': {
    kernel: 'tslab',
    cells: ['[1, { two: 2 }]', "'text'", 'null', 'undefined', 'const silent = 5;', 'Promise.resolve(1)'],
  },
  'a display after its cell has ended': {
    kernel: 'tslab',
    cells: [
      "import { display } from 'tslab';\nvoid setTimeout(() => display.text('late'), 100);",
      'await new Promise((go) => setTimeout(go, 500));',
    ],
  },
  errors: {
    kernel: 'tslab',
    cells: ["let wrong: number = 'text';", "throw new RangeError('broken')", "console.log('goes on')"],
  },
  'variables of a cell that throws': {
    kernel: 'tslab',
    cells: ["let kept = 1; throw new Error('after')", 'console.log(kept)'],
  },
  'the versions': {
    kernel: 'tslab',
    cells: [
      "import { versions } from 'tslab';\nconsole.log(Object.keys(versions).join(), versions.tslab, versions.node === process.version);",
      "console.log(versions.typescript.split('.')[0]);",
    ],
  },
  'JavaScript: display': {
    kernel: 'jslab',
    cells: [
      "import * as tslab from 'tslab';\ntslab.display.html('Hello <b>Java</b>Script');",
      "const { newDisplay } = require('tslab');\nconst d = newDisplay(); d.text('a'); d.text('b');",
    ],
  },
  'JavaScript: declarations': {
    kernel: 'jslab',
    cells: [
      'class Hello {\n  constructor(name) { this.name = name; }\n  say() { console.log(`Hello, ${this.name}`); }\n}\nconst hello = new Hello("js"); hello.say();',
      'console.log(hello.name); console.log(hello);',
      'const options = {}; options.limit = 5; console.log(options.limit);',
      'const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2)); console.log(fib(10));',
      '/** @type {number[]} */ const list = []; list.push(1); console.log(list);',
      "import { join } from 'path'; console.log(join('a', 'b'), await Promise.resolve(1));",
      'var again = 1; for (var i = 0; i < 3; i++) again += i;',
      "let again = 'text'; console.log(again, i);",
    ],
  },
  'JavaScript: types are not checked': {
    kernel: 'jslab',
    cells: [
      "let now = 5; now += 'hello'; console.log(now);",
      'function once(n) { return n }\nconsole.log(once(1, 2));',
      'const low = 1, high = 3; console.log(low < high > (0));',
      'console.log(Math.missing);',
      'undeclared = 5;',
      'console.log(undeclared);',
    ],
  },
  'JavaScript: what is no JavaScript': {
    kernel: 'jslab',
    cells: ['let typed: number = 5;', 'enum Color { Red }'],
  },
  'JavaScript: the last expression': { kernel: 'jslab', cells: ['({ a: [1] })', '5;', 'console.log(1)'] },
};

const isResult =
  'The last value of a cell is a result, with a number and rich forms, and not a line of what is printed.';
const isError = 'An error is an output of its own, with the position in the cell, so that a run can stop at it.';
const isUnchecked = 'Types of JavaScript are not checked, so that what runs in Node runs in a cell.';

export const differences: readonly Difference[] = [
  {
    notebook: 'the last expression',
    cell: 0,
    tslab: [{ stdout: '[ 1, { two: 2 } ]\n' }],
    ours: [{ result: '[ 1, { two: 2 } ]' }],
    reason: isResult,
  },
  {
    notebook: 'the last expression',
    cell: 1,
    tslab: [{ stdout: 'text\n' }],
    ours: [{ result: "'text'" }],
    reason: isResult,
  },
  {
    notebook: 'the last expression',
    cell: 5,
    tslab: [{ stdout: 'Promise { 1 }\n' }],
    ours: [{ result: 'Promise { 1 }' }],
    reason: isResult,
  },
  {
    notebook: 'a display after its cell has ended',
    cell: 1,
    tslab: [{ display: { 'text/plain': 'late' } }],
    ours: [{ display: { 'text/plain': 'late' }, cell: 0 }],
    reason: 'Late output belongs to the cell that caused it, and not to the cell that happens to run.',
  },
  {
    notebook: 'errors',
    cell: 0,
    tslab: [{ stderr: "1:5 - Type 'string' is not assignable to type 'number'.\n" }],
    ours: [{ error: "TypeScriptError: 1:5 - Type 'string' is not assignable to type 'number'." }],
    reason: isError,
  },
  {
    notebook: 'errors',
    cell: 1,
    tslab: [{ stderr: 'RangeError: broken' }],
    ours: [{ error: 'RangeError: broken' }],
    reason: isError,
  },
  {
    notebook: 'variables of a cell that throws',
    cell: 0,
    tslab: [{ stderr: 'Error: after' }],
    ours: [{ error: 'Error: after' }],
    reason: isError,
  },
  {
    notebook: 'variables of a cell that throws',
    cell: 1,
    tslab: [{ stderr: "1:13 - Cannot find name 'kept'.\n" }],
    ours: [{ stdout: '1\n' }],
    reason: 'A cell that throws keeps what it has declared so far.',
  },
  {
    notebook: 'the versions',
    cell: 1,
    tslab: [{ stdout: '5\n' }],
    ours: [{ stdout: '6\n' }],
    reason: 'The version is that of the compiler that cells are compiled by, and the kernel has a newer one.',
  },
  {
    notebook: 'JavaScript: types are not checked',
    cell: 0,
    tslab: [{ stderr: "1:14 - Type 'string' is not assignable to type 'number'.\n" }],
    ours: [{ stdout: '5hello\n' }],
    reason: isUnchecked,
  },
  {
    notebook: 'JavaScript: types are not checked',
    cell: 1,
    tslab: [{ stderr: '2:21 - Expected 0-1 arguments, but got 2.\n' }],
    ours: [{ stdout: '1\n' }],
    reason: isUnchecked,
  },
  {
    notebook: 'JavaScript: types are not checked',
    cell: 2,
    tslab: [{ stderr: "1:38 - Operator '>' cannot be applied to types 'boolean' and 'number'.\n" }],
    ours: [{ stdout: 'true\n' }],
    reason: isUnchecked,
  },
  {
    notebook: 'JavaScript: types are not checked',
    cell: 3,
    tslab: [{ stderr: "1:18 - Property 'missing' does not exist on type 'Math'.\n" }],
    ours: [{ stdout: 'undefined\n' }],
    reason: isUnchecked,
  },
  {
    notebook: 'JavaScript: types are not checked',
    cell: 4,
    tslab: [{ stderr: "1:1 - Cannot find name 'undeclared'.\n" }],
    ours: [{ error: 'ReferenceError: undeclared is not defined' }],
    reason: isUnchecked,
  },
  {
    notebook: 'JavaScript: types are not checked',
    cell: 5,
    tslab: [{ stderr: "1:13 - Cannot find name 'undeclared'.\n" }],
    ours: [{ error: 'ReferenceError: undeclared is not defined' }],
    reason: isUnchecked,
  },
  {
    notebook: 'JavaScript: what is no JavaScript',
    cell: 0,
    tslab: [{ stderr: '1:12 - Type annotations can only be used in TypeScript files.\n' }],
    ours: [{ error: 'SyntaxError: 1:12 - Type annotations can only be used in TypeScript files.' }],
    reason: isError,
  },
  {
    notebook: 'JavaScript: what is no JavaScript',
    cell: 1,
    tslab: [{ stderr: "1:6 - 'enum' declarations can only be used in TypeScript files.\n" }],
    ours: [{ error: "SyntaxError: 1:6 - 'enum' declarations can only be used in TypeScript files." }],
    reason: isError,
  },
  {
    notebook: 'JavaScript: the last expression',
    cell: 0,
    tslab: [{ stdout: '{ a: [ 1 ] }\n' }],
    ours: [{ result: '{ a: [ 1 ] }' }],
    reason: isResult,
  },
  {
    notebook: 'JavaScript: the last expression',
    cell: 1,
    tslab: [{ stdout: '5\n' }],
    ours: [{ result: '5' }],
    reason: isResult,
  },
];
