import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inRoot } from '../../scripts/paths.ts';
import { python } from '../harness/needs/python.ts';
import { tempFolder } from '../harness/temp.ts';
import { ClonedRepository } from '../unit/cluster/clonedRepository.ts';
import { cliEntry, command, errorOf, run, startKernel } from './support.ts';

/** Creates a notebook; its cells run in its folder. */
function writeNotebook(source: string, folder: string): string {
  const path = join(folder, 'some.ipynb');
  const cell = { cell_type: 'code', source, metadata: {}, outputs: [], execution_count: null };
  writeFileSync(path, JSON.stringify({ cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 }));
  return path;
}

/** Creates the table `t` with the command line, as a user would. */
async function makeTable(catalog: string): Promise<void> {
  const notebook = writeNotebook("await db.createTable('t', [{ a: 1 }])", tempFolder());
  const { code, stdout } = await command(process.execPath, [cliEntry, 'run', notebook, '--catalog', catalog]);
  assert.equal(code, 0, stdout);
}

suite('A cloned repository that names a program', function () {
  this.timeout(120_000);
  let repository: ClonedRepository;
  let env: { XDG_DATA_HOME: string };
  setup(() => {
    repository = new ClonedRepository();
    env = { XDG_DATA_HOME: tempFolder() };
  });

  const check = (...args: string[]) =>
    command(process.execPath, [cliEntry, 'check', ...args], { cwd: repository.folder, env });

  /** Runs a command in a separate terminal, and types the answer to its prompt. */
  async function inTerminal(words: readonly string[], keys: string): Promise<string> {
    const typing = [inRoot('test/kernel/python/terminal.py'), '100', '[y/N]', keys];
    const { stdout } = await command(python(), [...typing, process.execPath, cliEntry, ...words], {
      cwd: repository.folder,
      env,
    });
    return stdout;
  }

  test('does not start it by "check", which says how to allow it, in JSON too', async () => {
    const { code, stderr } = await check();
    assert.equal(code, 2);
    assert.match(stderr, /\.vscode\/settings\.json.*run\.sh token.*check --profile prod --trust/);
    const { stdout } = await check('--json');
    assert.match(String((JSON.parse(stdout) as { error: unknown }).error), /--trust/);
    assert.equal(repository.takeRan(), false);
  });

  test('starts it with --trust, and from then on without', async () => {
    await check('--trust');
    assert.equal(repository.takeRan(), true);
    await check();
    assert.equal(repository.takeRan(), true);
    repository.writeKubeconfig({ args: ['other'] });
    await check();
    assert.equal(repository.takeRan(), false);
  });

  test('starts it after a yes in a terminal and not after a no, and asks once', async () => {
    assert.match(
      await inTerminal(['check', '--short'], 'n\\r'),
      /run\.sh token[^]*now and later\? \[y\/N\][^]*not accepted/,
    );
    assert.equal(repository.takeRan(), false);
    await inTerminal(['check', '--short'], 'y\\r');
    assert.equal(repository.takeRan(), true);
    assert.doesNotMatch(await inTerminal(['check', '--short'], 'n\\r'), /\[y\/N\]/);
    assert.equal(repository.takeRan(), true);
  });

  test('does not start it by a backfill on Ray, planned or not, unless it has --trust', async () => {
    const catalog = tempFolder();
    const words = [
      'backfill',
      't',
      'c',
      '--sql',
      'a + 1',
      '--catalog',
      catalog,
      '--runner',
      'ray',
      '--profile',
      'prod',
    ];
    const backfill = (...more: string[]) =>
      command(process.execPath, [cliEntry, ...words, ...more], { cwd: repository.folder, env });
    await makeTable(catalog);
    for (const mode of [[], ['--plan'], ['--yes', '--detach']]) {
      const { code, stderr } = await backfill(...mode);
      assert.equal(code, 2, stderr);
      assert.match(stderr, /run\.sh token.*--trust/);
    }
    assert.equal(repository.takeRan(), false);
    await backfill('--plan', '--trust');
    assert.equal(repository.takeRan(), true);
  });

  test('does not start it by a notebook that "run" runs, which says how to allow it', async () => {
    const catalog = tempFolder();
    for (const call of ['cluster.check()', "ray.connect({ profile: 'prod' })", "ray.cluster({ profile: 'prod' })"]) {
      const path = writeNotebook(`await ${call}`, repository.folder);
      const ran = await command(process.execPath, [cliEntry, 'run', path, '--catalog', catalog], { env });
      assert.equal(ran.code, 1, call + ran.stdout + ran.stderr);
      assert.match((ran.stdout + ran.stderr).replaceAll(/\s+/g, ' '), /check --profile prod --trust/, call);
    }
    assert.equal(repository.takeRan(), false);
  });

  test('starts it by a cell after a yes of a client that can answer, and asks once', async () => {
    const answers = ['no', 'yes'];
    const questions: string[] = [];
    const ask = ({ prompt }: { prompt: string }) => {
      questions.push(prompt);
      return Promise.resolve(answers.shift() ?? null);
    };
    const kernel = await startKernel({ cwd: repository.folder, env, ask });
    try {
      const declined = await run(kernel, 'await cluster.check()');
      assert.match(String(errorOf(declined.outputs)?.evalue), /was not accepted/);
      assert.equal(repository.takeRan(), false);
      await run(kernel, 'await cluster.check()');
      assert.equal(repository.takeRan(), true);
      await run(kernel, "await ray.connect({ profile: 'prod' })");
      assert.equal(questions.length, 2);
      assert.match(String(questions[0]), /settings\.json runs a program[^]*run\.sh token[^]*\[y\/N\] $/);
    } finally {
      await kernel.shutdown();
    }
  });

  test('is not asked about where an editor hands the profiles over, which trusts the workspace', async () => {
    const profiles = JSON.stringify({ prod: { kubeconfig: repository.kubeconfig } });
    const kernel = await startKernel({ cwd: repository.folder, env: { ...env, LANCE_CATALOG_CLUSTERS: profiles } });
    try {
      await run(kernel, 'await cluster.check()');
      assert.equal(repository.takeRan(), true);
    } finally {
      await kernel.shutdown();
    }
  });
});
