import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Field, Int32 } from '#arrow';
import type { Table } from '#catalog/table/table.ts';
import { engineFunction } from '#jobs/definition/engineFunction.ts';
import { parseTypeName } from '#jobs/definition/functionOptions.ts';
import { readFunction } from '#jobs/definition/functionSource.ts';
import { functionHash } from '#jobs/definition/hash.ts';
import { decodeOutput, encodeOutput } from '#jobs/definition/outputType.ts';
import { columnsIn } from '#jobs/definition/sqlFunction.ts';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';
import { isJobError, type JobErrorKind } from '#shared/jobs/jobErrors.ts';
import type { FunctionSource } from '#shared/jobs/jobMessages.ts';
import { tempFolder } from '../../../harness/temp.ts';

const signal = AbortSignal.timeout(120_000);

/** Creates a folder with these files. */
function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = tempFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** Stands in for a table that is not used, because the files define their functions completely. */
const tableStandIn = {} as Table;

const read = (folder: string, source: FunctionSource): Promise<ComputedFunction> =>
  readFunction(source, { folder, table: tableStandIn, column: 'made' }, signal);

const ofFile = (files: Readonly<Record<string, string>>, more: { export?: string } = {}): Promise<ComputedFunction> =>
  read(folderOf(files), { kind: 'typescript', file: 'f.ts', ...more });

const fails = (kind: JobErrorKind, text: RegExp) => (error: unknown) => {
  assert.ok(isJobError(error), String(error));
  assert.equal(error.kind, kind, error.message);
  assert.match(error.message, text);
  return true;
};

const head = "import { udf } from 'lance-catalog';\n";
const plain = `${head}export default udf({ name: 'size', input: ['text'], output: 'int32' }, (row: { text: string }) => row.text.length);`;

/** Runs the code of a function as a worker loads it. */
async function call(fn: ComputedFunction, row: unknown): Promise<unknown> {
  assert.equal(fn.kind, 'typescript');
  const file = join(tempFolder(), 'f.mjs');
  writeFileSync(file, fn.kind === 'typescript' ? fn.code : '');
  const { default: made } = (await import(pathToFileURL(file).href)) as { default: (row: unknown) => unknown };
  return made(row);
}

suite('The words of types', () => {
  for (const [words, text] of [
    ['int32', 'int32'],
    ['string', 'utf8'],
    ['float[768]', 'fixed_size_list<float>[768]'],
    ['list<string>', 'list<utf8>'],
    ['list<float64>[3]', 'fixed_size_list<list<double>>[3]'],
    ['timestamp[us, UTC]', 'timestamp[us, UTC]'],
    ['decimal(10, 2)', 'decimal128(10, 2)'],
    ['struct<x: int32, y: list<utf8>>', 'struct<x: int32, y: list<utf8>>'],
    ['fixed_size_list<float>[768]', 'fixed_size_list<float>[768]'],
    ['fixed_size_binary[16]', 'fixed_size_binary[16]'],
  ] as const)
    test(`"${words}" is ${text}`, () => assert.equal(typeText(parseTypeName(words)), text));

  for (const words of ['int33', 'list<', 'float[0]', 'int32 x', 'decimal(50, 2)', 'timestamp[h]', ''])
    test(`"${words}" is refused with those that are known`, () =>
      assert.throws(
        () => parseTypeName(words),
        fails('FunctionInvalid', /is not a column type\. Use one of bool, int8/),
      ));
});

