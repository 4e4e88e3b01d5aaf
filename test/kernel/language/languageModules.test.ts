import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import { tempFolder } from '../../harness/temp.ts';
import { cells, runStep } from '../cells.ts';
import { startKernel } from '../support.ts';

/** Packages as they are published: ES modules with an exports map, with top-level await, CommonJS, or both. */
const packages: Record<string, string> = {
  'awaiting/package.json': `{"name":"awaiting","type":"module","exports":{".":{"types":"./i.d.ts","default":"./i.js"},"./sub":"./sub.js"}}`,
  'awaiting/i.js': 'export const value = await Promise.resolve(7); export default "default of awaiting";',
  'awaiting/i.d.ts': 'export declare const value: number; declare const text: string; export default text;',
  'awaiting/sub.js': 'export const part = "sub";',
  'modern/package.json': '{"name":"modern","type":"module","exports":{"import":"./i.js"}}',
  'modern/i.js': 'export const value = 8;',
  'classic/package.json': '{"name":"classic","main":"i.js"}',
  'classic/i.js': 'module.exports = function () { return 9 }; module.exports.member = 1;',
  'broken/package.json': '{"name":"broken","main":"i.js"}',
  'broken/i.js': '\n  function ( {',
  'lacking/package.json': '{"name":"lacking","type":"module","exports":"./i.js"}',
  'lacking/i.js': 'export const here = 1;',
  'compiled/package.json': '{"name":"compiled","main":"i.js"}',
  'compiled/i.js':
    'exports.__esModule = true; exports.default = "its default"; exports.live = 1; exports.grow = () => ++exports.live;',
};

