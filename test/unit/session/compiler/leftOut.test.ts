import assert from 'node:assert/strict';
import ts from 'typescript-6';
import { createCellConverter } from '#session/compile/cellConverter.ts';
import { prelude } from '#session/compile/prelude.ts';
import { isInstalled } from '#session/compiler/installedFiles.ts';
import { trackNodeComments, dropComments } from '#session/compiler/lazyComments.ts';
import { leaveOutModules } from '#session/start/lazyModules.ts';
import { inRoot } from '../../../../scripts/paths.ts';
import { told } from '../compile/told.ts';

// Modules that are omitted completely or in part, modules with their own globals, and a module that re-exports another.
const modules = [
  'assert',
  'fs',
  'node:fs',
  'http2',
  'inspector',
  'process',
  'stream/web',
  'util',
  'apache-arrow',
  'undici-types',
];
const cell = modules.map((name, index) => `import * as module${index} from '${name}';`).join('\n');

const isLate = (owner: object | undefined, name: string): boolean =>
  'get' in (Object.getOwnPropertyDescriptor(owner ?? {}, name) ?? {});

suite('What is left out of a start-up snapshot', function () {
  this.timeout(120_000);
  const folder = inRoot('test');
  let without: Map<string, string>;
  let files: readonly ts.SourceFile[];

  suiteSetup(() => {
    trackNodeComments();
    const { program } = createCellConverter({ folder }).service(prelude, cell);
    // Binds all files.
    program.getTypeChecker();
    files = program.getSourceFiles().filter(({ fileName }) => isInstalled(fileName));
    files.forEach(dropComments);
    leaveOutModules(files, program.getCompilerOptions());
  });

  test('is most of the declarations', () => {
    const fs = files.find(({ fileName }) => fileName.endsWith('@types/node/fs.d.ts'));
    assert.ok(isLate(fs?.statements[0], 'body'), 'the inside of node:fs');
    const arrow = files.filter(({ fileName }) => fileName.includes('/apache-arrow/'));
    assert.ok(arrow.filter((file) => isLate(file, 'statements')).length > 100, 'the files of apache-arrow');
  });

  test('is available on request: names, types and documentation', () => {
    without = told(createCellConverter({ folder }).service(prelude, cell));
    const whole = told(
      createCellConverter({ folder, registry: ts.createDocumentRegistry(true) }).service(prelude, cell),
    );
    assert.ok(whole.size > 4000, `${whole.size} things`);
    for (const [name, text] of whole) assert.equal(without.get(name), text, name);
    assert.equal(without.size, whole.size);
    assert.match(without.get('fs/readFileSync') ?? '', /Returns the contents of the `path`/);
  });

  test('does not hide what is wrong in a cell, nor what is out of date', () => {
    const code = `import { readFileSync, exists } from 'node:fs';\nconst text: number = readFileSync('x', 'utf8');\nexists('x', () => {});`;
    const { service, file } = createCellConverter({ folder }).service(prelude, code);
    const [first] = service.getSemanticDiagnostics(file);
    assert.equal(first?.messageText, "Type 'string' is not assignable to type 'number'.");
    const hints = service.getSuggestionDiagnostics(file);
    assert.ok(
      hints.some(({ reportsDeprecated }) => reportsDeprecated),
      'exists() is out of date',
    );
  });
});
