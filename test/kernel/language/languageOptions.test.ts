import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tempFolder } from '../../harness/temp.ts';
import { runStep, type Step } from '../cells.ts';
import { kernelOfSuite } from '../support.ts';

/** Creates a folder with these files, and a folder below it. */
function project(files: Record<string, string>): string {
  const folder = tempFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const notebooks = join(folder, 'notebooks');
  mkdirSync(notebooks);
  return notebooks;
}

/** Stands in for React, with only the functions that the automatic JSX transform needs. */
const jsxRuntimeStandIn = {
  'node_modules/tiny/package.json':
    '{"name":"tiny","exports":{"./jsx-runtime":{"types":"./r.d.ts","default":"./r.js"}}}',
  'node_modules/tiny/r.js': 'exports.jsx = exports.jsxs = (tag, props) => ({ tag, props });',
  'node_modules/tiny/r.d.ts':
    'export declare const jsx: any, jsxs: any; export namespace JSX { type Element = { tag: string; props: object }; interface IntrinsicElements { p: { children?: unknown; id?: string } } }',
};

/**
 * Stands in for the package `reflect-metadata`: the one function that TypeScript calls, and one to read the metadata.
 */
const reflectStandIn = {
  'node_modules/reflect-metadata/package.json': '{"name":"reflect-metadata","main":"r.js","types":"r.d.ts"}',
  'node_modules/reflect-metadata/r.d.ts': 'export {};',
  'node_modules/reflect-metadata/r.js': `const told = new Map();
Reflect.metadata = (kind, value) => (target, key) => void told.set(key + kind, value);
Reflect.typeOf = (target, key) => told.get(key + 'design:type');`,
};

suite('The tsconfig.json of a notebook', function () {
  this.timeout(60_000);
  const notebook = kernelOfSuite();

  /** Runs cells of a notebook in a folder with these files. */
  async function inProject(files: Record<string, string>, ...steps: Step[]): Promise<void> {
    await runStep(notebook(), { cell: `process.chdir(${JSON.stringify(project(files))})` });
    for (const step of steps) await runStep(notebook(), step);
  }

  test('makes cells strict, finds files by paths, and chooses JSX and decorators', () =>
    inProject(
      {
        'tsconfig.json': `{
  // Comments are allowed here.
  "compilerOptions": {
    "strict": true, "noUncheckedIndexedAccess": true, "experimentalDecorators": true, "target": "es5", "module": "commonjs",
    "jsx": "react-jsx", "jsxImportSource": "tiny", "noEmit": true, "paths": { "@lib/*": ["./lib/*"] }
  },
  "include": ["src", "notebooks"]
}`,
        'lib/tools.ts': 'export const tool = (x: number) => x + 1;',
        ...jsxRuntimeStandIn,
      },
      { cell: 'const list = [1]; const first: number = list[0]', error: /Type 'undefined' is not assignable/ },
      { cell: 'let nothing: string = null', error: /Type 'null' is not assignable/ },
      { cell: `import { tool } from '@lib/tools'; tool(1)`, value: '2' },
      { cell: 'const word = "id"; <p id={word}>hi</p>', value: "{ tag: 'p', props: { id: 'id', children: 'hi' } }" },
      {
        cell: 'const legacy = (target: object, key: string) => console.log(key); class Old { @legacy field = 1 } new Old().field',
        out: 'field\n',
        value: '1',
      },
      { cell: 'await Promise.resolve([1].at(-1))', value: '1' },
    ));

  test('has metadata of decorators written, with classes of earlier cells and of modules', () =>
    inProject(
      {
        'tsconfig.json': '{ "compilerOptions": { "experimentalDecorators": true, "emitDecoratorMetadata": true } }',
        ...reflectStandIn,
      },
      { cell: 'import "reflect-metadata"; class First {} const noted = (target: object, key: string) => {}' },
      {
        cell: `import { URL as Address } from 'node:url';
class Own {}
class Noted { @noted a!: string; @noted b!: First; @noted c!: Own; @noted d!: Address; @noted e!: Noted }
['a', 'b', 'c', 'd', 'e'].map((key) => (Reflect as any).typeOf(Noted.prototype, key).name)`,
        value: "[ 'String', 'First', 'Own', 'URL', 'Noted' ]",
      },
    ));

  test('that is broken is one sentence, and the defaults', () =>
    inProject(
      { 'tsconfig.json': '{ "compilerOptions": { "strict": ' },
      {
        cell: '1 + 1',
        value: '2',
        err: /^Can't use "\.\.\/tsconfig\.json" for the cells of this notebook: .*\n$/,
      },
      { cell: 'let loose: string = null; loose' },
    ));

  test('is read again when it changes', () =>
    inProject(
      { 'tsconfig.json': '{ "compilerOptions": { "strict": false } }' },
      { cell: 'let free: string = null' },
      {
        cell: `require('fs').writeFileSync('../tsconfig.json', '{ "compilerOptions": { "strict": true, "types": [] } }')`,
      },
      { cell: 'let tight: string = null', error: /Type 'null' is not assignable/ },
      { cell: 'typeof process.pid', value: "'number'" },
    ));

  test('is read when it is made, also nearer than the one before, and forgotten when it is removed', () =>
    inProject(
      {},
      { cell: "const write = (path: string, text: string) => require('fs').writeFileSync(path, text)" },
      { cell: 'let loose: string = null' },
      { cell: `write('../tsconfig.json', '{ "compilerOptions": { "strict": true } }')` },
      { cell: 'let tight: string = null', error: /Type 'null' is not assignable/ },
      { cell: `write('tsconfig.json', '{ "compilerOptions": { "strict": false } }')` },
      { cell: 'let free: string = null' },
      { cell: "require('fs').rmSync('tsconfig.json')" },
      { cell: 'let again: string = null', error: /Type 'null' is not assignable/ },
    ));
});
