import assert from 'node:assert/strict';
import { describeFailure } from '../../../kernel/cli/run.ts';

const failed = (source: string, traceback: string[], remark?: string) =>
  describeFailure(
    {
      cell: { number: 3, total: 9, source },
      ename: 'Error',
      evalue: 'broken',
      traceback,
      isAllowed: false,
      ...(remark !== undefined && { remark }),
    },
    'some.ipynb',
    { isPrinted: false },
  ).split('\n');

suite('A cell that failed in a terminal', () => {
  test('is shown with the lines around the place, and a caret below it', () => {
    const source = ['1', '2', '3', '4', '5', '\tf(x)', '7', '8', '9', '10', '11'].join('\n');
    const traceback = ['Error: broken', '    at f ([1]:1:7)', '    at [3]:6:2', '    at [3]:2:1'];
    assert.deepEqual(failed(source, traceback), [
      'Cell 3 of some.ipynb failed.',
      '',
      '  3 | 3',
      '  4 | 4',
      '  5 | 5',
      '> 6 | \tf(x)',
      '    | \t^',
      '  7 | 7',
      '  8 | 8',
      '  9 | 9',
      '',
      ...traceback,
    ]);
  });

  test('is shown by its start if the position is unknown, with the reason why it was stopped', () => {
    const lines = failed('while (true) {}', ['Interrupted'], 'The cell took longer than 5 s and was stopped.');
    assert.deepEqual(lines, [
      'Cell 3 of some.ipynb failed.',
      'The cell took longer than 5 s and was stopped.',
      '',
      '  1 | while (true) {}',
      '',
      'Interrupted',
    ]);
  });

  test('is not shown twice where the compiler shows the line', () => {
    const traceback = ['[3]:1:5 - error TS1: no', '1 | let x', '        ^'];
    assert.deepEqual(failed('let x', traceback), ['Cell 3 of some.ipynb failed.', '', ...traceback]);
  });
});