suite('A function in a TypeScript file', function () {
  this.timeout(60_000);

  test('says what it reads and gives, and runs as it was written', async () => {
    const fn = await ofFile({ 'f.ts': plain });
    assert.deepEqual([fn.name, fn.inputs, fn.onError], ['size', ['text'], { mode: 'fail' }]);
    assert.equal(typeText(decodeOutput(fn.output).type), 'int32');
    assert.equal(await call(fn, { text: 'mug' }), 3);
  });

  test('may be one of several, by its name', async () => {
    const text = `${head}import { arrow } from 'lance-catalog';
      export const twice = udf({ input: ['n'], output: new arrow.Int64(), onError: { retry: 2 } }, ({ n }) => n * 2n);
      const thrice = udf({ input: ['n'], output: new arrow.Int64() }, ({ n }) => n * 3n);
      export { thrice as three };`;
    const folder = folderOf({ 'f.ts': text });
    const two = await read(folder, { kind: 'typescript', file: 'f.ts', export: 'twice' });
    const three = await read(folder, { kind: 'typescript', file: 'f.ts', export: 'three' });
    assert.deepEqual(
      [two.name, await call(two, { n: 2n }), two.onError],
      ['twice', 4n, { mode: 'retry', attempts: 2 }],
    );
    assert.equal(await call(three, { n: 2n }), 6n);
  });

  test('takes what it imports with it', async () => {
    const fn = await ofFile({
      'f.ts': `import { mark } from './parts/mark.ts';\n${plain.replace('row.text.length', 'mark(row.text).length')}`,
      'parts/mark.ts': 'export const mark = (text: string): string => `${text}!`;',
    });
    assert.equal(await call(fn, { text: 'mug' }), 4);
  });

  test('takes packages with it, those in CommonJS too, wherever they are installed', async () => {
    const inner = {
      'package.json': '{"name":"size-of","main":"i.js"}',
      'i.js': "const { basename } = require('path'); exports.sizeOf = (t) => basename(t).length;",
    };
    const text = `import { sizeOf } from 'size-of';\n${plain.replace('row.text.length', 'sizeOf(row.text)')}`;
    const near = folderOf({
      'f.ts': text,
      ...Object.fromEntries(Object.entries(inner).map(([name, each]) => [`node_modules/size-of/${name}`, each])),
    });
    const far = folderOf({
      'a/b/f.ts': text,
      ...Object.fromEntries(Object.entries(inner).map(([name, each]) => [`node_modules/size-of/${name}`, each])),
    });
    const one = await read(near, { kind: 'typescript', file: 'f.ts' });
    const other = await read(join(far, 'a/b'), { kind: 'typescript', file: 'f.ts' });
    assert.equal(await call(one, { text: 'a/mug' }), 3);
    assert.equal(one.hash, other.hash);
  });

  test('holds no path of the machine it was bundled on', async () => {
    const folder = folderOf({
      'f.ts': `import x from './x.cjs';\n${plain}\nconsole.log(x);`,
      'x.cjs': 'module.exports = 1;',
    });
    const fn = await read(folder, { kind: 'typescript', file: 'f.ts' });
    assert.ok(fn.kind === 'typescript' && !fn.code.includes(folder), fn.kind === 'typescript' ? fn.code : '');
  });

  test('is refused where a package has native code, which is named', async () => {
    const files = {
      'f.ts': `import { fast } from 'fast-thing';\n${plain.replace('row.text.length', 'fast(row.text)')}`,
      'node_modules/fast-thing/package.json': '{"name":"fast-thing","main":"index.js"}',
      'node_modules/fast-thing/index.js': "exports.fast = require('./build/fast.node').fast;",
      'node_modules/fast-thing/build/fast.node': '',
    };
    await assert.rejects(
      ofFile(files),
      fails('FunctionNotPortable', /the package "fast-thing", which has native code/),
    );
  });

  test('is refused where it uses what only a notebook has', async () => {
    const text = `${head}import { connect } from 'lance-catalog';\n${plain.replace(head, '').replace('row.text.length', 'connect.length')}`;
    await assert.rejects(ofFile({ 'f.ts': text }), fails('FunctionNotPortable', /imports 'lance-catalog'/));
  });

  test('is refused where an import is missing, with the way to install it', async () => {
    await assert.rejects(
      ofFile({ 'f.ts': `import x from 'not-there';\n${plain}\nx();` }),
      fails(
        'FunctionInvalid',
        /imports 'not-there', which can't be found \(f\.ts:1:15\)\. Install it: npm install not-there/,
      ),
    );
  });

  test('is refused where it is no TypeScript, at the place where it stops to be some', async () => {
    await assert.rejects(
      ofFile({ 'f.ts': plain.replace(/\);$/, '\n') }),
      fails('FunctionInvalid', /f\.ts can't be compiled: '\)' expected \(line 3, column 1\)\. Fix the code\./),
    );
  });

  test('is refused where an option would have to be run, at its place', async () => {
    const text = plain.replace("'int32'", 'outputOf()');
    await assert.rejects(ofFile({ 'f.ts': text }), fails('FunctionInvalid', /"outputOf\(\)" of udf, at 2:/));
  });

  test('is not run while it is read', async () => {
    const folder = folderOf({
      'f.ts': `import { writeFileSync } from 'node:fs';\nwriteFileSync('ran', '');\n${plain}`,
    });
    await read(folder, { kind: 'typescript', file: 'f.ts' });
    assert.throws(() => writeFileSync(join(folder, 'ran'), '', { flag: 'r' }), /ENOENT/);
  });

  test('has another hash once it reads or gives something else', async () => {
    const one = await ofFile({ 'f.ts': plain });
    const changed = [
      plain.replace('.length', '.length + 1'),
      plain.replace("'int32'", "'int64'"),
      plain.replace("['text']", "['text', 'id']"),
    ];
    const hashes = await Promise.all(changed.map(async (text) => (await ofFile({ 'f.ts': text })).hash));
    assert.equal(new Set([one.hash, ...hashes]).size, 4);
  });

  test('has the same hash whatever else its file exports', async () => {
    const one = await ofFile(
      { 'f.ts': `${head}export const a = udf({ input: ['x'], output: 'int32' }, () => 1);` },
      { export: 'a' },
    );
    const more = `${head}export const a = udf({ input: ['x'], output: 'int32' }, () => 1);
      export const b = udf({ input: ['x'], output: 'int32' }, () => helper());
      export function helper() { return 2; }\nexport default b;`;
    assert.equal((await ofFile({ 'f.ts': more }, { export: 'a' })).hash, one.hash);
  });

  test('has the same hash in a file of another name', async () => {
    const folder = folderOf({ 'f.ts': plain, 'other-name.ts': plain });
    const [one, other] = await Promise.all(
      ['f.ts', 'other-name.ts'].map((file) => read(folder, { kind: 'typescript', file })),
    );
    assert.equal(one?.hash, other?.hash);
  });

  test('has the same hash under another name and with another way to treat errors', async () => {
    const one = await ofFile({ 'f.ts': plain });
    const other = await ofFile({
      'f.ts': plain.replace("name: 'size'", "name: 'length', version: '2', onError: 'null'"),
    });
    assert.equal(one.hash, other.hash);
  });
});

