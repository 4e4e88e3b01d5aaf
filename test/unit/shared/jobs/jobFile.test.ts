import assert from 'node:assert/strict';
import type { Field } from '#shared/fieldTable.ts';
import { jobFileFields, readJobFile } from '#shared/jobs/jobFile.ts';
import { jobFileSchema } from '#shared/jobs/jobFileSchema.ts';

const least = { table: 'shop/products', column: 'length' };

const functionOf = (made: unknown): unknown => readJobFile({ ...least, function: made }).file?.function;

suite('a job file', () => {
  test('needs a table and a column, and leaves the rest to the function on the table and to the runner', () => {
    assert.deepEqual(readJobFile(least).file, {
      catalog: undefined,
      connection: undefined,
      database: undefined,
      table: ['shop', 'products'],
      column: 'length',
      function: undefined,
      options: {},
    });
  });

  test('says everything by the names of the specification, and is read into those of the code', () => {
    const { file } = readJobFile({
      ...least,
      $schema: './schema.json',
      catalog: './data',
      table: ['shop', 'a/b'],
      runner: 'ray',
      where: 'id > 3',
      concurrency: 4,
      task_size: 1000,
      checkpoint_size: 100,
      commit_granularity: 5,
      num_frags: 2,
      read_version: 7,
      on_error: { retry: 3 },
      key: 'id',
      ray: { profile: 'prod', ray_cluster: 'mine' },
      python: '/usr/bin/python3',
    });
    assert.deepEqual(file?.table, ['shop', 'a/b']);
    assert.equal(file.catalog, './data');
    assert.deepEqual(file.options, {
      runner: 'ray',
      where: 'id > 3',
      concurrency: 4,
      taskSize: 1000,
      checkpointSize: 100,
      commitGranularity: 5,
      numFrags: 2,
      readVersion: 7,
      onError: { mode: 'retry', attempts: 3 },
      key: 'id',
      ray: { profile: 'prod', rayCluster: 'mine' },
      python: '/usr/bin/python3',
    });
  });

  test('takes the names of the code as well, also beside those of the specification', () => {
    const { file, problems } = readJobFile({
      ...least,
      taskSize: 1000,
      checkpoint_size: 100,
      onError: 'skip',
      ray: { profile: 'prod', rayCluster: 'mine' },
    });
    assert.deepEqual(problems, []);
    assert.deepEqual(file?.options, {
      taskSize: 1000,
      checkpointSize: 100,
      onError: { mode: 'skip' },
      ray: { profile: 'prod', rayCluster: 'mine' },
    });
  });

  test('gives a function as SQL, as a file of TypeScript or as one of Python', () => {
    assert.deepEqual(functionOf({ sql: 'length(caption)', name: 'len' }), {
      kind: 'sql',
      expression: 'length(caption)',
      name: 'len',
      version: undefined,
    });
    assert.deepEqual(functionOf({ file: './len.ts', export: 'len', version: '2' }), {
      kind: 'typescript',
      file: './len.ts',
      export: 'len',
      name: undefined,
      version: '2',
    });
    assert.deepEqual(functionOf({ file: 'len.py', export: 'len', inputs: ['caption'], output: 'int32' }), {
      kind: 'python',
      file: 'len.py',
      entry: 'len',
      takes: 'row',
      inputs: ['caption'],
      output: 'int32',
      name: undefined,
      version: undefined,
    });
  });

  const mistakes: readonly [name: string, file: unknown, path: readonly (string | number)[], what: RegExp][] = [
    ['no object', [], [], /^The file must be an object, but is a list\./],
    ['no table', { column: 'c' }, [], /^The file has no "table"\./],
    [
      'a key with a typing error',
      { ...least, colum: 'x' },
      ['colum'],
      /^colum is not a field\. Did you mean "column"\?/,
    ],
    ['a key in camelCase with a typing error', { ...least, taskSiz: 3 }, ['taskSiz'], /Did you mean "task_size"\?/],
    [
      'a field in both spellings',
      { ...least, taskSize: 3, task_size: 4 },
      ['task_size'],
      /^task_size sets the same as "taskSize"/,
    ],
    [
      'a RayCluster without a profile, in camelCase',
      { ...least, ray: { address: 'http://a:1', rayCluster: 'x' } },
      ['ray', 'rayCluster'],
      /^ray\.rayCluster requires "profile"/,
    ],
    ['a secret', { ...least, api_key: 'x' }, ['api_key'], /Keep secrets out of job files/],
    [
      'a number as text',
      { ...least, concurrency: '4' },
      ['concurrency'],
      /must be a whole number, 1 or more, but is "4"\./,
    ],
    [
      'a runner that is none',
      { ...least, runner: 'spark' },
      ['runner'],
      /must be "auto" or "local" .*but is "spark"\./,
    ],
    ['an empty path', { ...least, table: '/' }, ['table'], /must be a path such as/],
    [
      'an on_error that is none',
      { ...least, on_error: { retry: 0 } },
      ['on_error'],
      /must be "fail", "null", "skip" or/,
    ],
    ['two functions', { ...least, function: { sql: '1', file: 'a.ts' } }, ['function'], /one of "sql" and "file"/],
    [
      'a program in a shell',
      { ...least, function: { file: 'a.sh' } },
      ['function', 'file'],
      /^function\.file must be the path/,
    ],
    [
      'inputs of TypeScript',
      { ...least, function: { file: 'a.ts', inputs: ['a'] } },
      ['function', 'inputs'],
      /^function\.inputs applies only to Python\. .*udf\(\)/,
    ],
    [
      'a Python function without its type',
      { ...least, function: { file: 'a.py', export: 'f', inputs: ['a'] } },
      ['function'],
      /has no "output", which a Python function needs/,
    ],
    [
      'a Ray twice',
      { ...least, ray: { address: 'http://a:1', profile: 'p' } },
      ['ray'],
      /one of "address" and "profile"/,
    ],
    ['a catalog twice', { ...least, catalog: 'a', connection: 'b' }, ['connection'], /sets the same as "catalog"/],
  ];
  for (const [name, file, path, what] of mistakes)
    test(`with ${name} is refused at its place in a sentence`, () => {
      const { problems } = readJobFile(file);
      const problem = problems.find((one) => what.test(`${one.what} ${one.hint}`));
      assert.ok(problem, JSON.stringify(problems));
      assert.deepEqual(problem.path, path);
    });

  test('with several mistakes tells all of them', () => {
    const { problems } = readJobFile({ tabel: 'x', concurrency: 0 });
    assert.deepEqual(
      problems.map(({ path }) => path.join('.')),
      ['tabel', 'concurrency', '', ''],
    );
  });

  test('with a wrong value tells that alone, and not what follows from leaving it out', () => {
    const { problems } = readJobFile({ table: 't', column: 'c', function: { sql: 3 }, ray: { address: 8265 } });
    assert.deepEqual(
      problems.map(({ path }) => path.join('.')),
      ['function.sql', 'ray.address'],
    );
  });

  test('is described to an editor field by field, the needed ones as such', () => {
    const { properties, required, additionalProperties } = jobFileSchema as {
      properties: Record<string, { description: string; properties?: Record<string, unknown>; doNotSuggest?: true }>;
      required: string[];
      additionalProperties: boolean;
    };
    const offered = Object.keys(properties).filter((name) => properties[name]?.doNotSuggest !== true);
    assert.deepEqual(offered, Object.keys(jobFileFields));
    // The names used in code are checked in the same way, but not offered in completions.
    assert.deepEqual(properties['taskSize'], { ...properties['task_size'], doNotSuggest: true });
    assert.deepEqual(required, ['table', 'column']);
    assert.equal(additionalProperties, false);
    const inner = jobFileFields.function.fields satisfies Record<string, Field>;
    assert.deepEqual(Object.keys(properties['function']?.properties ?? {}), Object.keys(inner));
  });
});
