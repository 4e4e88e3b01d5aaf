import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ImportRecords } from '#session/compiler/importRecords.ts';
import { inRoot } from '../../../../scripts/paths.ts';
import { tempFolder } from '../../../harness/temp.ts';
import type { Prepared } from '../preparedCompiler.ts';

type Notebooks = { folder: string; kernel: (reads: number, what?: string) => Prepared };

/**
 * Returns a notebook folder with a package, and a function that runs a kernel there until it has read a number of files
 * while idle.
 */
function notebooks(): Notebooks {
  const [folder, records] = [tempFolder(), tempFolder()];
  const odd = join(folder, 'node_modules/odd');
  mkdirSync(odd, { recursive: true });
  writeFileSync(join(odd, 'package.json'), '{"name": "odd", "version": "1.0.0", "types": "./index.d.ts"}');
  writeFileSync(join(odd, 'index.d.ts'), "export * from './more';\nexport declare const one: number;\n");
  writeFileSync(join(odd, 'more.d.ts'), 'export declare const two: number;\n');
  const program = inRoot('test/unit/session/preparedCompiler.ts');
  const kernel: Notebooks['kernel'] = (reads, what = 'rest') => {
    const args = [program, records, what, String(reads)];
    return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', cwd: folder })) as Prepared;
  };
  return { folder, kernel };
}

suite('A kernel at rest', function () {
  this.timeout(120_000);

  test('loads what a notebook of its folder has imported, and nothing before there was one', () => {
    const { kernel } = notebooks();
    assert.deepEqual(kernel(0), { atRest: 0, forCell: 2, problems: [] });
    assert.deepEqual(kernel(2), { atRest: 2, forCell: 0, problems: [] });
  });

  test('does nothing while a cell runs, or if the type check is off', () => {
    const { kernel } = notebooks();
    kernel(0);
    assert.deepEqual(kernel(0, 'work'), { atRest: 0, forCell: 2, problems: [] });
    assert.equal(kernel(0, 'unchecked').atRest, 0);
  });

  test('leaves it to the cell to say that a package is gone', () => {
    const { folder, kernel } = notebooks();
    kernel(0);
    rmSync(join(folder, 'node_modules'), { recursive: true });
    const { atRest, problems } = kernel(0);
    assert.equal(atRest, 0);
    assert.match(problems.join(), /Cannot find module 'odd'/);
  });
});

suite('What notebooks of a folder import', () => {
  test('is stored by folder, newest first, only for packages, up to a limit', () => {
    const where = join(tempFolder(), 'imports');
    new ImportRecords(where).note('/a', ['one', '@of/two/part', './own.ts', 'node:fs', 'fs', '/abs', 'one']);
    new ImportRecords(where).note('/a', ['three', 'one']);
    assert.deepEqual(new ImportRecords(where).packagesOf('/a'), ['three', 'one', '@of/two/part']);
    assert.deepEqual(new ImportRecords(where).packagesOf('/b'), []);
    new ImportRecords(where).note(
      '/a',
      Array.from({ length: 20 }, (_, index) => `p${index}`),
    );
    assert.equal(new ImportRecords(where).packagesOf('/a').length, 8);
  });

  test('is skipped silently if nothing can be written', () => {
    const where = tempFolder();
    writeFileSync(join(where, 'file'), '');
    new ImportRecords(join(where, 'file')).note('/a', ['one']);
    assert.deepEqual(new ImportRecords(join(where, 'file')).packagesOf('/a'), []);
  });
});
