import assert from 'node:assert/strict';
import { printCells } from '../../../kernel/cli/runScreen.ts';
import type { KernelOutput } from '../../../kernel/shared/kernelMessages.ts';

const printed = (text: string): KernelOutput => ({ type: 'stream', parent: '', content: { name: 'stdout', text } });
const value = (text: string): KernelOutput => ({
  type: 'execute_result',
  parent: '',
  content: { data: { 'text/plain': text }, metadata: {}, executionCount: 1 },
});

function shown(...outputs: KernelOutput[]): string {
  let all = '';
  const screen = printCells((text) => (all += text));
  const cell = { number: 1, total: 1, source: '\n  first\nsecond' };
  screen.begin(cell);
  for (const output of outputs) screen.output(output);
  void screen.end(cell, null);
  return all;
}

suite('Cells that are printed', () => {
  test('have their first line above what they print, whose pieces stay in their lines', () => {
    assert.equal(
      shown(printed('a'), printed(''), printed('b\n\nc'), printed('\nd')),
      '[1] first\n    ab\n\n    c\n    d\n',
    );
  });

  test('have each value in lines of its own', () => {
    assert.equal(
      shown(printed('a'), value('{\n  b\n}'), value('c\n')),
      '[1] first\n    a\n    {\n      b\n    }\n    c\n',
    );
  });
});
