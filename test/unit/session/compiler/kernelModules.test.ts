import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript-6';
import { moduleResolver, typesResolver } from '#session/compiler/moduleTypes.ts';
import { inRoot } from '../../../../scripts/paths.ts';
import { tempFolder } from '../../../harness/temp.ts';

const options: ts.CompilerOptions = {
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
};

/** Returns the compiler's file system, and the number of its reads. */
function watchedDisk(): { system: ts.ModuleResolutionHost; looks: () => number } {
  let looks = 0;
  const look = <T>(answer: T): T => {
    looks++;
    return answer;
  };
  const system: ts.ModuleResolutionHost = {
    ...ts.sys,
    fileExists: (file) => look(ts.sys.fileExists(file)),
    directoryExists: (folder) => look(ts.sys.directoryExists(folder)),
    readFile: (file) => look(ts.sys.readFile(file)),
  };
  return { system, looks: () => looks };
}

/** Returns the file to which an import resolves. */
function lead(system: ts.ModuleResolutionHost, name: string, from: string): string | undefined {
  const file = ts.createSourceFile(from, `import '${name}';`, ts.ScriptTarget.ESNext, true);
  const literals = file.statements.flatMap((each) =>
    ts.isImportDeclaration(each) && ts.isStringLiteral(each.moduleSpecifier) ? [each.moduleSpecifier] : [],
  );
  const [found] = moduleResolver(system)(literals, from, undefined, options, file, undefined);
  return found?.resolvedModule?.resolvedFileName;
}

/** Returns the file to which `types: ["node"]` resolves. */
function nodeTypes(system: ts.ModuleResolutionHost): string | undefined {
  const [found] = typesResolver(system)(['node'], inRoot('cell.ts'), undefined, options, undefined, undefined);
  return found?.resolvedTypeReferenceDirective?.resolvedFileName;
}

suite('imports of the kernel’s own declarations', () => {
  const globals = inRoot('node_modules/@types/node/globals.d.ts');

  test('what they lead to is looked for once', () => {
    const { system, looks } = watchedDisk();
    const nodes = nodeTypes(system);
    assert.equal(nodes, inRoot('node_modules/@types/node/index.d.ts'));
    const first = lead(system, 'undici-types', globals);
    assert.match(String(first), /undici-types\/index\.d\.ts$/);
    const before = looks();
    assert.equal(nodeTypes(system), nodes);
    assert.equal(lead(system, 'undici-types', globals), first);
    assert.equal(looks(), before);
  });

  test('what is missing there is not looked for again either', () => {
    const { system, looks } = watchedDisk();
    nodeTypes(system);
    assert.equal(lead(system, 'no-such-package', globals), undefined);
    const before = looks();
    assert.equal(lead(system, 'no-such-package', globals), undefined);
    assert.equal(looks(), before);
  });

  test('a package that was installed beside a notebook is found', () => {
    const folder = tempFolder('lance-modules-');
    const cell = join(folder, 'cell.ts');
    assert.equal(lead(ts.sys, 'installed-later', cell), undefined);
    mkdirSync(join(folder, 'node_modules/installed-later'), { recursive: true });
    const declared = join(folder, 'node_modules/installed-later/index.d.ts');
    writeFileSync(declared, 'export const answer: 42;');
    assert.equal(lead(ts.sys, 'installed-later', cell), ts.sys.realpath?.(declared));
  });
});
