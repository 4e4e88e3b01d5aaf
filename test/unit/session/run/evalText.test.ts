import assert from 'node:assert/strict';
import { evalText } from '#session/run/executor.ts';

const known = (name: string): boolean => ['a', 'f'].includes(name);

suite('The text of a direct eval', () => {
  const texts: readonly (readonly [code: string, becomes: string])[] = [
    ['a + 1', "const [$cell_a] = $kernel.variables(['a']);$cell_a.v + 1"],
    ['f(a)', "const [$cell_a, $cell_f] = $kernel.variables(['a', 'f']);(0, $cell_f.v)($cell_a.v)"],
    ['({ a, b: o.a })', "const [$cell_a] = $kernel.variables(['a']);({ a: $cell_a.v, b: o.a })"],
    ['a = 2', "const [$cell_a] = $kernel.variables(['a']);$cell_a.v = 2"],
  ];
  for (const [code, becomes] of texts)
    test(`has variables of the notebook for ${code}`, () =>
      assert.equal(evalText(code, [], known), becomes.replaceAll("'", '"')));

  for (const code of [
    'b + 1',
    'let a = 1; a',
    '((a) => a)(1)',
    'o.a',
    'a: for (;;) break a',
    '({ a: 1 })',
    'not syntax (',
  ])
    test(`is left as it is: ${code}`, () => assert.equal(evalText(code, [], known), code));

  test('is left as it is where a name means something else', () => assert.equal(evalText('a', ['a'], known), 'a'));

  test('that is not a string is not code', () => assert.equal(evalText(5, [], known), 5));
});
