import assert from 'node:assert/strict';
import { remedyOf, withRemedy } from '../../../../extension/host/errorAction.ts';

suite('A failure that a person can mend', () => {
  const remedy = { title: 'Edit Profiles', command: 'lanceCatalog.cluster.editProfiles' } as const;

  test('is the error that it was, with its button', () => {
    const error = new Error('The profile has no namespace.');
    assert.equal(withRemedy(error, remedy), error);
    assert.equal(remedyOf(error), remedy);
  });

  test('is told from any other', () => {
    assert.equal(remedyOf(new Error('The profile has no namespace.')), undefined);
    assert.equal(remedyOf('a text'), undefined);
  });
});
