import assert from 'node:assert/strict';
import { consoleExit } from '#session/jupyter/jupyterRequests.ts';

const header = { msg_id: 'm', session: 's', username: '', date: '', msg_type: 'execute_request', version: '5.4' };
const asked = (code: unknown, more: object = {}, metadata: Record<string, unknown> = {}) =>
  consoleExit(
    {
      identities: [],
      signature: '',
      header,
      parent: {},
      metadata,
      content: { code, allow_stdin: true, silent: false, ...more },
      buffers: [],
    },
    7,
  );

suite('A console', () => {
  test('ends by the words that its help gives', () => {
    for (const code of ['exit', 'quit', ' exit() ;\n', 'quit()'])
      assert.deepEqual(asked(code)?.content, {
        status: 'ok',
        execution_count: 7,
        user_expressions: {},
        payload: [{ source: 'ask_exit', keepkernel: false }],
      });
  });

  test('does not end by other code, by what it runs without a word, or what has no code', () => {
    for (const code of ['exit(1)', 'exits', 'const exit = 1', 'process.exit()', '', 5])
      assert.equal(asked(code), undefined);
    assert.equal(asked('exit', { silent: true }), undefined);
  });

  test('is no cell of a notebook, and no program that runs one', () => {
    assert.equal(asked('exit', {}, { cellId: 'a' }), undefined);
    assert.equal(asked('exit', { allow_stdin: false }), undefined);
  });
});
