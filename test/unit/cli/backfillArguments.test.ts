import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { type JobFile, readJobFile } from '#shared/jobs/jobFile.ts';
import {
  askedByArguments,
  askedByFile,
  backfillArguments,
  jobFileOf,
  type BackfillArguments,
} from '../../../kernel/cli/backfillArguments.ts';
import { UsageError, parse } from '../../../kernel/cli/command.ts';

const asked = (...args: string[]): BackfillArguments => {
  const { values, positionals } = parse(['--catalog', '/data', ...args], backfillArguments, true);
  return askedByArguments(values, positionals);
};

function fileOf(file: unknown): JobFile {
  const { file: read, problems } = readJobFile(file);
  assert.ok(read, JSON.stringify(problems));
  return read;
}

const byFile = (file: unknown, ...args: string[]): BackfillArguments =>
  askedByFile(parse(args, backfillArguments, true).values, '/jobs/a.lance-job.json', fileOf(file));

suite('the arguments of lance-catalog backfill', () => {
  const variables = ['LANCE_CATALOG', 'RAY_AUTH_TOKEN'] as const;
  let before: (string | undefined)[];
  setup(() => {
    before = variables.map((name) => process.env[name]);
    for (const name of variables) delete process.env[name];
  });
  teardown(() => {
    for (const [index, name] of variables.entries()) {
      if (before[index] === undefined) delete process.env[name];
      else process.env[name] = before[index];
    }
  });

  test('name a table, a column and nothing else that has to be said', () => {
    assert.deepEqual(asked('shop/products', 'length'), {
      catalog: { implementation: 'dir', root: '/data' },
      namespacePath: ['shop'],
      name: 'products',
      column: 'length',
      source: undefined,
      folder: process.cwd(),
      options: {},
    });
    assert.deepEqual(asked('["shop","a/b"]', 'length').name, 'a/b');
  });

  test('say how in the same words as a job file', () => {
    const typed =
      't c --where id>3 --runner local --concurrency 4 --task-size 10 --checkpoint-size 5 --commit-granularity 2 ' +
      '--num-frags 3 --read-version 7 --on-error retry:3 --key id --python python3';
    const { options } = asked(...typed.split(' '));
    const said = byFile({
      catalog: '/data',
      table: 't',
      column: 'c',
      where: 'id>3',
      runner: 'local',
      concurrency: 4,
      task_size: 10,
      checkpoint_size: 5,
      commit_granularity: 2,
      num_frags: 3,
      read_version: 7,
      on_error: { retry: 3 },
      key: 'id',
      python: 'python3',
    });
    assert.deepEqual(options, said.options);
  });

  test('give a function as SQL, as a file of TypeScript or as one of Python', () => {
    assert.deepEqual(asked('t', 'c', '--sql', 'id + 1').source, { kind: 'sql', expression: 'id + 1' });
    assert.deepEqual(asked('t', 'c', '--file', 'a.ts#f').source, { kind: 'typescript', file: 'a.ts', export: 'f' });
  });

  test('give a function of Python with its columns and its type', () => {
    const { source } = asked('t', 'c', '--file', 'a.py#f', '--input', 'a,b', '--input', 'd', '--output', 'int32');
    assert.deepEqual(source, {
      kind: 'python',
      file: 'a.py',
      entry: 'f',
      takes: 'row',
      inputs: ['a', 'b', 'd'],
      output: 'int32',
    });
  });

  const wrong: readonly [name: string, args: readonly string[], said: RegExp][] = [
    ['no column', ['t'], /needs TABLE and COLUMN/],
    ['no path', ['[1]', 'c'], /^Expected a path .*, got "\[1\]"/],
    ['two functions', ['t', 'c', '--sql', '1', '--file', 'a.ts'], /one of --sql and --file/],
    ['a file of another language', ['t', 'c', '--file', 'a.sh'], /Expected a TypeScript, JavaScript or Python file/],
    ['a Python function without its name', ['t', 'c', '--file', 'a.py'], /--file a\.py#name/],
    ['a Python function without its columns', ['t', 'c', '--file', 'a.py#f'], /--input a,b/],
    ['a Python function without its type', ['t', 'c', '--file', 'a.py#f', '--input', 'a'], /--output int32/],
    ['inputs of SQL', ['t', 'c', '--sql', '1', '--input', 'a'], /--input requires a Python file/],
    [
      'a runner that is none',
      ['t', 'c', '--runner', 'spark'],
      /auto, local, local-python, ray, rest for --runner, got "spark"/,
    ],
    ['no number', ['t', 'c', '--concurrency', '0'], /Expected a whole number of at least 1 for --concurrency/],
    [
      'a negative number',
      ['t', 'c', '--task-size', '-1'],
      /^Expected a whole number of at least 1 for --task-size, got "-1"\.$/,
    ],
    [
      'an option for a value',
      ['t', 'c', '--where', '--yes'],
      /^The value of --where looks like .*\. Write it as --where=VALUE\.$/,
    ],
    ['an on-error that is none', ['t', 'c', '--on-error', 'retry'], /retry:N/],
    ['a Ray twice', ['t', 'c', '--ray', 'http://a:1', '--profile', 'p'], /one of --ray and --profile/],
    ['a Ray that is no address', ['t', 'c', '--ray', 'ray://a:1'], /URL of a Ray dashboard/],
    ['a secret', ['t', 'c', '--storage-option', 'aws_secret_access_key=x'], /is a secret/],
  ];
  for (const [name, args, said] of wrong)
    test(`with ${name} are refused in a sentence`, () => {
      assert.throws(
        () => asked(...args),
        (error) => error instanceof UsageError && said.test(error.message),
      );
    });

  test('take the token of a Ray from the environment, for an address that only a file names with --trust', () => {
    process.env['RAY_AUTH_TOKEN'] = 'a-token';
    const place = { address: 'http://127.0.0.1:8265', token: 'a-token' };
    assert.deepEqual(asked('t', 'c', '--ray', place.address).options.ray, place);
    const file = { catalog: '/data', table: 't', column: 'c', ray: { address: place.address } };
    assert.deepEqual(byFile(file).options.ray, { address: place.address });
    assert.deepEqual(byFile(file, '--trust').options.ray, place);
    assert.deepEqual(byFile(file, '--ray', place.address).options.ray, place);
  });

  test('count more than a job file, whose paths are seen from its folder', () => {
    const file = { catalog: '../data', table: 't', column: 'c', function: { file: 'f.ts' }, where: 'a', key: 'id' };
    const { catalog, folder, source, options } = byFile(file, '--where', 'b');
    assert.deepEqual(catalog, { implementation: 'dir', root: resolve('/data') });
    assert.deepEqual([folder, source?.kind], ['/jobs', 'typescript']);
    assert.deepEqual(options, { where: 'b', key: 'id' });
    assert.equal(byFile(file, '--sql', '1').folder, process.cwd());
  });

  test('say where the catalog is that a job file calls by the name of a connection', () => {
    const file = { connection: 'work', table: 't', column: 'c' };
    assert.throws(() => byFile(file), /connection "work", which exists only in the editor.*--catalog/);
    assert.deepEqual(byFile(file, '--catalog', '/data').catalog, { implementation: 'dir', root: '/data' });
  });

  test('are a job file where one name ends as those do', () => {
    assert.equal(jobFileOf(['a.lance-job.json']), 'a.lance-job.json');
    assert.equal(jobFileOf(['t', 'c']), undefined);
    assert.equal(jobFileOf(['t']), undefined);
  });
});
