import assert from 'node:assert/strict';
import { inRoot } from '../../../scripts/paths.ts';
import { python } from '../../harness/needs/python.ts';
import { tempFolder } from '../../harness/temp.ts';
import { installedKernel } from '../jupyter/jupyterHome.ts';
import { command } from '../support.ts';

suite('Debugging with a client of Jupyter', function () {
  this.timeout(200_000);
  let seen: Record<string, unknown>;

  suiteSetup(async () => {
    const { env } = await installedKernel();
    const script = inRoot('test/kernel/python/debug.py');
    const { code, stdout, stderr } = await command(python(), [script], { env, cwd: tempFolder(), seconds: 180 });
    assert.equal(code, 0, stderr);
    // Node prints this text when it waits for a debug session that was not ended.
    assert.doesNotMatch(stderr, /Waiting for the debugger/);
    seen = JSON.parse(stdout) as Record<string, unknown>;
  });

  /** Checks the result of one action. */
  const sees = (title: string, expected: Record<string, unknown>): void => {
    test(title, () => {
      for (const [what, value] of Object.entries(expected)) assert.deepEqual(seen[what], value, what);
    });
  };

  sees('is offered by the kernel, and begins when a client attaches', {
    kernel_info: [['kernel subshells', 'debugger'], true],
    before: [false, [], []],
    'not attached': [true, false],
  });
  sees('knows a cell by the hash that clients make of its text', { 'path is the hash': true, source: true });
  sees('tells of a breakpoint on a line without code where it will be, and of one below all code that it is none', {
    told: [
      [true, 2],
      [true, 5],
      [true, 5],
      [false, 99],
    ],
  });
  sees('stops in a cell before its first line runs, and in a function of it, at the lines that were written', {
    'first stop': ['breakpoint', 2],
    'second stop': ['breakpoint', 5, 8],
    frames: [
      ['twice', '[2]', true],
      ['cell [2]', '[2]', true],
    ],
  });
  sees('shows the variables of a function, and those of the notebook by their names', {
    scopes: {
      Local: { n: '20', result: '(not set yet)' },
      Notebook: { later: 'ƒ later(q) {', price: '20', paid: 'undefined', twice: 'ƒ twice(n) {', rest: 'undefined' },
    },
  });
  sees('evaluates TypeScript with both, and nothing that has an effect where it is only looked', {
    evaluate: ['40', '21', 'ReferenceError: nothing is not defined', 'Expression expected.'],
    look: ['20', 'EvalError: Possible side-effect in debug-evaluate'],
  });
  sees('steps line by line, out of a function, over an await and off the end of the cell', {
    'step over': ['step', 6, 8],
    'step out': ['step', 9],
    'step over an await': ['step', 10],
    continued: 1,
  });
  sees('sets variables of a function and of the notebook, with which the cell goes on', {
    'after set': ['60', '25'],
    'step off the end': ['ok', '35'],
  });
  sees('stops in a function of a cell that ran before the client attached', {
    'not in an earlier cell': ['ok', '2'],
    'in an earlier cell': ['breakpoint', 2, 1],
  });
  sees('stops where a condition holds, and writes a message at a log point every so many times', {
    condition: [['breakpoint', 3], '5'],
    'log point': '7 makes 28\n',
  });
  sees('stops at an exception that nothing of the cell catches, also behind an await, or at all of them', {
    uncaught: [['exception', 3], 'TypeError'],
    all: ['exception', 1],
  });
  sees('stops in a file that a cell imports, which is listed among the modules', {
    'own file': [['breakpoint', 3, 2], true, { x: '21' }],
    modules: ['helper.ts'],
  });
  sees('gives a large value in parts, and in the forms of an output', {
    large: [100_000, 10, '99999', true],
    rich: ['text/html', 'text/plain'],
  });
  sees('shows the variables of the notebook also while nothing runs, and without an attached client', {
    'while nothing runs': 'Array',
    'without a debugger': [false, true],
  });
  sees('answers a completion at a pause at once, with why there is none', { 'completion at a pause': [true, true] });
  sees('is interrupted at a pause: nothing behind it runs, and the notebook keeps its state', {
    'interrupt at a pause': ['ok', 'error', null],
    'nothing ran behind it': ['ok', '0'],
  });
  sees('pauses a cell that is in a loop, and is interrupted there', {
    pause: 'pause',
    'state is kept': ['error', 'ok', 'true'],
  });
  sees('ends at a pause when the client disconnects: the cell goes on, and later ones stop nowhere', {
    'disconnect at a pause': ['ok', '2'],
    'runs through afterwards': ['ok', '2'],
    'attached again': ['breakpoint', 3],
  });
  sees('ends with the kernel when that is restarted at a pause', { 'restart at a pause': ['ok', "'undefined'"] });
  sees('ends the cell when it is to be terminated, and not the kernel', { terminate: [null, 'error', false] });
});
