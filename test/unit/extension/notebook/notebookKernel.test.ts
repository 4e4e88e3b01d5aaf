import assert from 'node:assert/strict';
import { cellLanguage, isForOurKernel } from '../../../../extension/notebook/notebookKernel.ts';

const naming = (kernelspec: object, more: object = {}) => ({ nbformat: 4, metadata: { kernelspec, ...more } });

suite('The kernel of a notebook in the editor', () => {
  test('is ours where the notebook names it', () => {
    for (const hasJupyter of [true, false])
      assert.equal(isForOurKernel(naming({ name: 'lance-typescript' }), hasJupyter), true);
  });

  for (const name of ['tslab', 'jslab'])
    test(`is ours for ${name} where no other extension can start that, else the choice of the user`, () => {
      assert.equal(isForOurKernel(naming({ name }), false), true);
      assert.equal(isForOurKernel(naming({ name }), true), false);
    });

  test('is not ours for other notebooks, or metadata of another shape', () => {
    for (const metadata of [
      naming({ name: 'python3' }),
      naming({ name: 'constructor' }),
      naming({}),
      { metadata: 5 },
      {},
    ])
      assert.equal(isForOurKernel(metadata, false), false, JSON.stringify(metadata));
  });

  test('takes cells in the language of the notebook, and as TypeScript where that is none of ours', () => {
    assert.equal(cellLanguage(naming({ name: 'jslab' })), 'javascript');
    assert.equal(cellLanguage(naming({ name: 'tslab' })), 'typescript');
    assert.equal(cellLanguage(naming({ name: 'tslab' }, { language_info: { name: 'javascript' } })), 'javascript');
    assert.equal(cellLanguage(naming({ name: 'python3', language: 'python' })), 'typescript');
    assert.equal(cellLanguage({}), 'typescript');
  });
});
