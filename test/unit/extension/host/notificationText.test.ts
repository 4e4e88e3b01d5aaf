import assert from 'node:assert/strict';
import { ClusterError } from '#cluster/errors.ts';
import { CatalogError } from '#shared/errors.ts';
import { nextSteps } from '#shared/nextSteps.ts';
import { notificationText } from '../../../../extension/host/notificationText.ts';

const hint = 'Choose another name, or delete it first.';

suite('A notification of a failure', () => {
  test('has the whole sentence and what to do, where there is room', () => {
    const error = new ClusterError('Conflict', 'The RayCluster ray/one is there.', hint);
    assert.equal(notificationText(error), `The RayCluster ray/one is there. ${hint}`);
    assert.equal(notificationText('a text'), 'a text');
  });

  test('says what to do in the editor, not which call a cell would make', () => {
    const error = new CatalogError('TableNotFound', 'Table "x" does not exist.', nextSteps.listTables);
    assert.equal(notificationText(error), 'Table "x" does not exist. Refresh the catalog view to see its tables.');
  });

  test('tells the first of many lines, how many there are, and what to do', () => {
    const lines = Array.from({ length: 30 }, (_, i) => `  spec.field${i}: "a" there, "b" asked for`);
    const text = notificationText(new ClusterError('Conflict', `It is otherwise:\n${lines.join('\n')}.`, hint));
    assert.match(text, /^It is otherwise: spec\.field0: "a" there, "b" asked for · spec\.field1: /);
    assert.match(text, new RegExp(`… and 2\\d more \\(see the log\\)\\. ${hint}$`));
    assert.ok(text.length < 450, `${text.length} characters`);
  });

  test('cuts a long line rather than what to do', () => {
    const text = notificationText(new ClusterError('BadReply', 'x'.repeat(5000), hint));
    assert.match(text, /^x+… \(see the log\)\. Choose another name, or delete it first\.$/);
    assert.ok(text.length < 450, `${text.length} characters`);
  });
});
