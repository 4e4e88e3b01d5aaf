import type { Theme } from './corpus.ts';

export const syntax: Theme = {
  name: 'The syntax of the corpus',
  sequences: [
    {
      name: 'has templates with backticks, tags, nesting and lines',
      steps: [
        { cell: '`a\\`b`', value: "'a`b'" },
        { cell: '`one\ntwo`.split("\\n").length', value: '2' },
        { cell: '`${`${1 + 1}`}`', value: "'2'" },
        { cell: 'String.raw`\\n${1}`', value: "'\\\\n1'" },
        {
          cell: 'const tag = (s: TemplateStringsArray, ...v: unknown[]) => s.raw.join("|") + v; tag`a${1}b`',
          value: "'a|b1'",
        },
        { cell: '`// no comment ${"/* nor here */"}`', value: "'// no comment /* nor here */'" },
        { cell: '`${await Promise.resolve("awaited")}`', value: "'awaited'" },
      ],
    },
    {
      name: 'has identifiers of any alphabet and escapes',
      steps: [
        { cell: 'const π = Math.PI, Straße = 1, 变量 = 2, ñandú = 3' },
        { cell: '[π > 3, Straße, 变量, ñandú]', value: '[ true, 1, 2, 3 ]' },
        { cell: 'const \\u0061bc = 7; abc', value: '7' },
        { cell: '"😀".length', value: '2' },
        { cell: '"\\u{1F600}" === "😀"', value: 'true' },
        { cell: 'const $ = 1, _ = 2, $$ = 3; $ + _ + $$', value: '6' },
        { cell: 'const 😀 = 1', error: /^(SyntaxError|TypeScriptError): 1:7 - Invalid character/ },
      ],
    },
    {
      name: 'has labels, loops, switches and exceptions at the top level',
      steps: [
        {
          cell: 'outer: for (const i of [0, 1, 2]) { for (const j of [0, 1]) { if (i === 1) break outer; console.log(i, j) } }',
          out: '0 0\n0 1\n',
        },
        { cell: 'block: { console.log("in"); break block; }', out: 'in\n' },
        { cell: 'let n = 0; while (true) { if (++n > 3) break } n', value: '4' },
        { cell: 'do { n-- } while (n > 0); n', value: '0' },
        {
          cell: 'switch (n as number) { case 0: console.log("zero"); break; default: console.log("other") }',
          out: 'zero\n',
        },
        {
          cell: 'try { throw new Error("caught") } catch (e) { console.log((e as Error).message) } finally { console.log("finally") }',
          out: 'caught\nfinally\n',
        },
        { cell: 'try { null!.x } catch { "swallowed" }', error: /./ },
        { cell: 'for (const key in { a: 1, b: 2 }) console.log(key)', out: 'a\nb\n' },
        {
          cell: 'for (let i = 0, fns: (() => number)[] = []; i < 2; i++) { fns.push(() => i); if (i) console.log(fns.map((f) => f())) }',
          out: '[ 0, 1 ]\n',
        },
        { cell: 'debugger; 1', value: '1' },
        { cell: ';;;' },
        { cell: '"use strict"; 1', value: '1' },
      ],
    },
    {
      name: 'has the operators of today',
      steps: [
        {
          cell: 'const maybe = { a: { b: null as null | (() => number) } } as { a?: { b: null | (() => number) } }; maybe.a?.b?.() ?? "none"',
          value: "'none'",
        },
        {
          cell: 'let unset: string | undefined; unset ??= "set"; unset ||= "x"; unset &&= unset + "!"',
          value: "'set!'",
        },
        { cell: '2 ** 3 ** 2', value: '512' },
        { cell: '1_000_000', value: '1000000' },
        { cell: '[0b11, 0o17, 0xff]', value: '[ 3, 15, 255 ]' },
        {
          cell: 'const [first, , third = "d", ...others] = [1, 2, undefined, 4, 5]; [first, third, others]',
          value: "[ 1, 'd', [ 4, 5 ] ]",
        },
        { cell: 'const { x: { y: deep }, ...left } = { x: { y: 1 }, z: 2 }; [deep, left]', value: '[ 1, { z: 2 } ]' },
        { cell: 'let swapA = 1, swapB = 2; [swapA, swapB] = [swapB, swapA]; [swapA, swapB]', value: '[ 2, 1 ]' },
        { cell: '#brand in {}', error: /./ },
        { cell: '"a-b-c".replaceAll("-", "")', value: "'abc'" },
        { cell: '[3, 1, 2].toSorted().at(-1)', value: '3' },
        { cell: 'Object.groupBy([1, 2, 3], (x) => (x % 2 ? "odd" : "even")).odd', value: '[ 1, 3 ]' },
        { cell: '/(?<year>\\d{4})/.exec("in 2024")?.groups?.year', value: "'2024'" },
        { cell: '"aXbX".match(/[[a-z]--[b]]/v)?.[0]', value: "'a'" },
      ],
    },
    {
      name: 'has the declarations that only TypeScript has',
      steps: [
        { cell: 'enum Color { Red, Green = "green" }' },
        { cell: '[Color.Red, Color[0], Color.Green]', value: "[ 0, 'Red', 'green' ]" },
        { cell: 'enum Parts { A = 1 }\nenum Parts { B = 2 }\n[Parts.A, Parts.B]', value: '[ 1, 2 ]' },
        { cell: 'const enum Bits { One = 1 << 0, Two = 1 << 1, Both = One | Two }; Bits.Both', value: '3' },
        { cell: 'namespace Geo { export const size = 2; export namespace Deep { export const size = 3 } }' },
        { cell: 'Geo.size + Geo.Deep.size', value: '5' },
        { cell: 'abstract class Shape { abstract area(): number; describe() { return `area ${this.area()}` } }' },
        { cell: 'new (class extends Shape { area() { return 4 } })().describe()', value: "'area 4'" },
        { cell: 'new Shape()', error: /1:1 - Cannot create an instance of an abstract class/ },
        {
          cell: 'function pick(x: string): string; function pick(x: number): number; function pick(x: unknown) { return x }\npick(1).toFixed(1)',
          value: "'1.0'",
        },
        { cell: 'declare const later: number; typeof later', value: "'undefined'" },
        {
          cell: 'interface Merged { a: number } interface Merged { b: string }\nconst merged: Merged = { a: 1, b: "2" }; merged',
          value: "{ a: 1, b: '2' }",
        },
        {
          cell: 'type Tree<T> = { value: T; kids?: Tree<T>[] }; const tree: Tree<number> = { value: 1, kids: [{ value: 2 }] }; tree.kids?.[0]?.value',
          value: '2',
        },
        {
          cell: 'const tuple = [1, "a"] as const; type Second = (typeof tuple)[1]; const second: Second = "a"; second',
          value: "'a'",
        },
      ],
    },
    {
      name: 'has classes whole: private members, static blocks, accessors, mixins',
      steps: [
        {
          cell: 'class Counter { static #made = 0; static { Counter.#made = 10 } #n = 0; get n() { return this.#n } set n(v) { this.#n = v } static make() { Counter.#made++; return new Counter() } static get made() { return Counter.#made } has(o: object) { return #n in o } }',
        },
        {
          cell: 'const counter = Counter.make(); counter.n += 5; [counter.n, Counter.made, counter.has(counter), counter.has({})]',
          value: '[ 5, 11, true, false ]',
        },
        {
          cell: 'type Class<T = object> = new (...args: any[]) => T; const Timed = <B extends Class>(Base: B) => class extends Base { at = 1 }; new (Timed(Counter))().at',
          value: '1',
        },
        { cell: 'class Auto { accessor level = 3 } new Auto().level', value: '3' },
        {
          cell: 'class Order { a = 1; b = this.a + 1; constructor(readonly c = 0) {} } new Order(9)',
          value: /a: 1, b: 2/,
        },
        { cell: 'class Ranged { *[Symbol.iterator]() { yield* [1, 2, 3] } } [...new Ranged()]', value: '[ 1, 2, 3 ]' },
        {
          cell: 'class Base { who() { return "base" } } class Derived extends Base { override who() { return super.who() + "!" } } new Derived().who()',
          value: "'base!'",
        },
        { cell: 'class Oops extends Error { override name = "Oops" } throw new Oops("own")', error: /^Oops: own$/ },
      ],
    },
    {
      name: 'has standard decorators of classes, methods, fields and accessors',
      steps: [
        {
          cell: `const seen: string[] = []
function note(_: unknown, context: DecoratorContext): any { seen.push(context.kind + ' ' + String(context.name)) }
@note class Marked { @note field = 1; @note method() {} @note accessor level = 2; @note static shared = 3; @note get size() { return 1 } }
seen.toSorted()`,
          value:
            /^\[\n +'accessor level',\n +'class Marked',\n +'field field',\n +'field shared',\n +'getter size',\n +'method method'\n\]$/,
        },
        {
          cell: `const twice = (_: undefined, __: ClassFieldDecoratorContext) => (initial: number) => initial * 2; class Doubled { @twice n = 21 } new Doubled().n`,
          value: '42',
        },
        { cell: 'new Marked().level', value: '2' },
      ],
    },
    {
      name: 'is refused where it is wrong, with the line',
      steps: [
        { cell: 'let x = 1; let x = 2', error: /1:5 - Cannot redeclare block-scoped variable 'x'/ },
        { cell: 'const fine = 1\nconst broken = ;', error: /^SyntaxError: 2:16 - Expression expected/ },
        { cell: 'if (true) {', error: /^SyntaxError: .*'}' expected/ },
        { cell: '"open', error: /^SyntaxError: 1:6 - Unterminated string literal/ },
        { cell: '`open', error: /^SyntaxError: .*Unterminated template literal/ },
        { cell: '/open', error: /^SyntaxError: .*Unterminated regular expression/ },
        { cell: '/* open', error: /^SyntaxError: .*'\*\/' expected/ },
        { cell: '1 +', error: /^SyntaxError: .*Expression expected/ },
        { cell: 'return 1', error: /1:1 - A 'return' statement/ },
        { cell: 'break', error: /1:1 - A 'break' statement/ },
        { cell: 'yield 1', error: /^(SyntaxError|TypeScriptError): 1:/ },
        { cell: 'const c = 1; c = 2', error: /1:14 - Cannot assign to 'c' because it is a constant/ },
        { cell: 'with (Math) { max(1, 2) }', error: /1:1 - .*'with'/ },
        { cell: 'function f() { await 1 }', error: /1:16 - 'await' expressions? (is|are) only allowed/ },
        { cell: 'fine', error: /Cannot find name 'fine'/ },
      ],
    },
    {
      name: 'has generators, iterators and closures',
      steps: [
        { cell: 'function* fib() { let [a, b] = [0, 1]; for (;;) { yield a; [a, b] = [b, a + b] } }' },
        { cell: 'fib().take(8).toArray()', value: /^\[\n? *0, 1, 1, +2,\n? *3, 5, 8, 13\n?\]$/ },
        { cell: 'const gen = fib(); gen.next(); gen.next().value', value: '1' },
        { cell: 'gen.next()', value: '{ value: 1, done: false }' },
        {
          cell: 'const memo = ((cache = new Map<number, number>()) => (n: number): number => cache.get(n) ?? (cache.set(n, n < 2 ? n : memo(n - 1) + memo(n - 2)), cache.get(n)!))(); memo(50)',
          value: '12586269025',
        },
        { cell: '(function () { return arguments.length }).apply(null, [1, 2] as any)', value: '2' },
        { cell: 'var hoisted = typeof declaredBelow; function declaredBelow() {} hoisted', value: "'function'" },
        {
          cell: 'console.log(typeof tooEarly); let tooEarly = 1',
          error: /before its declaration|used before being assigned|Cannot access/,
        },
      ],
    },
  ],
};
