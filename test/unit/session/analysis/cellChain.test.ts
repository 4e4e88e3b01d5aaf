import assert from 'node:assert/strict';
import { CellChain } from '#session/analysis/cellChain.ts';
import { findingsOf } from '#session/analysis/notebooks.ts';
import { sharedDocuments } from '#session/compiler/installedFiles.ts';
import { tempFolder } from '../../../harness/temp.ts';

const codesOf = (chain: CellChain, id: string) => findingsOf(chain, id).map(({ code }) => code);

suite('the cells of two notebooks in one folder', () => {
  test('are not taken for one another, though they have the same places in their notebooks', () => {
    const folder = tempFolder();
    const settings = { folder, language: 'typescript' } as const;
    const [first, second] = [new CellChain(settings, sharedDocuments), new CellChain(settings, sharedDocuments)];
    try {
      first.setCells([{ id: 'a', text: 'const mine = 1;' }]);
      assert.deepEqual(codesOf(first, 'a'), []);
      second.setCells([{ id: 'b', text: 'mine.toFixed();' }]);
      assert.deepEqual(codesOf(second, 'b'), [2304]);
      assert.deepEqual(codesOf(first, 'a'), []);
    } finally {
      first.dispose();
      second.dispose();
    }
  });
});

suite('the cells of a JavaScript notebook', () => {
  let chain: CellChain;
  suiteSetup(() => {
    chain = new CellChain({ folder: tempFolder(), language: 'javascript' }, sharedDocuments);
    chain.setCells([
      { id: 'class', text: 'class Hello { constructor(name) { this.name = name } }\nlet now = 5; now += "text";' },
      { id: 'use', text: 'const hello = new Hello("a"); hello.missing; hello.' },
      { id: 'typed', text: 'let typed: number = 5;' },
      { id: 'compared', text: 'now < 3 > (0);\n<b>{now}</b>' },
    ]);
  });
  suiteTeardown(() => chain.dispose());

  test('have no errors of types', () => assert.deepEqual(codesOf(chain, 'class'), []));
  test('have errors of syntax, that of TypeScript among them', () => assert.deepEqual(codesOf(chain, 'typed'), [8010]));
  test('are no TypeScript', () => assert.deepEqual(codesOf(chain, 'compared'), []));
  test('know what constructors of earlier cells assign', () => {
    const { service, file, code } = chain.of('use')!;
    const names = service.getCompletionsAtPosition(file, code.length, {})?.entries.map(({ name }) => name);
    assert.ok(names?.includes('name'), names?.join());
  });
});
