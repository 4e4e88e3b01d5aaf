import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inRoot } from '../../scripts/paths.ts';
import { tempFolder } from '../harness/temp.ts';
import { cliEntry, command, type Ran } from './support.ts';

// Notebooks as other programs leave them, in test/fixtures/notebooks.

type Output = {
  name?: string;
  text?: string[];
  data?: Record<string, string[]>;
  evalue?: string;
  traceback?: string[];
};
type Saved = { cells: { outputs: Output[] }[] };

const tiny = {
  'node_modules/tiny/package.json': '{"name":"tiny","version":"1.2.0","main":"i.js","types":"i.d.ts"}',
  'node_modules/tiny/i.js': 'exports.size = 12;',
  'node_modules/tiny/i.d.ts': 'export declare const size: number;',
  'node_modules/@scope/tiny/package.json':
    '{"name":"@scope/tiny","exports":{"./part":{"types":"./p.d.ts","default":"./p.js"}}}',
  'node_modules/@scope/tiny/p.js': 'module.exports = "a part";',
  'node_modules/@scope/tiny/p.d.ts': 'declare const part: string; export default part;',
};

/** Returns the files of a strict project with this part of its tsconfig.json. */
const strict = (include: string): Record<string, string> => ({
  'tsconfig.json': `{ "compilerOptions": { "strict": true, "lib": ["es2015", "dom"], "paths": { "@/*": ["./src/*"] } }, ${include} }`,
  'src/twice.ts': 'export const twice = (n: number): number => (typeof document === "undefined" ? 2 : 3) * n;',
});

/** Runs a notebook of the fixtures in a folder with these files, through all cells, and returns it with its outputs. */
async function runOf(
  name: string,
  { files = tiny, below = '' }: { files?: Record<string, string>; below?: string } = {},
  ...more: string[]
): Promise<Ran & { texts: string[]; folder: string }> {
  const folder = tempFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const notebook = join(folder, below, `${name}.ipynb`);
  mkdirSync(dirname(notebook), { recursive: true });
  cpSync(inRoot(`test/fixtures/notebooks/${name}.ipynb`), notebook);
  const args = ['run', notebook, '--allow-errors', '-o', notebook, ...more];
  const ran = await command(process.execPath, [cliEntry, ...args], { seconds: 100 });
  assert.equal(ran.code, 0, ran.stderr);
  const { cells } = JSON.parse(readFileSync(notebook, 'utf8')) as Saved;
  return { ...ran, folder, texts: cells.map(({ outputs }) => outputs.map(textOf).join('')) };
}

const textOf = ({ text, data, evalue, traceback }: Output): string =>
  [...(text ?? data?.['text/plain'] ?? (traceback ? [`${evalue}\n${traceback.join('\n')}`] : []))].join('');

suite('A notebook of', function () {
  this.timeout(120_000);

  test('Deno finds the packages of npm: that are installed, and is told what Node.js does not have', async () => {
    const { texts } = await runOf('deno');
    const [found, absent, jsr, url, api] = texts;
    assert.equal(found, "[ 12, 'a part', 12, 12 ]");
    assert.match(absent ?? '', /Cannot find module 'npm:absent@\^2\.1\/deep'.* Run %install absent@\^2\.1 in a cell\./);
    for (const text of [jsr, url]) {
      assert.match(text ?? '', /Cannot find module '(?:jsr|https):.* Node\.js can't import from (?:JSR|a URL)/);
      assert.doesNotMatch(text ?? '', /%install/);
    }
    assert.match(
      api ?? '',
      /Cannot find name 'Deno'\. This kernel runs Node\.js, which does not have the API of Deno\./,
    );
  });

  test('Deno is told the same while it runs, if types are not checked', async () => {
    const { texts } = await runOf('deno', {}, '--type-check', 'off');
    assert.equal(texts[0], "[ 12, 'a part', 12, 12 ]");
    assert.match(texts[1] ?? '', /Can't load 'npm:absent@\^2\.1\/deep' in \S+ Run %install absent@\^2\.1 in a cell\./);
    assert.match(texts[2] ?? '', /Can't load 'jsr:@std\/assert' in \S+ Node\.js can't import from (?:JSR|a URL)/);
    assert.match(
      texts[3] ?? '',
      /Can't load 'https:\/\/example\.com\/confetti\.ts' in \S+ Node\.js can't import from (?:JSR|a URL)/,
    );
  });

  test('tslab or IJavascript runs as JavaScript', async () => {
    assert.deepEqual((await runOf('jslab')).texts, ['', '12']);
    assert.deepEqual((await runOf('javascript')).texts, ['text now\n']);
  });

  test('Node.js has console.Console, and errors of modules that name what helps', async () => {
    const { texts, folder } = await runOf('node');
    const [printed, part, missing, gone, notInstalled] = texts;
    assert.equal(printed, 'from a console of its own\n');
    assert.ok(
      part?.includes(
        `The package "tiny" in "${join(folder, 'node_modules/tiny')}" has no module "nope". Check the name of the module.`,
      ),
      part,
    );
    assert.doesNotMatch(part ?? '', /%install/);
    assert.match(missing ?? '', /Can't load 'missing' in \S+ Run %install missing in a cell\./);
    assert.match(gone ?? '', /There is no file for '\.\/gone' in "\S+"\./);
    assert.match(notInstalled ?? '', /Run %install not-installed in a cell\./);
  });

  test('a run keeps what its last cell prints and throws a moment later, and ends despite a timer', async () => {
    const { texts } = await runOf('late');
    assert.match(texts[1] ?? '', /^2printed later\n[^]*thrown later/);
    assert.deepEqual((await runOf('endless')).texts, ["'still here'"]);
  });

  test('a folder outside of the project is not checked as strictly, but imports its files', async () => {
    const below = 'notes/deep';
    for (const include of ['"include": ["src"]', '"files": ["src/twice.ts"]', '"exclude": ["notes"]'])
      assert.deepEqual((await runOf('outsideProject', { files: strict(include), below })).texts, ['1', '8'], include);
    const { texts } = await runOf('outsideProject', { files: strict('"include": ["src", "notes"]'), below });
    assert.match(texts[0] ?? '', /Object is possibly 'undefined'/);
    assert.match(texts[0] ?? '', /^"\.\.\/\.\.\/tsconfig\.json" says how strictly .* use --type-check warn, or/m);
    assert.equal(texts[1], '8');
  });

  test('cells that build on each other names the cell that failed', async () => {
    const { texts } = await runOf('chained');
    const [failed, second, third, shorthand, again, good] = texts;
    assert.match(failed ?? '', /TS2322/);
    assert.doesNotMatch(failed ?? '', /--type-check/);
    assert.match(
      second ?? '',
      /Cannot find name 'rows': cell \[1\], which declares it, did not run\. Fix and run that cell first\./,
    );
    assert.match(
      third ?? '',
      /Cannot find name 'first': cell \[2\], which declares it, did not run\. Fix and run that cell first\./,
    );
    assert.match(
      shorthand ?? '',
      /Cannot find name 'rows': cell \[1\], which declares it, did not run\. Fix and run that cell first\./,
    );
    assert.deepEqual([again, good], ['1', '1']);
  });
});
