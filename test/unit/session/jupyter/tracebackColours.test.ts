import assert from 'node:assert/strict';
import { colouredTraceback } from '#session/jupyter/tracebackColours.ts';

const red = (text: string) => `\u001b[31m${text}\u001b[39m`;
const green = (text: string) => `\u001b[32m${text}\u001b[39m`;

const coloured = (ename: string, ...traceback: string[]) => colouredTraceback({ ename, traceback });

suite('A traceback in colours', () => {
  test('has the name of an error red, and its places green', () => {
    assert.deepEqual(
      coloured(
        'RangeError',
        'RangeError: no',
        '    at total ([3]:2:7)',
        '    at async [3]:9:1',
        '    at async go (own.ts:3:1)',
        '    at /a b/own.ts:1:2',
      ),
      [
        `${red('RangeError')}: no`,
        `    at total (${green('[3]:2:7')})`,
        `    at async ${green('[3]:9:1')}`,
        `    at async go (${green('./own.ts:3:1')})`,
        `    at ${green('/a b/own.ts:1:2')}`,
      ],
    );
  });

  test('says of a file beside the notebook that it is beside it, which JupyterLab makes a link of', () => {
    const places = [
      'own.ts:2:7',
      'lib/own.ts:2:7',
      '../own.ts:2:7',
      'C:\\own.ts:2:7',
      'node:fs:2:7',
      '<anonymous>:2:7',
    ];
    const lines = coloured('Error', ...places.map((place) => `    at f (${place})`));
    assert.deepEqual(
      lines,
      [`./${places[0]}`, `./${places[1]}`, ...places.slice(2)].map((place) => `    at f (${green(place)})`),
    );
    assert.deepEqual(coloured('TypeScriptError', 'own.ts:1:7 - error TS2322: Type: no'), [
      `${green('./own.ts:1:7')} - ${red('error TS2322')}: Type: no`,
    ]);
  });

  test('has the causes red', () => {
    assert.deepEqual(coloured('Error', 'Error: top', 'Caused by TypeError: below', '  one of them: Error: other'), [
      `${red('Error')}: top`,
      `Caused by ${red('TypeError')}: below`,
      `  one of them: ${red('Error')}: other`,
    ]);
  });

  test('has the place of a finding green, its number and carets red, and the code as it is', () => {
    const code = "1 | const price: number = '^';";
    assert.deepEqual(coloured('TypeScriptError', '[3]:1:7 - error TS2322: Type: no', code, '          ^^^^^'), [
      `${green('[3]:1:7')} - ${red('error TS2322')}: Type: no`,
      code,
      `          ${red('^^^^^')}`,
    ]);
  });

  test('leaves every other line as it is', () => {
    const lines = ['The cell was interrupted.', 'Error without a colon', '… and 3 more.', ''];
    assert.deepEqual(coloured('Error', ...lines), lines);
  });
});
