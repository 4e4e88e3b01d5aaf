import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readJobText } from '../../../../../extension/jobs/jobFile/text.ts';
import { inRoot } from '../../../../../scripts/paths.ts';

const textAt = (text: string, { offset, length }: { offset: number; length: number }) =>
  text.slice(offset, offset + length);

suite('the text of a job file in the editor', () => {
  test('is what the reader of job files says', () => {
    const { file, problems } = readJobText('{ "connection": "sample", "table": "shop/orders", "column": "c" }');
    assert.deepEqual(problems, []);
    assert.deepEqual(file?.table, ['shop', 'orders']);
  });

  test('has each problem at the name that is wrong, with what to do', () => {
    const text = '{\n  "table": "orders",\n  "column": "c",\n  "concurency": 4\n}';
    const [problem, ...others] = readJobText(text).problems;
    assert.ok(problem);
    assert.deepEqual(others, []);
    assert.equal(textAt(text, problem), '"concurency"');
    assert.match(problem.message, /Did you mean "concurrency"\?$/);
  });

  test('has a problem inside a list at that item', () => {
    const text = '{"table":"t","column":"c","function":{"file":"f.py","export":"f","output":"int32","inputs":["a",3]}}';
    const [problem] = readJobText(text).problems;
    assert.ok(problem);
    assert.equal(textAt(text, problem), '"inputs"');
  });

  test('has what is missing at the first brace and not under the whole file', () => {
    const [problem] = readJobText('{ "table": "orders" }').problems;
    assert.deepEqual([problem?.offset, problem?.length], [0, 1]);
    assert.match(problem?.message ?? '', /column/);
  });

  test('leaves what is no JSON to the editor', () => {
    for (const text of ['', '{', '{ "table": "t", }', '// a comment\n{}']) {
      const read = readJobText(text);
      assert.deepEqual([read.isJson, read.file, read.problems.length], [false, undefined, 0], text);
    }
  });

  test('is completed by a schema that forbids nothing which the reader reports already', () => {
    const shipped = readFileSync(inRoot('media/lance-job.schema.json'), 'utf8');
    assert.doesNotMatch(shipped, /"(?:required|additionalProperties|pattern|minimum|minLength|minItems)"/);
  });
});
