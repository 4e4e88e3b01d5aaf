import type { Theme } from './corpus.ts';

export const state: Theme = {
  name: 'What a notebook remembers',
  sequences: [
    {
      name: 'is a name declared anew as whatever it is next',
      steps: [
        { cell: 'const config = { a: 1 }' },
        { cell: 'const config = [1, 2]; config.length', value: '2' },
        { cell: 'let config = "text"; config.toUpperCase()', value: "'TEXT'" },
        { cell: 'config = 5', error: /Type 'number' is not assignable to type 'string'/ },
        { cell: 'var config = 5; config + 1', value: '6' },
        { cell: 'function config() { return 7 }\nconfig()', value: '7' },
        { cell: 'class config { static n = 8 }\nconfig.n', value: '8' },
        { cell: 'enum config { A = 9 }\nconfig.A', value: '9' },
        { cell: 'import config from "node:path"\nconfig.sep', value: "'/'" },
        { cell: 'import { sep as config } from "node:path"\nconfig', value: "'/'" },
        { cell: 'type config = string\nconst typed: config = "type"; typed', value: "'type'" },
        { cell: 'interface config { z: 1 }\nconst shaped: config = { z: 1 }; shaped', value: '{ z: 1 }' },
        { cell: 'const { config } = { config: "destructured" }; config', value: "'destructured'" },
      ],
    },
    {
      name: 'is kept by closures, and seen by functions of earlier cells',
      steps: [
        { cell: 'let total = 0\nconst add = (n: number) => { total += n }' },
        { cell: 'add(2); add(3); total', value: '5' },
        { cell: 'total = 100; add(1); total', value: '101' },
        { cell: 'function report() { return label() + total }\nfunction label() { return "v1:" }' },
        { cell: 'function label() { return "v2:" }' },
        { cell: 'report()', value: "'v2:101'" },
      ],
    },
    {
      name: 'is seen by a direct eval, and by no other',
      steps: [
        { cell: 'let seen = 1; const plus = (n: number) => n + seen; eval("seen + 1")', value: '2' },
        { cell: 'eval("seen = 5; ({ seen, sum: plus(2) })")', value: '{ seen: 5, sum: 7 }' },
        { cell: 'seen', value: '5' },
        { cell: 'const tenfold = (seen: number) => eval("seen * 10"); tenfold(7)', value: '70' },
        { cell: 'const evaluated = (text: string) => eval(text); evaluated("const t = seen; t + 1")', value: '6' },
        { cell: '(0, eval)("typeof seen")', value: "'undefined'" },
        { cell: 'eval("seen.nothing.more")', error: /^TypeError: Cannot read properties of undefined/ },
      ],
    },
    {
      name: 'is what a cell did before it threw',
      steps: [
        {
          cell: 'const before = 1\nlet changed = 1\nchanged = 2\nthrow new Error("stop")\nconst after = 3',
          error: /^Error: stop$/,
        },
        { cell: '[before, changed]', value: '[ 1, 2 ]' },
        {
          cell: 'const list = [1]; list.push(2); (undefined as any).boom',
          error: /^TypeError: Cannot read properties of undefined \(reading 'boom'\)$/,
        },
        { cell: 'list', value: '[ 1, 2 ]' },
        {
          cell: 'class Made { v = 1 }\nfunction helper() { return new Made().v }\nthrow "a string"',
          error: /a string/,
        },
        { cell: 'helper()', value: '1' },
      ],
    },
    {
      name: 'is not touched by a cell that was refused',
      steps: [
        { cell: 'let safe = 1' },
        { cell: 'safe = 2; const wrong: number = "no"', error: /Type 'string' is not assignable/ },
        { cell: 'safe', value: '1' },
        { cell: 'safe = 3; const = ', error: /^SyntaxError/ },
        { cell: 'safe', value: '1' },
      ],
    },
    {
      name: 'are types: generics, unions, aliases and narrowing over cells',
      steps: [
        { cell: 'type Result<T, E = Error> = { ok: true; value: T } | { ok: false; error: E }' },
        { cell: 'function unwrap<T>(r: Result<T>): T { if (r.ok === true) return r.value; throw r.error }' },
        { cell: 'unwrap({ ok: true, value: [1, 2] }).map((n) => n * 2)', value: '[ 2, 4 ]' },
        {
          cell: 'unwrap({ ok: true, value: 1 }).toUpperCase()',
          error: /Property 'toUpperCase' does not exist on type 'number'/,
        },
        {
          cell: 'unwrap({ ok: false, error: new Error("unwrapped") })',
          error: /^Error: unwrapped$/,
          trace: /\n +at \[\d+\]:1:28$/,
        },
        {
          cell: 'class Stack<T> { #items: T[] = []; push(...items: T[]) { this.#items.push(...items); return this } pop() { return this.#items.pop() } }',
        },
        { cell: 'new Stack<string>().push("a", "b").pop()', value: "'b'" },
        {
          cell: 'new Stack<string>().push(1)',
          error: /1:26 - Argument of type 'number' is not assignable to parameter of type 'string'/,
        },
        {
          cell: 'const keyOf = <T, K extends keyof T>(o: T, k: K): T[K] => o[k]; keyOf({ a: 1 }, "b")',
          error: /Argument of type '"b"' is not assignable to parameter of type '"a"'/,
        },
        {
          cell: 'type Keys = keyof { x: 1; y: 2 }; type Getters = { [K in Keys as `get${Uppercase<K>}`]: () => number }; const getters: Getters = { getX: () => 1, getY: () => 2 }; getters.getY()',
          value: '2',
        },
        { cell: 'function isText(x: unknown): x is string { return typeof x === "string" }' },
        { cell: 'const unknown1: unknown = "narrow"; isText(unknown1) ? unknown1.length : -1', value: '6' },
        {
          cell: 'type Elem<T> = T extends readonly (infer U)[] ? U : never; const elem: Elem<string[]> = 3',
          error: /Type 'number' is not assignable to type 'string'/,
        },
      ],
    },
    {
      name: 'may shadow what is preloaded, and the globals',
      steps: [
        { cell: 'typeof db.listTables', value: "'function'" },
        { cell: 'const db = 1; db', value: '1' },
        { cell: 'db + 1', value: '2' },
        { cell: 'const arrow = "→"; arrow', value: "'→'" },
        { cell: 'function display(x: number) { return x } display(3)', value: '3' },
        { cell: 'const fetch = () => "mine"; fetch()', value: "'mine'" },
        {
          cell: 'const name = "n", status = 1, event = 2, top = 3; [name, status, event, top]',
          value: "[ 'n', 1, 2, 3 ]",
        },
        { cell: 'const Map = 1; Map', value: '1' },
        { cell: 'new globalThis.Map().size', value: '0' },
        { cell: 'let process = { own: true }; process.own', value: 'true' },
        { cell: 'console.log("prints on")', out: 'prints on\n' },
        { cell: 'const exports = 1, module = 2; exports + module', value: '3' },
      ],
    },
    {
      name: 'is shared through globalThis where a cell says so',
      steps: [
        { cell: '(globalThis as any).shared = 5', value: '5' },
        { cell: '(globalThis as any).shared', value: '5' },
        { cell: 'declare global { var declared: number }\nglobalThis.declared = 6', value: '6' },
        { cell: 'declared + 1', value: '7' },
        { cell: 'Reflect.deleteProperty(globalThis, "shared")', value: 'true' },
      ],
    },
  ],
};
