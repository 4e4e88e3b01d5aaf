import type { Theme } from './corpus.ts';

export const modules: Theme = {
  name: 'Modules in the corpus',
  files: {
    'tsconfig.json': '{ "compilerOptions": { "strict": true, "jsx": "react", "jsxFactory": "h" } }',
    'lib/shapes.ts':
      'export interface Shape { side: number }\nexport const area = (s: Shape): number => s.side ** 2;\nexport default class Square implements Shape { constructor(readonly side = 2) {} }',
    'lib/fails.ts': 'export function fail(): never {\n  throw new Error("from a file");\n}',
    'lib/index.ts':
      'export * from "./shapes.ts";\nexport * as shapes from "./shapes.ts";\nexport const loaded = { times: 0 };\nloaded.times++;',
    'lib/elements.ts':
      "export default { createElement: (tag: unknown, props: object | null, ...kids: unknown[]) => [tag, props, kids], Fragment: 'none' };",
    'here.ts': 'export const here = import.meta.url; export const file = import.meta.filename;',
    'here.mjs': '#!/usr/bin/env node\nexport const here = import.meta.url;',
    'settings.json': '{ "port": 8080, "tags": ["a"], "dash-ed": true }',
    'old.cjs': 'exports.answer = 42; exports.where = __filename.split(/[\\\\/]/).pop();',
    'plain.mjs':
      'export const here = import.meta.filename.endsWith("plain.mjs"); export default await Promise.resolve("awaited");',
  },
  sequences: [
    {
      name: 'are the files beside the notebook, with their types',
      steps: [
        { cell: 'import Square, { area, type Shape } from "./lib/shapes.ts"; area(new Square(3))', value: '9' },
        { cell: 'area({ side: "3" })', error: /Type 'string' is not assignable to type 'number'/ },
        { cell: 'const typed: Shape = { side: 4 }; area(typed)', value: '16' },
        { cell: 'import * as lib from "./lib/index.ts"; lib.shapes.area === area', value: 'true' },
        { cell: 'lib.area(typed) + lib.loaded.times', value: '17' },
        { cell: 'import { loaded as again } from "./lib"; again.times', value: '1' },
        {
          cell: 'import { fail } from "./lib/fails"; fail()',
          error: /^Error: from a file$/,
          trace: /fails\.ts:2:9[^]*at \[\d+\]:1:\d+$/,
        },
        {
          cell: 'import settings from "./settings.json"; [settings.port, settings["dash-ed"]]',
          value: '[ 8080, true ]',
        },
        { cell: 'settings.prot', error: /Property 'prot' does not exist/ },
        { cell: 'import { answer, where } from "./old.cjs"; [answer, where]', value: "[ 42, 'old.cjs' ]" },
        { cell: 'import text, { here } from "./plain.mjs"; [text, here]', value: "[ 'awaited', true ]" },
        { cell: 'const { area: dynamic } = await import("./lib/shapes.ts"); dynamic({ side: 5 })', value: '25' },
        { cell: 'const which = "shapes"; (await import(`./lib/${which}.ts`)).area({ side: 1 })', value: '1' },
        { cell: 'import "./lib/index.ts"; 1', value: '1' },
        {
          cell: 'import * as meta from "./here.ts"; [meta.here.startsWith("file:///"), meta.here.endsWith("here.ts"), meta.file.endsWith("here.ts")]',
          value: '[ true, true, true ]',
        },
        { cell: '(await import("./here.mjs")).here.endsWith("here.mjs")', value: 'true' },
        { cell: 'import { areas } from "./lib/shapes.ts"', error: /has no exported member( named)? 'areas'/ },
        {
          cell: 'import x from "./not-there.ts"',
          error:
            /1:15 - Cannot find module '\.\/not-there\.ts'.* There is no file for it in "\/\S+"\. Check the name, or create the file\.$/,
        },
        {
          cell: 'import "./lib/shape.ts"',
          error: /There is no file for it in "\/\S+\/lib"\. Did you mean '\.\/lib\/shapes\.ts'\?$/,
        },
        { cell: 'import "./gone/shapes.ts"', error: /The folder "\/\S+\/gone" does not exist\. Check the path\.$/ },
        { cell: 'await import("./lib/" + "gone.ts")', error: /Cannot find module/ },
      ],
    },
    {
      name: 'are those of Node, in every way of asking',
      steps: [
        { cell: 'import { join } from "node:path"; join("a", "..", "b")', value: "'b'" },
        { cell: 'import path, { sep } from "path"; path.sep === sep', value: 'true' },
        { cell: 'import * as os from "node:os"; os.EOL.length > 0', value: 'true' },
        { cell: 'import fs = require("node:fs"); fs.existsSync("lib")', value: 'true' },
        { cell: 'const util = require("node:util"); util.inspect({ a: 1 })', value: "'{ a: 1 }'" },
        {
          cell: 'import { createHash } from "node:crypto"; createHash("sha256").update("").digest("hex").slice(0, 8)',
          value: "'e3b0c442'",
        },
        {
          cell: 'import { execFileSync } from "node:child_process"; execFileSync(process.execPath, ["-p", "1 + 1"], { encoding: "utf8" })',
          value: "'2\\n'",
        },
        {
          cell: 'import { Worker } from "node:worker_threads"; await new Promise((done) => new Worker("require(\'worker_threads\').parentPort.postMessage(5)", { eval: true }).on("message", done))',
          value: '5',
        },
        {
          cell: 'import { readFile } from "node:fs/promises"; JSON.parse(await readFile("settings.json", "utf8")).port',
          value: '8080',
        },
        {
          cell: '[typeof __dirname, typeof __filename, typeof import.meta.url, typeof require.resolve]',
          value: "[ 'string', 'string', 'string', 'function' ]",
        },
        { cell: 'import type { Stats } from "node:fs"; let stats: Stats | undefined; stats' },
        { cell: 'Stats', error: /'Stats' (only refers to a type|cannot be used as a value)/ },
      ],
    },
    {
      name: 'are in an address, as JSON and as text',
      steps: [
        { cell: '(await import("data:text/javascript,export const n = 1")).n', value: '1' },
        { cell: 'import six from "data:text/javascript,export default 6"; six', value: '6' },
        { cell: '(await import("data:application/json,[1]", { with: { type: "json" } })).default', value: '[ 1 ]' },
        {
          cell: 'await import("data:text/typescript,export const n: number = 1")',
          error: /Can't import the URL data:text\/typescript,….*Put the code into a file/,
        },
        { cell: 'import strict from "./settings.json" with { type: "json" }; strict.tags', value: "[ 'a' ]" },
      ],
    },
    {
      name: 'are what a cell exports: variables of the notebook',
      steps: [
        { cell: 'export const shared = 1; export function twice(n: number) { return n * 2 }' },
        { cell: 'twice(shared)', value: '2' },
        { cell: 'export default 5' },
        { cell: 'export default function chosen() { return "chosen" }' },
        { cell: 'chosen()', value: "'chosen'" },
        { cell: 'const local = 3; export { local as renamed }' },
        { cell: 'export type Id = string; export interface Row { id: Id }' },
        { cell: 'const row: Row = { id: "r" }; row', value: "{ id: 'r' }" },
      ],
    },
    {
      name: 'make JSX by the factory that tsconfig.json or the cell names, a variable of the notebook as others are',
      steps: [
        {
          cell: `declare global { namespace JSX { interface IntrinsicElements { [tag: string]: object } } }
const h = function (this: unknown, tag: string, props: object | null, ...kids: unknown[]) { return { tag, props, kids, self: this } }`,
        },
        {
          cell: '<p id="a">hi {1 + 1}</p>',
          value: "{ tag: 'p', props: { id: 'a' }, kids: [ 'hi ', 2 ], self: undefined }",
        },
        {
          cell: 'const inner = (h: (tag: string) => string) => <b />; inner((tag) => tag + "!") as unknown',
          value: "'b!'",
        },
        { cell: 'const { tag } = <i /> as { tag?: string }; tag', value: "'i'" },
        { cell: 'import Elements from "./lib/elements.ts"' },
        {
          cell: '/** @jsx Elements.createElement */\n/** @jsxFrag Elements.Fragment */\nconst many = <><a /></>; many as unknown',
          value: "[ 'none', null, [ [ 'a', null, [] ] ] ]",
        },
      ],
    },
    {
      name: 'follow the tsconfig.json beside the notebook',
      steps: [
        { cell: 'const absent: string = null', error: /1:7 - Type 'null' is not assignable to type 'string'/ },
        { cell: 'function loose(x) { return x }', error: /1:16 - Parameter 'x' implicitly has an 'any' type/ },
        {
          cell: 'let perhaps: { a: number } | undefined = JSON.parse("null") ?? undefined; perhaps.a',
          error: /'perhaps' is possibly 'undefined'|Object is possibly/,
        },
        { cell: 'class Unset { x: number }', error: /1:15 - Property 'x' has no initializer/ },
        { cell: 'try { throw 1 } catch (e) { e.message }', error: /'e' is of type 'unknown'/ },
      ],
    },
  ],
};
