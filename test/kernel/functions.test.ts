import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import { tempFolder } from '../harness/temp.ts';
import { cells, type Step } from './cells.ts';
import { startKernel } from './support.ts';

/** Runs the code of a function separately from the notebook, as a worker does. */
const apart: Step = {
  cell: `import { mkdtempSync, writeFileSync } from 'node:fs';
    async function apart(fn: import('lance-catalog').ComputedFunction, row: object) {
      const file = mkdtempSync('${tempFolder()}/') + '/f.mjs';
      writeFileSync(file, fn.kind === 'typescript' ? fn.code : '');
      return (await import(file)).default(row);
    }`,
};
const about = "{ name: 'made', input: ['text'], output: 'string' }";
const refused = (code: string, error: RegExp): Step => ({ cell: `udf(${about}, ${code})`, error });

suite('Functions that compute columns, in cells', function () {
  this.timeout(120_000);
  const folder = tempFolder();
  const files: Record<string, string> = {
    'parts/tidy.ts':
      "import { mark } from './mark.ts';\nexport const tidy = (text: string): string => text.trim() + mark;",
    'functions.ts': `import { udf } from 'lance-catalog';
      import { tidy } from './parts/tidy.ts';
      const most = 3;
      const cut = (text: string): string => text.slice(0, most) + '!';
      export const shorter = udf({ name: 'shorter', input: ['text'], output: 'string' }, ({ text }) => cut(tidy(text)));
      export const fileFunction = () => udf({ name: 'within', input: ['text'], output: 'string' }, ({ text }) => cut(text));`,
    'parts/mark.ts': "export const mark: string = '!';",
    'node_modules/shout/package.json': '{"name":"shout","main":"i.js"}',
    'node_modules/shout/i.js': "exports.shout = (text) => require('util').format('%s', text.toUpperCase());",
    'node_modules/native/package.json': '{"name":"native","main":"i.js"}',
    'node_modules/native/i.js': "exports.fast = (t) => require('./fast.node').fast(t);",
    'node_modules/native/fast.node': '',
  };
  let kernel: KernelProcess;
  suiteSetup(async () => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    process.env['XDG_DATA_HOME'] = join(folder, 'data');
    kernel = await startKernel({ cwd: folder });
  });
  suiteTeardown(async () => {
    delete process.env['XDG_DATA_HOME'];
    await kernel.shutdown();
  });
  const notebook = () => kernel;

  cells('run apart from the notebook as they ran in it', notebook, apart, {
    cell: `const size = udf({ name: 'size', input: ['text'], output: new arrow.Int32(), onError: { retry: 2 } }, ({ text }) => text.length);
        [size.name, size.inputs, size.kind, size.onError.mode, size.hash.length, await apart(size, { text: 'mug' })]`,
    value: "[ 'size', [ 'text' ], 'typescript', 'retry', 64, 3 ]",
  });

  cells('say the type that they give in words', notebook, {
    cell: `const near = udf({ name: 'near', input: ['text'], output: 'float32[2]' }, ({ text }) => [text.length, 1]); console.log([near]); near`,
    out: /output: 'fixed_size_list<float>\[2\]'/,
    value: /^\{\n {2}kind: 'typescript',\n {2}name: 'near',[^]*\n {2}output: 'fixed_size_list<float>\[2\]',/,
  });

  cells(
    'take functions, classes and constants of cells with them, and what those use',
    notebook,
    apart,
    { cell: "const stop = new Set(['the', 'a']); const pattern = /\\s+/u; enum Level { Low = 1 }" },
    { cell: 'const limits = { least: 1n, names: [{ x: new Date(0) }], of: Float32Array.of(1, 2.5) };' },
    {
      cell: 'class Base { kind = "base" } class Mark extends Base { at(level: Level): string { return this.kind + level; } }',
    },
    { cell: 'const keep = (word: string): boolean => !stop.has(word);' },
    { cell: 'function words(text: string): string[] { return text.split(pattern).filter(keep); }' },
    {
      cell: `const made = udf(${about}, ({ text }) => [...words(text), new Mark().at(Level.Low), limits.least, limits.names[0].x.getTime(), limits.of[1]].join());
        await apart(made, { text: 'the red mug' })`,
      value: "'red,mug,base1,1,0,2.5'",
    },
  );

  cells(
    'take imports with them, from files and packages',
    notebook,
    apart,
    {
      cell: "import { tidy as clean } from './parts/tidy'; import * as loud from 'shout'; import { basename } from 'node:path';",
    },
    {
      cell: `const made = udf(${about}, async ({ text }) => {
          const { mark } = await import('./parts/mark.ts');
          return loud.shout(clean(basename(text))) + mark;
        });
        await apart(made, { text: 'a/mug ' })`,
      value: "'MUG!!'",
    },
  );

  cells(
    'may be those of a file that the cell imports, with all that the file has for them',
    notebook,
    apart,
    { cell: "import { shorter, fileFunction } from './functions.ts';" },
    { cell: "await apart(shorter, { text: ' long ' })", value: "'lon!'" },
    {
      cell: 'fileFunction()',
      error: /"within" of .*functions\.ts is not a top-level constant of the file\. Write export const/,
    },
  );

  cells('have what arrow is where they use it', notebook, apart, {
    cell: `const made = udf({ name: 'v', input: ['text'], output: new arrow.Int32(), takes: 'batch' }, (batch) => arrow.vectorFromArray([batch.numRows], new arrow.Int32()));
        [...await apart(made, { numRows: 7 })]`,
    value: '[ 7 ]',
  });

  cells(
    'are the same function when they are defined again, and another one when what they use has changed',
    notebook,
    { cell: 'const factor = 2;' },
    { cell: `const before = udf(${about}, ({ text }) => text.repeat(factor)).hash;` },
    { cell: `udf(${about}, ({ text }) => text.repeat(factor)).hash === before`, value: 'true' },
    { cell: 'const factor = 3;' },
    { cell: `udf(${about}, ({ text }) => text.repeat(factor)).hash === before`, value: 'false' },
  );

  cells(
    'are refused where they use what may change or can not travel, by its name and cell',
    notebook,
    { cell: 'let counter = 0;' },
    refused(
      '() => String(counter++)',
      /^JobError: The function "made" uses the variable "counter" of cell \[\d+\], which is declared with let.*Declare it with const/,
    ),
    { cell: 'class Model { size = 1 } const model = new Model(); const helper = () => model.size;' },
    refused(
      '() => String(model.size)',
      /uses the variable "model" of cell \[\d+\], which holds a Model and can't be stored with the function/,
    ),
    refused('() => String(helper())', /uses the variable "model" of cell/),
    refused('() => String(db)', /uses the variable "db", which belongs to the notebook/),
    refused(
      '() => String(display)',
      /uses "display", which belongs to the notebook and is not available where the function runs/,
    ),
    refused('() => import.meta.url', /uses import\.meta, which is not available where the function runs/),
    refused('() => require("node:fs").sep', /uses require, which is not available/),
    refused('String.prototype.trim as any', /is a built-in or bound function/),
    refused('({ f() { return "" } }).f', /is a method of an object/),
  );

  cells(
    'are refused where they close over what is declared around them',
    notebook,
    {
      cell: `const adder = (more: string) => udf(${about}, ({ text }) => text + more); adder('!')`,
      error: /uses "more", which is declared in an enclosing scope and can't be stored with the function/,
    },
    {
      cell: `for (const each of [1, 2]) udf(${about}, ({ text }) => text + each);`,
      error: /uses "each", which is declared in an enclosing scope/,
    },
    {
      cell: `const again = (more: string) => () => more; const bound = again('x'); udf(${about}, () => bound())`,
      error: /uses "more" in "bound" of cell \[\d+\]/,
    },
  );

  cells('are refused where a package has native code', notebook, {
    cell: `import { fast } from 'native'; udf(${about}, ({ text }) => fast(text))`,
    error: /FunctionNotPortable|the package "native", which has native code/,
  });

  cells('are refused by the compiler where they give something else than they say', notebook, {
    cell: "udf({ name: 'n', input: ['text'], output: new arrow.Int32() }, ({ text }) => 'three')",
    error: /not assignable/,
  });

  cells('say what is wrong with their options', notebook, {
    cell: "udf({ name: 'n', input: ['text'], output: 'int33' }, ({ text }) => 3)",
    error: /"int33" is not a column type\. Use one of/,
  });
});
