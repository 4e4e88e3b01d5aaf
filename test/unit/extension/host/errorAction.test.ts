import assert from 'node:assert/strict';
import { errorActionOf, withErrorAction } from '../../../../extension/host/errorAction.ts';

suite('A failure that a person can mend', () => {
  const remedy = { title: 'Edit Profiles', command: 'lanceCatalog.cluster.editProfiles' } as const;

  test('is the error that it was, with its button', () => {
    const error = new Error('The profile has no namespace.');
    assert.equal(withErrorAction(error, remedy), error);
    assert.equal(errorActionOf(error), remedy);
  });

  test('is told from any other', () => {
    assert.equal(errorActionOf(new Error('The profile has no namespace.')), undefined);
    assert.equal(errorActionOf('a text'), undefined);
  });
});
