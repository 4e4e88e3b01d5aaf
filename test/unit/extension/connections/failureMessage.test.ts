import assert from 'node:assert/strict';
import { CatalogError } from '#shared/errors.ts';
import { nextSteps } from '#shared/nextSteps.ts';
import { failureMessage } from '../../../../extension/connections/failureMessage.ts';

suite('The failure of a connection', () => {
  test('has the step that is possible in the editor', () => {
    const error = new CatalogError('NamespaceNotFound', 'Namespace "shop" does not exist.', nextSteps.listNamespaces);
    assert.deepEqual(failureMessage(error, 'retry'), {
      what: 'Namespace "shop" does not exist.',
      hint: 'Refresh the catalog view to see its namespaces.',
    });
  });
});
