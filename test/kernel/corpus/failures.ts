import type { Theme } from './corpus.ts';

export const failures: Theme = {
  name: 'A failure in the corpus',
  sequences: [
    {
      name: 'has the name, the message and the line of what was thrown, whatever it is',
      steps: [
        {
          cell: 'null as any\n;(null as any).x',
          error: /^TypeError: Cannot read properties of null \(reading 'x'\)$/,
          trace: /at \[\d+\]:2:16$/,
        },
        { cell: '(undefined as any)()', error: /^TypeError: undefined is not a function$/ },
        { cell: 'new Array(-1)', error: /^RangeError: Invalid array length$/, trace: /at \[\d+\]:1:1$/ },
        { cell: 'BigInt(1.5)', error: /^RangeError: The number 1\.5 cannot be converted to a BigInt/ },
        { cell: 'decodeURIComponent("%")', error: /^URIError: URI malformed$/ },
        { cell: 'JSON.parse("{")', error: /^SyntaxError: Expected property name/ },
        { cell: '1n + (1 as any)', error: /^TypeError: Cannot mix BigInt/ },
        { cell: 'throw "text"', error: /text/ },
        { cell: 'throw 42', error: /42/ },
        { cell: 'throw null', error: /null/ },
        { cell: 'throw undefined', error: /undefined/ },
        { cell: 'throw Symbol("s")', error: /Symbol\(s\)/ },
        { cell: 'throw { code: 3 }', error: /code: 3/ },
        { cell: 'throw new Proxy({}, { get() { throw 1 } })', error: /./ },
        {
          cell: 'throw Object.defineProperty(new Error(), "message", { get() { throw new Error("worse") } })',
          error: /./,
        },
        { cell: 'throw Object.freeze(new RangeError("frozen"))', error: /^RangeError: frozen$/ },
        { cell: '"alive"', value: "'alive'" },
      ],
    },
    {
      name: 'has the lines of cells in callbacks, getters, constructors, generators and after an await',
      steps: [
        {
          cell: '[1, 2].map((n) => {\n  if (n === 2) throw new Error("in map")\n  return n\n})',
          error: /in map/,
          trace: /\[\d+\]:2:22\n[^]*at \[\d+\]:1:8$/,
        },
        { cell: 'const lazy = { get value(): number {\n  throw new Error("getter") } }' },
        { cell: 'lazy.value', error: /getter/, trace: /value[^\n]* \(\[\d+\]:2:9\)\n +at \[\d+\]:1:6$/ },
        {
          cell: 'class Broken {\n  constructor() { throw new Error("made") }\n}\nnew Broken()',
          error: /made/,
          trace: /new Broken \(\[\d+\]:2:25\)\n +at \[\d+\]:4:1$/,
        },
        {
          cell: 'function* failing() { yield 1\nthrow new Error("second") }\nfor (const x of failing()) console.log(x)',
          out: '1\n',
          error: /second/,
          trace: /failing[^\n]*\[\d+\]:2:7/,
        },
        {
          cell: 'await (async () => {\n  await null\n  throw new Error("awaited")\n})()',
          error: /awaited/,
          trace: /\[\d+\]:3:9\)?\n +at async \[\d+\]:1:1$/,
        },
        {
          cell: 'async function* feed() { yield 1; throw new Error("fed") }\nfor await (const x of feed()) console.log(x)',
          out: '1\n',
          error: /fed/,
        },
        {
          cell: 'class Field {\n  n = (() => { throw new Error("field") })()\n}\nnew Field()',
          error: /field/,
          trace: /\[\d+\]:2:22/,
        },
        {
          cell: 'const deep = (n: number): number => n ? deep(n - 1) : JSON.parse("]")\ndeep(2)',
          error: /^SyntaxError/,
          trace: /(at deep \(\[\d+\]:1:\d+\)\n +){3}at \[\d+\]:2:1$/,
        },
        {
          cell: 'function forever(): number { return forever() + 1 }\nforever()',
          error: /^RangeError: Maximum call stack size exceeded$/,
        },
        { cell: 'try { null!["x" as never] } finally { console.log("cleaned") }', error: /null/ },
      ],
    },
    {
      name: 'has no frame of what the compiler added to the cell',
      steps: [
        {
          cell: 'using held = { [Symbol.dispose]() { throw new Error("not let go") } }',
          error: /^Error: not let go$/,
          trace: /^Error: not let go\n +at [^\n]*\[\d+\]:1:43\)(\n +at [^\n]*\[\d+\]:1:\d+\)?)?$/,
        },
      ],
    },
    {
      name: 'has its own class, its cause and its parts',
      steps: [
        {
          cell: 'class NotFound extends Error { constructor(what: string) { super(`no ${what}`); this.name = "NotFound" } }\nthrow new NotFound("cat")',
          error: /^NotFound: no cat$/,
        },
        {
          cell: 'throw new Error("outer", { cause: new TypeError("inner") })',
          error: /^Error: outer$/,
          trace: /Caused by TypeError: inner/,
        },
        { cell: 'throw new Error("outer", { cause: { code: 5 } })', error: /outer/, trace: /Caused by \{ code: 5 \}/ },
        {
          cell: 'throw Object.assign(new Error("no such user"), { code: "E_USER", status: 404 })',
          error: /^Error: no such user$/,
          trace: /at \[\d+\]:1:\d+\n\{ code: 'E_USER', status: 404 \}$/,
        },
        {
          cell: 'throw Object.assign(new Error("own"), { big: "x".repeat(1e6), list: Array(1e5).fill(0), get late() { return 1 } })',
          error: /^Error: own$/,
          trace: /^[^]{0,2000}late: 1[^]{0,100}$/,
        },
        {
          cell: 'let reads = 0; throw Object.defineProperty(new Error("lazy"), "size", { enumerable: true, get: () => ++reads })',
          error: /^Error: lazy$/,
          trace: /size: \[Getter\]/,
        },
        { cell: 'reads', value: '0' },
        { cell: 'const loop = new Error("loop"); loop.cause = loop; throw loop', error: /^Error: loop$/ },
        {
          cell: 'await Promise.any([Promise.reject(new Error("a"))])',
          error: /^AggregateError: All promises were rejected$/,
          trace: /one of them: Error: a/,
        },
        { cell: 'await Promise.reject(new Error("rejected"))', error: /^Error: rejected$/ },
        { cell: 'AbortSignal.abort().throwIfAborted()', error: /^AbortError: This operation was aborted$/ },
        {
          cell: 'import assert from "node:assert/strict"; assert.equal(1, 2)',
          error: /^AssertionError: Expected values to be strictly equal/,
        },
        {
          cell: 'import { readFileSync } from "node:fs"; readFileSync("/no/such/file")',
          error: /ENOENT: no such file or directory, open '\/no\/such\/file'/,
          trace: /errno: -\d+,\n? *code: 'ENOENT'/,
        },
      ],
    },
    {
      name: 'of a type has line and column, for each place',
      steps: [
        {
          cell: 'const n: number = "a"\nconst s: string = 1',
          error: /^TypeScriptError: 1:7 - Type 'string'[^]*\n2:7 - Type 'number'/,
        },
        { cell: '\n\n   missing', error: /3:4 - Cannot find name 'missing'/, trace: /\^{7}$/ },
        { cell: '[1, 2].flatMapp((x) => x)', error: /Did you mean 'flatMap'\?/ },
        {
          cell: 'const point = { x: 1 }; point.y',
          error: /1:31 - Property 'y' does not exist on type '\{ x: number; \}'/,
        },
        {
          cell: 'const p2: { x: number } = { x: 1, z: 2 }',
          error: /1:35 - Object literal may only specify known properties/,
        },
        { cell: 'function two(a: number, b: number) {}\ntwo(1)', error: /2:1 - Expected 2 arguments, but got 1/ },
        {
          cell: 'class Half implements Iterable<number> {}',
          error: /1:7 - Class 'Half' incorrectly implements interface/,
        },
        {
          cell: 'const dup = { a: 1, a: 2 }',
          error: /1:21 - An object literal cannot have multiple properties with the same name/,
        },
        { cell: '"a" * 2', error: /1:1 - The left-hand side of an arithmetic operation/ },
        { cell: 'if ("a" === ("b" as "b")) 1', error: /no overlap/ },
        {
          cell: 'import { nothing } from "node:fs"',
          error: /1:10 - .*'"?(node:)?fs"?' has no exported member 'nothing'/,
        },
        { cell: '// @ts-expect-error: wanted\nconst forced: number = "text"; forced', value: "'text'" },
        { cell: '// @ts-ignore\nconst ignored: number = "text"; ignored', value: "'text'" },
        { cell: '// @ts-expect-error\nconst right: number = 1', error: /1:1 - Unused '@ts-expect-error' directive/ },
      ],
    },
    {
      name: 'that comes late belongs to its cell, and never ends the kernel',
      steps: [
        {
          cell: 'setTimeout(() => { throw new Error("from a timer") }, 1); 0',
          value: '0',
          late: /Error: from a timer/,
        },
        { cell: 'void Promise.reject(new Error("nobody caught")); 1', value: '1', late: /Error: nobody caught/ },
        {
          cell: 'queueMicrotask(() => { throw new Error("microtask") }); await null; 2',
          value: '2',
          error: /^Error: microtask$/,
        },
        { cell: 'process.nextTick(() => { throw new Error("tick") }); 3', value: '3', late: /Error: tick/ },
        {
          cell: 'import { EventEmitter } from "node:events"\nconst emitter = new EventEmitter(); setImmediate(() => emitter.emit("error", new Error("emitted"))); 4',
          value: '4',
          late: /Error: emitted/,
        },
        { cell: '"kept"', value: "'kept'" },
      ],
    },
  ],
};
