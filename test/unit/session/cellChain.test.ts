import assert from 'node:assert/strict';
import { CellChain } from '../../../kernel/session/analysis/cellChain.ts';
import { findingsOf } from '../../../kernel/session/analysis/findings.ts';
import { sharedDocuments } from '../../../kernel/session/compile/installedFiles.ts';
import { tempFolder } from '../../harness/temp.ts';

const codesOf = (chain: CellChain, id: string) => findingsOf(chain, id).map(({ code }) => code);

suite('the cells of two notebooks in one folder', () => {
  test('are not taken for one another, though they have the same places in their notebooks', () => {
    const folder = tempFolder();
    const [first, second] = [new CellChain(folder, sharedDocuments), new CellChain(folder, sharedDocuments)];
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