suite('A function in a Python file', () => {
  const code = 'import re\n\ndef words(text: str) -> int:\n    return len(re.split(r"\\s+", text))\n';
  const source = {
    kind: 'python',
    file: 'f.py',
    entry: 'words',
    takes: 'row',
    inputs: ['text'],
    output: 'int32',
  } as const;

  test('travels as the text of its file', async () => {
    const fn = await read(folderOf({ 'f.py': code }), source);
    assert.deepEqual(fn.kind === 'python' && [fn.name, fn.code, fn.entry], ['words', code, 'words']);
  });

  test('is refused where the file has no function of that name, with those it has', async () => {
    const wrong = read(folderOf({ 'f.py': code }), { ...source, entry: 'letters' });
    await assert.rejects(wrong, fails('FunctionInvalid', /has no function "letters"\. It has words\./));
  });
});

suite('The columns of a SQL expression', () => {
  const columns = ['id', 'Text', 'name', 'a b'];
  test('are those that it names, in the order of the table', () =>
    assert.deepEqual(columnsIn('length(text) + id', columns), ['id', 'Text']));
  test('are no functions of the same name', () =>
    assert.deepEqual(columnsIn('name (text) || name', ['name', 'text']), ['name', 'text']));
  test('are not those whose name is only that of a function', () =>
    assert.deepEqual(columnsIn('name(text)', ['name', 'text']), ['text']));
  test('are not found in strings, comments and behind dots', () =>
    assert.deepEqual(columnsIn('concat(\'id\', "name", meta.name) -- id\n || `a b`', columns), ['a b']));
});

suite('The hash of a function', () => {
  test('stays what it is from one release to the next, since checkpoints and consent go by it', () => {
    const output = encodeOutput('any name', new Int32());
    const fn = { kind: 'sql', name: 'n', version: '', inputs: ['text'], output, onError: { mode: 'fail' } } as const;
    assert.equal(
      functionHash({ ...fn, expression: 'length(text)' }),
      '4ff16828bc03fe9653b72197b9c5fe712503546e8f21cc1dbb9b46b5306dad11',
    );
  });
});

suite('A column that the engine computes itself', () => {
  test('is known as one, though what the table says of its inputs can not be read', () => {
    const metadata = [
      ['computed_column', 'true'],
      ['computed_column.expression', 'id * 2'],
      ['computed_column.inputs', '["id"'],
    ] as const;
    const found = engineFunction(new Field('twice', new Int32(), true, new Map(metadata)));
    assert.deepEqual([found?.function.name, found?.function.inputs], ['twice', []]);
  });
});
