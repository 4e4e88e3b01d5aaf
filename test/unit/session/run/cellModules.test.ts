import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bindImport, importedValue } from '#session/run/bindings.ts';
import { OwnFiles } from '#session/run/ownFiles.ts';
import { type Variable, Variables } from '#session/run/variables.ts';
import { tempFolder } from '../../../harness/temp.ts';

const of = (module: unknown, imported: string) => importedValue({ module, specifier: 'thing' }, imported);

suite('What an import gives', () => {
  test('is the whole of a CommonJS module as default, unless it was an ES module once', () => {
    const whole = { a: 1 };
    assert.equal(of(whole, 'default'), whole);
    assert.equal(of({ __esModule: true, default: 2 }, 'default'), 2);
    assert.equal(of(3, 'default'), 3);
    assert.equal(of(undefined, 'a'), undefined);
  });

  test('is a namespace of CommonJS with its default in it, the same one each time', () => {
    const module = Object.assign(() => 1, { member: 2 });
    const namespace = of(module, '*') as { default: unknown; member: number };
    assert.deepEqual([namespace.member, namespace.default], [2, module]);
    assert.equal(of(module, '*'), namespace);
  });

  test('is an error for a name that an ES module does not export', async () => {
    const code = 'data:text/javascript,export const here = 1';
    const module: unknown = await import(code);
    assert.equal(of(module, 'here'), 1);
    assert.throws(
      () => of(module, 'gone'),
      /^SyntaxError: The module 'thing' does not provide an export named 'gone'\.$/,
    );
  });

  test('follows the module until the variable is assigned', () => {
    const variable: Variable = { v: undefined };
    let exported = 1;
    const isBound = bindImport(variable, () => exported);
    exported = 2;
    assert.deepEqual([variable.v, isBound()], [2, true]);
    variable.v = 'mine';
    assert.deepEqual([variable.v, isBound()], ['mine', false]);
  });
});

test('The variables of a notebook are an object to who looks at all of them', () => {
  const variables = new Variables();
  const object = variables.asObject();
  const [a] = variables.get(['a', 'b']);
  assert.ok(a);
  a.v = 1;
  object['c'] = 3;
  Object.assign(object, { d: 4 });
  delete object['b'];
  assert.deepEqual({ ...object }, { a: 1, c: 3, d: 4 });
  assert.deepEqual(
    [variables.of('c').v, 'b' in object, Object.hasOwn(object, 'd'), object['nothing']],
    [3, false, true, undefined],
  );
});

suite("The files of a person's own", () => {
  const folder = tempFolder();
  const path = (name: string) => join(folder, name);
  const importer = path('cell.ts');
  let size = 0;
  const write = (name: string, text: string) => writeFileSync(path(name), text + ' '.repeat(++size));

  test('are found as TypeScript finds them, and packages are not', () => {
    write('a.ts', '');
    write('data.json', '{}');
    mkdirSync(path('node_modules/pack'), { recursive: true });
    write('node_modules/pack/index.js', '');
    const files = new OwnFiles(() => ({}));
    assert.deepEqual(
      ['./a', './a.ts', './a.js', './data.json', './missing', 'pack', 'node:fs', './node_modules/pack'].map((each) =>
        files.resolve(each, importer),
      ),
      [path('a.ts'), path('a.ts'), path('a.ts'), path('data.json'), undefined, undefined, undefined, undefined],
    );
  });

  test('are found by the paths of a tsconfig', () => {
    write('mapped.ts', '');
    const files = new OwnFiles(() => ({ paths: { '@/*': ['./*'] }, pathsBasePath: folder }));
    assert.equal(files.resolve('@/mapped', importer), path('mapped.ts'));
  });

  test('have a version that changes with what they import, in circles too', () => {
    write('one.ts', `import './two'`);
    write('two.ts', `import './one'; import './three'`);
    write('three.ts', '');
    const files = new OwnFiles(() => ({}));
    const versions = () => ['one.ts', 'two.ts', 'three.ts'].map((name) => files.versionOf(path(name)));
    const before = versions();
    assert.deepEqual(versions(), before);
    assert.equal(before[0], before[1]);
    write('three.ts', 'export {}');
    assert.ok(versions().every((version, index) => version !== before[index]));
  });
});
