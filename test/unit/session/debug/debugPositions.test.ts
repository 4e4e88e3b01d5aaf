import assert from 'node:assert/strict';
import ts from 'typescript-6';
import { hitTest } from '#session/debug/breakpoints.ts';
import { javascriptOf, linesOf } from '#session/debug/debugHook.ts';
import { murmur2 } from '#session/debug/debugScripts.ts';
import { readPositions } from '#session/debug/positions.ts';

function mappingsOf(code: string): string {
  const { sourceMapText = '' } = ts.transpileModule(code, {
    compilerOptions: { sourceMap: true, module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  });
  return (JSON.parse(sourceMapText) as { mappings: string }).mappings;
}

suite('Positions for the debugger', () => {
  test('are those of what was written, at any column of a statement', () => {
    const positions = readPositions(mappingsOf('interface Gone {}\n\nexport const a: number = 1;\n  call(a);\n'));
    assert.deepEqual(positions.original({ line: 0, column: 0 }), { line: 2, column: 0 });
    assert.deepEqual(positions.original({ line: 1, column: 6 }), { line: 3, column: 8 });
  });

  test('are none on lines that the compiler has added', () => {
    const positions = readPositions('AAAA;;AACA');
    assert.equal(positions.original({ line: 1, column: 0 }), undefined);
    assert.deepEqual(positions.original({ line: 2, column: 9 }), { line: 1, column: 0 });
  });

  test('are none for a stretch of a line that has no source, and before the first', () => {
    const positions = readPositions('EAAA,E');
    assert.equal(positions.original({ line: 0, column: 1 }), undefined);
    assert.deepEqual(positions.original({ line: 0, column: 3 }), { line: 0, column: 0 });
    assert.equal(positions.original({ line: 0, column: 4 }), undefined);
  });

  test('go back in the source as well as on', () => {
    const positions = readPositions('AAEA,IADA');
    assert.deepEqual(positions.original({ line: 0, column: 0 }), { line: 2, column: 0 });
    assert.deepEqual(positions.original({ line: 0, column: 4 }), { line: 1, column: 0 });
  });
});

suite('The name of the file of a cell', () => {
  test('is the hash that ipykernel makes of the text', () => {
    const seed = 0xc70f6907;
    const known = { '': 3990065800, a: 2167009006, ab: 2805137849, abc: 3350977461, 'const a = 1': 3982997142 };
    for (const [text, hash] of Object.entries(known)) assert.equal(murmur2(text, seed), hash, text);
    assert.equal(murmur2('é😀 – "x"\n', seed), 1943779689);
  });
});

suite('Lines at which a cell can stop', () => {
  test('are those of statements, bodies of arrow functions and ends of functions, and not those of types', () => {
    const code = [
      'type A = number',
      'interface B {',
      '  c: A',
      '}',
      'function f(): void {',
      '  g()',
      '}',
      '',
      'const h = () =>',
      '  f()',
      '{',
      '  h()',
      '}',
      'declare const x: A',
    ].join('\n');
    assert.deepEqual(linesOf(code), [6, 7, 9, 10, 12]);
  });

  test('are there also for a cell that is no TypeScript in part', () => {
    assert.ok(linesOf('%time f()\nconst a = 1').includes(2));
  });
});

suite('What is typed at a pause', () => {
  test('loses its types, and may be an object', () => {
    assert.deepEqual(javascriptOf('(x as any).y'), { code: 'x.y;\n' });
    assert.deepEqual(javascriptOf('{ a: 1 }'), { code: '({ a: 1 });\n' });
  });

  test('is refused with a reason if it is not code', () => {
    assert.deepEqual(javascriptOf('x ==='), { problem: 'Expression expected.' });
  });
});

const hits = (condition: string): number[] => {
  const isHit = hitTest(condition);
  return [1, 2, 3, 4, 5, 6].filter(() => isHit?.() ?? false);
};

suite('A condition on the count of hits', () => {
  test('is a count, a comparison, or every n-th time', () => {
    assert.deepEqual(hits('3'), [3]);
    assert.deepEqual(hits('== 3'), [3]);
    assert.deepEqual(hits('> 4'), [5, 6]);
    assert.deepEqual(hits('>= 4'), [4, 5, 6]);
    assert.deepEqual(hits('<3'), [1, 2]);
    assert.deepEqual(hits('<= 2'), [1, 2]);
    assert.deepEqual(hits('% 2'), [2, 4, 6]);
    assert.deepEqual(hits(' '), [1, 2, 3, 4, 5, 6]);
  });

  test('is none when it is anything else', () => {
    assert.equal(hitTest('often'), undefined);
    assert.equal(hitTest('> x'), undefined);
  });
});
