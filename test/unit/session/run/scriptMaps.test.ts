import assert from 'node:assert/strict';
import ts from 'typescript-6';
import { describeError } from '#session/compile/cellError.ts';
import { ScriptMaps } from '#session/run/scriptMaps.ts';

/** Compiled code with a source map. The second line of the code is the third line of the source. */
const compiled = ts.transpileModule('interface Gone {}\n\nthrow new Error("x");\n', {
  compilerOptions: { inlineSourceMap: true, target: ts.ScriptTarget.ES2022 },
}).outputText;

suite('Positions in stack traces', () => {
  test('are those of the cell as it was written', () => {
    const maps = new ScriptMaps();
    const bare = maps.add('cell-3.ts', compiled);
    assert.doesNotMatch(bare, /sourceMappingURL/);
    assert.equal(maps.translate('    at f (cell-3.ts:2:7)'), '    at f ([3]:3:7)');
  });

  test('name cells that are forgotten, and leave other text alone', () => {
    const maps = new ScriptMaps();
    assert.equal(maps.translate('    at f (cell-9.ts:1:7)'), '    at f ([9])');
    assert.equal(
      maps.translate('Error: see notes:1:2\n    at node:fs:3:4'),
      'Error: see notes:1:2\n    at node:fs:3:4',
    );
  });

  test('in a file are given by its path, without what its URL says of versions', () => {
    const maps = new ScriptMaps();
    const url = `file://${process.cwd()}/lib/util.ts?cell-import=abc`;
    maps.add(url, compiled);
    assert.equal(maps.translate(`    at g (${url}:2:1)`), '    at g (lib/util.ts:3:1)');
  });
});

const describe = (thrown: unknown) => describeError(thrown, (stack) => stack);

suite('The description of an error', () => {
  test('has no frame of the kernel and no name of generated code', () => {
    const error = Object.assign(new TypeError('(0 , $cell_f.v) is not a function'), {
      stack:
        'TypeError: x\n    at $cell_g.v (cell-1.ts:1:1)\n    at run (/x/dist/kernel.cjs:1:1)\n    at node:internal/vm:2:2',
    });
    assert.deepEqual(describe(error), {
      ename: 'TypeError',
      evalue: 'f is not a function',
      traceback: ['TypeError: f is not a function', '    at g (cell-1.ts:1:1)'],
    });
  });

  test('has functions of the language only if the code of the user calls them', () => {
    const frames = [
      'Array.map (<anonymous>)',
      '/x/dist/kernel.cjs:1:1',
      'JSON.parse (<anonymous>)',
      'new Promise (<anonymous>)',
      'cell-1.ts:1:1',
      'Array.forEach (<anonymous>)',
      'async cell-1.ts:9:1',
    ];
    const stack = `Error: x\n${frames.map((frame) => `    at ${frame}`).join('\n')}`;
    assert.deepEqual(
      describe(Object.assign(new Error('x'), { stack })).traceback.slice(1),
      [...frames.slice(2, 5), frames[6]].map((frame) => `    at ${frame}`),
    );
  });

  test('of a script that is no code begins with its place', () => {
    const stack = '/p/i.js:2\nlet = 1;\n    ^\n\nSyntaxError: x\n    at node:internal/vm:2:2';
    const traceback = (name: string) => describe(Object.assign(new Error('x'), { name, stack })).traceback;
    assert.deepEqual(traceback('SyntaxError'), ['SyntaxError: x', '    at /p/i.js:2:5']);
    assert.deepEqual(traceback('Error'), ['Error: x']);
  });

  test('is bounded, however deep the stack and the causes', () => {
    const stack = `RangeError: x\n${'    at f (cell-1.ts:1:1)\n'.repeat(100)}`;
    let cause: unknown = 'the end';
    for (let depth = 0; depth < 50; depth++) cause = Object.assign(new Error('below', { cause }), { stack });
    const { traceback } = describe(Object.assign(new RangeError('x', { cause }), { stack }));
    assert.ok(traceback.length < 60, `${traceback.length} lines`);
    assert.match(traceback.join('\n'), /… and 80 more\n/);
  });
});