suite('Imports of a cell', function () {
  this.timeout(60_000);
  const folder = tempFolder();
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  let kernel: KernelProcess;
  suiteSetup(async () => {
    for (const [name, text] of Object.entries(packages)) write(`node_modules/${name}`, text);
    write('marked.json', '\uFEFF{"n":4}');
    write('data.json', '{"name":"of a file","n":3,"not-a-name":1}');
    kernel = await startKernel({ cwd: folder });
  });
  suiteTeardown(() => kernel.shutdown());
  const notebook = () => kernel;

  cells(
    'reach ES modules with maps of exports and top-level await, and CommonJS',
    notebook,
    { cell: 'import text, { value } from "awaiting"; [text, value]', value: "[ 'default of awaiting', 7 ]" },
    { cell: 'import { part } from "awaiting/sub"; part', value: "'sub'" },
    { cell: 'import * as modern from "modern"; modern.value', value: '8' },
    { cell: 'import classic, { member } from "classic"; [classic(), member]', value: '[ 9, 1 ]' },
    { cell: 'import * as all from "classic"; [all.member, typeof all.default]', value: "[ 1, 'function' ]" },
    {
      cell: 'import compiled, { live, grow } from "compiled"; grow(); [compiled, live]',
      value: "[ 'its default', 2 ]",
    },
    { cell: '[(await import("modern")).value, (await import("classic")).default()]', value: '[ 8, 9 ]' },
    { cell: 'const { value: again } = await import("awaiting"); again', value: '7' },
    { cell: 'require("classic")()', value: '9' },
  );

  cells(
    'reach what Node has, by name, whole and as types alone',
    notebook,
    { cell: 'import fs, { readFileSync } from "node:fs"; fs.readFileSync === readFileSync', value: 'true' },
    { cell: 'import * as os from "os"; typeof os.cpus', value: "'function'" },
    {
      cell: 'import type { Stats } from "node:fs"; import { join, type ParsedPath } from "node:path"; let stats: Stats; join("a", "b")',
      value: "'a/b'",
    },
    {
      cell: 'const parsed: ParsedPath | undefined = undefined; stats = fs.statSync("."); stats.isDirectory()',
      value: 'true',
    },
    { cell: 'import old = require("node:fs"); old === fs', value: 'true' },
  );

  test('are required too where they are TypeScript, as they are now', async () => {
    write('asked.ts', 'import { twice } from "./helps"; export enum Colour { Red = 3 }; export const four = twice(2);');
    write(
      'helps.ts',
      'export const twice = (n: number): number => n * 2;\nexport const fail = () => { throw new Error("far") };',
    );
    await runStep(kernel, {
      cell: 'const { Colour, four } = require("./asked.ts"); [Colour.Red, four]',
      value: '[ 3, 4 ]',
    });
    await runStep(kernel, { cell: 'require("./asked") === require("./asked.ts")', value: 'true' });
    await runStep(kernel, { cell: 'require("./helps").fail()', error: /^Error: far$/, trace: /helps\.ts:2:\d+/ });
    write('helps.ts', 'export const twice = (n: number): number => n * 20;');
    await runStep(kernel, { cell: 'require("./asked").four', value: '40' });
    await runStep(kernel, {
      cell: 'import * as asked from "./asked"; asked.four === require("./asked").four && asked',
      value: /Colour/,
    });
    write('awaits.ts', 'await 0; export const late = 1;');
    await runStep(kernel, { cell: 'require("./awaits")', error: /Can't require \S*awaits\.ts .* await import/ });
    await runStep(kernel, { cell: 'require("./none.ts")', error: /There is no file for '\.\/none\.ts' in/ });
  });

  cells(
    'take JSON, with and without its type said',
    notebook,
    {
      cell: 'import data, { n } from "./data.json"; [data.name, data["not-a-name"], n]',
      value: "[ 'of a file', 1, 3 ]",
    },
    { cell: 'import marked from "./marked.json"; marked.n', value: '4' },
    { cell: 'import typed from "./data.json" with { type: "json" }; typed.n', value: '3' },
    { cell: '(await import("./data.json", { with: { type: "json" } })).default.n', value: '3' },
    { cell: 'import inline from "data:text/javascript,export default 5"; inline', value: '5' },
  );

  cells(
    'that are named where nothing is say what to do',
    notebook,
    {
      cell: 'import { nothing } from "no-such-package/deep"',
      error: /Cannot find module 'no-such-package\/deep'.*Run %install no-such-package/,
    },
    { cell: 'import "@no-such/package"', error: /Run %install @no-such\/package in a cell/ },
    { cell: 'import { helps } from "./help"', error: /no file for it in "\S+"\. Did you mean '\.\/helps\.ts'\?/ },
    { cell: '%check off', out: /off/ },
    {
      cell: 'import { helps } from "./help"',
      error: /^Error: There is no file for '\.\/help' in "\S+"\. Did you mean '\.\/helps\.ts'\?/,
    },
    { cell: '%check error', out: /error/ },
  );

  cells(
    'that fail say where, and nothing of how they were made',
    notebook,
    { cell: 'import broken from "broken"', error: /^SyntaxError: /, trace: /^ +at .*broken\/i\.js:2:3$/m },
    {
      cell: 'import { absent } from "lacking"',
      error: /export named 'absent'/,
      trace: /^SyntaxError: .*\n +at async \[\d+\]:1:1$/,
    },
  );

  cells('find one apache-arrow, whichever way they ask', notebook, {
    cell: 'import { Table } from "apache-arrow"; [Table === arrow.Table, (await import("apache-arrow")).Table === Table]',
    value: '[ true, true ]',
  });

  cells(
    'know where the notebook is',
    notebook,
    { cell: `__dirname === ${JSON.stringify(folder)} && __dirname === import.meta.dirname`, value: 'true' },
    {
      cell: 'import { fileURLToPath } from "node:url"; fileURLToPath(import.meta.url) === __filename && __filename === import.meta.filename',
      value: 'true',
    },
    {
      cell: '[import.meta.resolve("./x.js") === new URL("x.js", import.meta.url).href, import.meta.resolve("fs"), /classic.i\\.js$/.test(import.meta.resolve("classic"))]',
      value: "[ true, 'node:fs', true ]",
    },
    { cell: 'typeof require.resolve("classic")', value: "'string'" },
  );
});

suite("A file of the person's own in a cell", function () {
  this.timeout(60_000);
  const folder = tempFolder();
  let writes = 0;
  const write = (name: string, text: string) => {
    // The size changes each time, because a fast test may write twice within the time resolution of the file system.
    writeFileSync(join(folder, name), `${text}\n${' '.repeat(++writes)}\n`);
  };
  let kernel: KernelProcess;
  suiteSetup(async () => {
    write('deep.ts', 'export const deep: number = 1;');
    write(
      'util.ts',
      `import { deep } from './deep';
export enum Color { Red, Green }
export let counter = 0;
export const bump = () => ++counter;
export interface Shape { side: number }
export const area = (shape: Shape): number => shape.side ** 2 * deep;
export function boom(): never {
  throw new Error('from util');
}`,
    );
    kernel = await startKernel({ cwd: folder });
  });
  suiteTeardown(() => kernel.shutdown());
  const notebook = () => kernel;

  cells(
    'is TypeScript as it is, by any of its names',
    notebook,
    {
      cell: `import { area, bump, Color, counter, type Shape } from './util'; bump(); [area({ side: 2 }), Color.Green, counter]`,
      value: '[ 4, 1, 1 ]',
    },
    { cell: `import * as again from './util.ts'; again.bump(); counter`, value: '2' },
    { cell: `(await import('./util.js')).counter`, value: '2' },
    { cell: 'const square: Shape = { side: "x" }', error: /Type 'string' is not assignable/ },
  );

  cells('that throws is named by its path', notebook, {
    cell: `import { boom } from './util';\nboom()`,
    error: /^Error: from util$/,
    trace: /at boom \(util\.ts:8:9\)\n +at \[\d+\]:2:1$/,
  });

  test('is loaded again when it has changed, or what it imports, values and types', async () => {
    await runStep(kernel, { cell: `import { deep as value } from './deep'; value`, value: '1' });
    write('deep.ts', 'export const deep: number = 10; export const added = "new";');
    await runStep(kernel, { cell: '[value, area({ side: 2 })]', value: '[ 10, 40 ]' });
    await runStep(kernel, { cell: `import { added } from './deep'; added.length`, value: '3' });
    write('deep.ts', 'export const deep: string = "text"; export const added = "new";');
    await runStep(kernel, {
      cell: 'const stillNumber: number = value',
      error: /Type 'string' is not assignable to type 'number'/,
    });
    write('deep.ts', 'export const deep: number = 2; export const added = "new";');
    await runStep(kernel, { cell: 'const number: number = value; number', value: '2' });
  });

  test('that is broken leaves what was loaded, and says so', async () => {
    write('fragile.ts', 'export const state = 1;');
    await runStep(kernel, { cell: `import { state } from './fragile'; state`, value: '1' });
    write('fragile.ts', 'throw new Error("does not load"); export const state = 2;');
    await runStep(kernel, {
      cell: 'state',
      value: '1',
      err: /Can't reload ".*fragile\.ts" after a change.*does not load/,
    });
    write('fragile.ts', 'export const state = 3;');
    await runStep(kernel, { cell: 'state', value: '3' });
  });

  test('with an error of its types is refused as the cell would be', async () => {
    write('untyped.ts', 'export const text: string = 3;');
    await runStep(kernel, {
      cell: `import { text } from './untyped'`,
      error: /untyped\.ts:1:14 - Type 'number' is not assignable/,
      trace: /^untyped\.ts:1:14 - error TS2322: .*\n1 \| export const text: string = 3;\n {17}\^\^\^\^$/,
    });
  });

  test('may await, go in circles, be .mts, .cts or .js, and import what is preloaded', async () => {
    write(
      'one.mts',
      `import { two } from './two.mjs'; export const one = await Promise.resolve(1); export const both = () => one + two;`,
    );
    write('two.mts', `import { one } from './one.mjs'; export const two = 2; export const late = () => one;`);
    await runStep(kernel, { cell: `import { both } from './one.mts'; both()`, value: '3' });
    write('common.cts', `const answer: number = 42; module.exports = { answer };`);
    write('plain.js', `export const plain = 'js';`);
    write(
      'loaded.ts',
      `import { arrow, connect } from 'lance-catalog'; import { Table } from 'apache-arrow'; export const same = [typeof connect, arrow.Table === Table];`,
    );
    await runStep(kernel, {
      cell: `import { plain } from './plain.js'; import { same } from './loaded'; [plain, ...same]`,
      value: "[ 'js', 'function', true ]",
    });
    await runStep(kernel, { cell: `(await import('./common.cts') as any).answer`, value: '42' });
  });

  test('is found from where the notebook has gone', async () => {
    mkdirSync(join(folder, 'below'));
    write('below/near.ts', 'export const near = "below";');
    await runStep(kernel, { cell: `process.chdir('below')` });
    await runStep(kernel, { cell: `import { near } from './near'; near`, value: "'below'" });
    await runStep(kernel, { cell: 'area({ side: 1 } satisfies Shape)', value: '2' });
    await runStep(kernel, { cell: `process.chdir('..')` });
  });
});
