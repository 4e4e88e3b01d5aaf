import assert from 'node:assert/strict';
import { CellChain } from '#session/analysis/cellChain.ts';
import { completionAt } from '#session/analysis/server.ts';
import { sharedDocuments } from '#session/compiler/installedFiles.ts';
import { tempFolder } from '../../../harness/temp.ts';

suite('The completion of magics', () => {
  let chain: CellChain;
  suiteSetup(() => (chain = new CellChain({ folder: tempFolder(), language: 'typescript' }, sharedDocuments)));
  suiteTeardown(() => chain.dispose());

  /** Returns the items at the bar and the filters that hide them. */
  function completed(marked: string): [name: string, filterText: string | undefined][] {
    const offset = marked.indexOf('|');
    chain.setCells([{ id: 'a', text: marked.replace('|', '') }]);
    return completionAt(chain, 'a', offset).items.map(({ name, filterText }) => [name, filterText]);
  }

  for (const [marked, ...items] of [
    ['%%s|', ['%%sql', '%%sq'], ['%%sh', '%%s']],
    // The filter of a longer name ends before the whole shorter one, too.
    ['%%ti|', ['%%time', '%%tim'], ['%%timeit', '%%tim']],
    ['%wh|', ['%who', '%wh'], ['%whos', '%wh']],
    // A name that is typed whole is alone and hidden.
    ['%%time|', ['%%time', '%%tim']],
    ['%%timei|', ['%%timeit', '%%timei']],
    ['%%sql|', ['%%sql', '%%sq']],
    ['%%sql -|', ['--to', '--t']],
    ['%%sql --to|', ['--to', '--t']],
    ['%install --d|', ['--dev', '--de']],
    ['%env --a|', ['--ask', '--as']],
    // Nothing is known about a new name, and no name of TypeScript fits.
    ['%%sql --to x|', ['x', ' ']],
    ['%%timeit -n 30|\nlet a = 1', ['30', '3']],
    ['%%sql |'],
  ] as const)
    test(`at ${JSON.stringify(marked)}`, () => assert.deepEqual(completed(marked), items));

  test('leaves code to TypeScript', () => {
    for (const marked of ['%time isN|', '%%time\nisN|', '%timeit -n 3 isN|'])
      assert.ok(
        completed(marked).some(([name]) => name === 'isNaN'),
        marked,
      );
  });
});
