import assert from 'node:assert/strict';
import { CatalogError } from '#shared/errors.ts';
import { messageIn, nextStepIn, nextSteps } from '#shared/nextSteps.ts';

const noTable = (hint: string): CatalogError => new CatalogError('TableNotFound', 'Table "x" does not exist.', hint);

suite('The next step of an error', () => {
  test('is what a user can do in a terminal and in the editor', () => {
    const error = noTable(nextSteps.listTables);
    assert.equal(error.message, 'Table "x" does not exist. List the tables with listTables().');
    assert.equal(messageIn('terminal', error), 'Table "x" does not exist. List the tables: lance-catalog list.');
    assert.equal(messageIn('editor', error), 'Table "x" does not exist. Refresh the catalog view to see its tables.');
  });

  test('names no call in a place without calls', () => {
    for (const place of ['terminal', 'editor'] as const)
      for (const step of Object.values(nextSteps)) assert.doesNotMatch(nextStepIn(place, step), /\(\)|mode:|behavior:/);
  });

  test('stays if it names no call, and so does any other message', () => {
    assert.equal(messageIn('editor', noTable('Did you mean "y"?')), 'Table "x" does not exist. Did you mean "y"?');
    assert.equal(messageIn('terminal', noTable('')), 'Table "x" does not exist.');
    assert.equal(messageIn('terminal', new Error('Broken.')), 'Broken.');
    assert.match(
      messageIn('terminal', `Left out x: ${noTable(nextSteps.listTables).message}`),
      /lance-catalog list\.$/,
    );
    assert.equal(messageIn('editor', undefined), 'undefined');
  });
});
