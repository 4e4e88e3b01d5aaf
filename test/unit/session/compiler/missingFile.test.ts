import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isPath, missingFile } from '#session/compiler/installedFiles.ts';
import { tempFolder } from '../../../harness/temp.ts';

suite('a file that is imported and not there', () => {
  const folder = tempFolder();
  const lib = join(folder, 'lib');

  suiteSetup(() => {
    mkdirSync(lib);
    for (const name of ['shapes.ts', 'Colours.mjs', 'data.json', 'rows.csv', 'index.ts'])
      writeFileSync(join(lib, name), '');
  });

  for (const [specifier, said] of [
    ['./lib/shape.ts', `There is no file for it in "${lib}". Did you mean './lib/shapes.ts'?`],
    ['./lib/shape', `There is no file for it in "${lib}". Did you mean './lib/shapes.ts'?`],
    ['./lib/shapes.js', `There is no file for it in "${lib}". Did you mean './lib/shapes.ts'?`],
    ['./lib/colours', `There is no file for it in "${lib}". Did you mean './lib/Colours.mjs'?`],
    ['./lib/../lib/dta.json', `There is no file for it in "${lib}". Did you mean './lib/../lib/data.json'?`],
    [join(folder, 'lib', 'dat.json'), `There is no file for it in "${lib}". Did you mean '${join(lib, 'data.json')}'?`],
    ['./lbi', `There is no file for it in "${folder}". Did you mean './lib'?`],
    ['./lib/row', `There is no file for it in "${lib}". Check the name, or create the file.`],
    ['./lob/shapes.ts', `The folder "${join(folder, 'lob')}" does not exist. Check the path.`],
    // A file that exists but can't be imported is a different case.
    ['./lib/rows.csv', undefined],
  ] as const)
    test(`is told with its folder and what may be meant: ${specifier.replace(folder, '…')}`, () => {
      assert.equal(missingFile(specifier, folder), said);
    });

  test('is known from a package by how it is written', () => {
    assert.deepEqual(
      ['./a', '../a', '/a', '.', '..', '.\\a'].filter((each) => !isPath(each)),
      [],
    );
    assert.deepEqual(['a', '@a/b', '#a', '.a', 'node:fs'].filter(isPath), []);
  });
});
