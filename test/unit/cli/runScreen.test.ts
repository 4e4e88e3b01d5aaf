import assert from 'node:assert/strict';
import type { KernelOutput } from '#shared/protocol/kernelMessages.ts';
import { printCells } from '../../../kernel/cli/runScreen.ts';

const printed = (text: string): KernelOutput => ({ type: 'stream', parent: '', content: { name: 'stdout', text } });
const value = (text: string): KernelOutput => ({
  type: 'execute_result',
  parent: '',
  content: { data: { 'text/plain': text }, metadata: {}, executionCount: 1 },
});

const failed: KernelOutput = {
  type: 'error',
  parent: '',
  content: { ename: 'Error', evalue: 'broken', traceback: ['Error: broken'] },
};
const display = (text: string, displayId?: string): KernelOutput => ({
  type: 'display_data',
  parent: '',
  content: { data: { 'text/plain': text }, metadata: {}, ...(displayId !== undefined && { displayId }) },
});
const update = (text: string, displayId: string): KernelOutput => ({
  type: 'update_display_data',
  parent: '',
  content: { data: { 'text/plain': text }, metadata: {}, displayId },
});
const clear = (wait: boolean): KernelOutput => ({ type: 'clear_output', parent: '', content: { wait } });

/** Returns a status line of a terminal that records its calls. */
const statusLine = (write: (text: string) => void) => ({
  show: (text: string) => write(`<${text}>`),
  clear: () => write('<>'),
});

function shown(...outputs: KernelOutput[]): string {
  let all = '';
  const screen = printCells({ write: (text) => (all += text) });
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

  test('have the last state of a display once, below what was printed meanwhile and above the result', () => {
    assert.equal(
      shown(display('queued', 'a'), update('1 %', 'a'), printed('x\n'), update('done\nJob 1', 'a'), value('5')),
      '[1] first\n    x\n    done\n    Job 1\n    5\n',
    );
    assert.equal(
      shown(display('0', 'a'), display('0', 'b'), update('1', 'a'), failed),
      '[1] first\n    1\n    0\n    Error: broken\n',
    );
  });

  test('have a display that nothing can change at its place', () => {
    assert.equal(shown(display('fixed'), printed('x')), '[1] first\n    fixed\n    x\n');
  });

  test('have an error that the cell outlives at its place', () => {
    assert.equal(shown(failed, printed('goes on\n'), value('5')), '[1] first\n    Error: broken\n    goes on\n    5\n');
  });

  test('have no display that was cleared', () => {
    assert.equal(shown(display('a', 'a'), clear(false), display('b', 'b')), '[1] first\n    b\n');
    assert.equal(shown(display('a', 'a'), clear(true), update('a 2', 'a')), '[1] first\n    a 2\n');
    assert.equal(shown(display('a', 'a'), clear(true)), '[1] first\n    a\n');
  });

  test('have a display again where a later cell changes it, and what changes between cells above the next one', () => {
    let all = '';
    const screen = printCells({ write: (text) => (all += text) });
    const cell = { number: 1, total: 3, source: 'cell' };
    screen.begin(cell);
    screen.output(display('one', 'a'));
    void screen.end(cell, null);
    screen.begin({ ...cell, number: 2 });
    screen.output(update('two', 'a'));
    void screen.end(cell, null);
    screen.output(update('three', 'a'));
    screen.begin({ ...cell, number: 3 });
    void screen.end(cell, null);
    assert.equal(all, '[1] cell\n    one\n[2] cell\n    two\n    three\n[3] cell\n');
  });

  test('show states of a display in one line of a terminal, which makes room for what is printed', () => {
    let all = '';
    const write = (text: string): void => void (all += text);
    const screen = printCells({ write, status: statusLine(write) });
    const cell = { number: 1, total: 1, source: 'cell' };
    screen.begin(cell);
    screen.output(display('queued\nJob 1', 'a'));
    screen.output(update('1 %', 'a'));
    screen.output(printed('no end'));
    screen.output(update('2 %', 'a'));
    void screen.end(cell, null);
    assert.equal(all, '<>[1] cell\n<    queued><    1 %><>    no end<>\n<>    2 %\n');
  });
});
