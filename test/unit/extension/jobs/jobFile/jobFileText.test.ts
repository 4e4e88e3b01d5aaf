import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { jobFileHints } from '#shared/jobs/jobFileSchema.ts';
import { backfillTaskDefinition } from '../../../../../extension/jobs/backfill/taskDefinition.ts';
import { readJobText } from '../../../../../extension/jobs/jobFile/text.ts';
import manifest from '../../../../../package.json' with { type: 'json' };

const root = join(import.meta.dirname, '../../../../..');
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

  test('has the schema of all fields, which forbids nothing that the reader tells already', () => {
    const shipped: unknown = JSON.parse(readFileSync(join(root, 'media/lance-job.schema.json'), 'utf8'));
    assert.deepEqual(shipped, JSON.parse(JSON.stringify(jobFileHints)));
    assert.doesNotMatch(
      JSON.stringify(shipped),
      /"(?:required|additionalProperties|pattern|minimum|minLength|minItems)"/,
    );
    assert.deepEqual(manifest.contributes.jsonValidation, [
      { fileMatch: '*.lance-job.json', url: './media/lance-job.schema.json' },
    ]);
  });

  test('can be written in tasks.json field by field', () => {
    assert.deepEqual(manifest.contributes.taskDefinitions, [JSON.parse(JSON.stringify(backfillTaskDefinition))]);
  });
});
