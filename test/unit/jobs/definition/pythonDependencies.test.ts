import assert from 'node:assert/strict';
import { pythonDependencies } from '#jobs/definition/pythonDependencies.ts';

const file = (...lines: readonly string[]): string =>
  ['# A function.', '# /// script', ...lines.map((line) => `# ${line}`.trimEnd()), '# ///', 'import pillow', ''].join(
    '\n',
  );

suite('Packages that a Python file names', () => {
  test('are those of its block, however their list is written', () => {
    assert.deepEqual(pythonDependencies(file('dependencies = ["pillow>=11", \'tiny[all]==1.0\']')), [
      'pillow>=11',
      'tiny[all]==1.0',
    ]);
    const long = file(
      'requires-python = ">=3.10"',
      '',
      'dependencies = [',
      '  "a", # the first',
      '  "b # no comment",',
      ']',
    );
    assert.deepEqual(pythonDependencies(long), ['a', 'b # no comment']);
    assert.deepEqual(pythonDependencies(long.replaceAll('\n', '\r\n')), ['a', 'b # no comment']);
  });

  test('are none where it has no block, or a block without them', () => {
    assert.deepEqual(pythonDependencies('def f(x):\n    return x\n'), []);
    assert.deepEqual(pythonDependencies(file('requires-python = ">=3.10"')), []);
    assert.deepEqual(pythonDependencies('"""\ndependencies = ["a"]\n"""\n'), []);
  });

  test('are refused where they cannot be read, or are options of pip', () => {
    const refused = { kind: 'FunctionInvalid' };
    assert.throws(() => pythonDependencies(file('dependencies = ["a"')), refused);
    assert.throws(() => pythonDependencies(file('dependencies = [a]')), refused);
    assert.throws(() => pythonDependencies(file('dependencies = ["--index-url=http://x"]')), refused);
  });
});
