import assert from 'node:assert/strict';
import { isKernelMessage } from '#shared/protocol/kernelMessages.ts';

const message = (type: string, content: unknown) => ({ type, parent: 'p', content });
const shown = { data: { 'text/plain': 'a' }, metadata: {} };

suite('A message out of the pipe', () => {
  test('is taken with the content of its type', () => {
    for (const [type, content] of [
      ['status', { executionState: 'idle' }],
      ['stream', { name: 'stdout', text: '' }],
      ['display_data', shown],
      ['display_data', { ...shown, displayId: 'd' }],
      ['update_display_data', { ...shown, displayId: 'd' }],
      ['execute_result', { ...shown, executionCount: 0 }],
      ['error', { ename: 'a', evalue: 'b', traceback: ['c'] }],
      ['clear_output', { wait: true }],
      ['interrupt_reply', { status: 'ok', milliseconds: 1 }],
    ] as const)
      assert.ok(isKernelMessage(message(type, content)), type);
  });

  test('that opens a table in the panel is taken with its place, and refused with anything else', () => {
    const table = { implementation: 'dir', catalog: '/data', namespacePath: ['shop'], name: 'orders' };
    const view = { where: 'id > 3', orderBy: [{ column: 'id', descending: true }] };
    const content = { id: 'view-1', table, view };
    for (const good of [content, { ...content, columns: ['id'] }, { ...content, table: { ...table, version: 3 } }])
      assert.ok(isKernelMessage(message('view_request', good)), JSON.stringify(good));
    for (const wrong of [
      { table, view },
      { ...content, table: { ...table, implementation: 'command' } },
      { ...content, table: { ...table, catalog: null } },
      { ...content, table: { ...table, version: -1 } },
      { ...content, view: { ...view, where: ['id'] } },
      { ...content, view: { ...view, orderBy: [{ column: 'id' }] } },
      { ...content, columns: 'id' },
    ])
      assert.ok(!isKernelMessage(message('view_request', wrong)), JSON.stringify(wrong));
  });

  test('is refused when its bundle is none', () => {
    for (const type of ['display_data', 'update_display_data', 'execute_result'])
      for (const data of [null, undefined, 'text', []]) {
        const content = { data, metadata: {}, displayId: 'd', executionCount: 1 };
        assert.ok(!isKernelMessage(message(type, content)), `${type} ${String(data)}`);
      }
  });

  test('is refused if displayed content is not a string', () => {
    for (const [type, content] of [
      ['stream', { name: 'stdout', text: 1 }],
      ['stream', { name: 'other', text: '' }],
      ['error', { ename: 'a', evalue: 'b', traceback: 'c' }],
      ['display_data', { ...shown, displayId: 1 }],
      ['update_display_data', shown],
    ] as const)
      assert.ok(!isKernelMessage(message(type, content)), type);
  });

  test('is refused without a type, a parent and a content', () => {
    for (const value of [null, 'text', [], {}, { type: 'status', parent: 'p' }, { type: 'status', content: {} }])
      assert.ok(!isKernelMessage(value), JSON.stringify(value));
  });
});
