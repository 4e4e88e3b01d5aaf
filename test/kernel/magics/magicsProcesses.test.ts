import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { InputHandler } from '#processes/kernelConversation.ts';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import { isRunning } from '../../harness/running.ts';
import { tempFolder } from '../../harness/temp.ts';
import { cells } from '../cells.ts';
import { errorOf, printed, run, startKernel, until, valueOf } from '../support.ts';
import { counting, npmSettings } from './magicCases.ts';
import { registryStandIn } from './registryStandIn.ts';

suite('Magics that start processes', function () {
  this.timeout(120_000);
  const folder = realpathSync(tempFolder());
  let kernel: KernelProcess;
  let registry: Awaited<ReturnType<typeof registryStandIn>>;
  let asked = '';
  let answer: string | null = null;
  const ask: InputHandler = async ({ prompt }) => {
    asked = prompt;
    return answer;
  };
  suiteSetup(async () => {
    registry = await registryStandIn([counting('1.0.0', 1), counting('2.0.0', 2)]);
    const npm = npmSettings(registry.url, join(folder, 'cache'));
    kernel = await startKernel({ cwd: folder, env: { ...npm, SHELL: '/bin/sh' }, ask });
  });
  suiteTeardown(async () => {
    await kernel.shutdown();
    registry.close();
  });
  const notebook = () => kernel;

  cells(
    '%sh and %%sh run commands in the working directory, with the environment of the notebook',
    notebook,
    { cell: '%sh pwd', out: `${folder}\n` },
    { cell: '%env MAGIC_NAME=from the notebook' },
    {
      cell: '%%sh\nfor i in 1 2; do\n  echo "$MAGIC_NAME $i"\ndone\necho "beside" >&2',
      out: 'from the notebook 1\nfrom the notebook 2\n',
      err: /^beside\n$/,
    },
    { cell: '%sh printf "ä %.0s" $(seq 1 20000) | wc -c', out: /^\s*60000\n$/ },
    {
      cell: '%sh echo before; exit 3',
      out: 'before\n',
      error: /^MagicError: %sh: The shell ended with exit code 3\.$/,
    },
    { cell: '%sh kill -TERM $$', error: /%sh: The shell was terminated by SIGTERM\./ },
    { cell: '%%sh', error: /%%sh: There is no command/ },
    { cell: '%sh cat' },
    { cell: 'let after = 1\n%sh false\nafter = 2', error: /exit code 1/ },
    { cell: 'after', value: '1' },
  );

  test('%install in a folder that was deleted says so', async () => {
    const deleted = tempFolder();
    const lost = await startKernel({ cwd: deleted });
    try {
      await run(lost, '1');
      rmSync(deleted, { recursive: true });
      const { outputs } = await run(lost, '%install --yes left-pad');
      assert.match(
        errorOf(outputs)?.evalue ?? '',
        /^%install: The folder ".*" no longer exists\. Change to another folder with %cd\.$/,
      );
    } finally {
      await lost.shutdown();
    }
  });

  test('%sh prints as the command goes, and an interrupt ends it with all that it started', async () => {
    const texts: string[] = [];
    const running = kernel.execute('%%sh\nsh -c \'echo "pid $$"; sleep 600\'\necho never', (output) => {
      if (output.type === 'stream') texts.push(output.content.text);
    });
    await until('the first line', () => /pid \d+\n/.test(texts.join('')));
    const pid = Number(/pid (\d+)/.exec(texts.join(''))?.[1]);
    assert.ok(isRunning(pid));
    await kernel.interrupt();
    assert.equal((await running).status, 'error');
    await until('the command to end', () => !isRunning(pid));
    assert.doesNotMatch(texts.join(''), /never/);
  });

  test('%sh that prints without end is interrupted, and the notebook goes on', async () => {
    let length = 0;
    const running = kernel.execute('%sh yes', (output) => {
      if (output.type === 'stream') length += output.content.text.length;
    });
    await until('a megabyte', () => length > 1e6);
    await kernel.interrupt();
    const reply = await running;
    assert.equal(reply.status === 'error' && reply.ename, 'Interrupted');
    assert.equal(await valueOf(kernel, '1 + 1'), '2');
  });

  test('%sh is done when its shell is, and a process left in the background goes on', async () => {
    const { reply, outputs } = await run(kernel, '%sh sleep 600 & echo "pid $!"');
    assert.equal(reply.status, 'ok');
    const pid = Number(/pid (\d+)/.exec(printed(outputs))?.[1]);
    assert.ok(isRunning(pid));
    process.kill(pid);
  });

  test('%install asks first, naming package and folder, and installs nothing without a yes', async () => {
    answer = 'n';
    const refused = await run(kernel, '%install counting@1');
    assert.match(asked, new RegExp(`^Install counting@1 from npm into ${folder}/node_modules`));
    assert.match(errorOf(refused.outputs)?.evalue ?? '', /%install: Nothing was installed/);
    for (const [given, said] of [
      ['./other', `${folder}/other from this machine`],
      [
        'counting@1 ../x.tgz @a/b ./other',
        `counting@1, @a/b from npm and ${dirname(folder)}/x.tgz, ${folder}/other from this machine`,
      ],
      ['file:../x x.tar.gz a@file:../x', 'file:../x, x.tar.gz, a@file:../x from this machine'],
      ['a@npm:b@2 c@latest', 'a@npm:b@2, c@latest from npm'],
      ['someone/theirs#main github:a/b', 'someone/theirs#main, github:a/b from GitHub'],
      ['https://example.org/x.tgz a@git+ssh://example.org/x', 'https://example.org/x.tgz, a@git+ssh://example.org/x'],
    ]) {
      await run(kernel, `%install ${given}`);
      assert.ok(asked.startsWith(`Install ${said} into ${folder}/node_modules`), asked);
    }
    answer = null;
    const nobody = await run(kernel, '%install counting@1');
    assert.match(errorOf(nobody.outputs)?.evalue ?? '', /Use %install --yes counting@1 to skip it/);
    assert.equal(existsSync(join(folder, 'node_modules')), false);
  });

  test('%install makes a package of the registry importable without a restart, with its types', async () => {
    assert.match(String(await valueOf(kernel, 'import { count } from "counting"')), /Cannot find module 'counting'/);
    answer = 'y';
    const { outputs } = await run(kernel, '%install counting@1');
    assert.equal(errorOf(outputs), undefined, printed(outputs, 'stderr'));
    assert.match(
      printed(outputs),
      /^Installing counting@1 in .*\n[^]*added 1 package[^]*counting 1\.0\.0 can be imported\.\n$/,
    );
    assert.equal(await valueOf(kernel, 'import { count } from "counting"; count(1)'), '2');
    assert.match(String(await valueOf(kernel, 'count("text")')), /Argument of type 'string'/);
    assert.match(readFileSync(join(folder, 'package.json'), 'utf8'), /"counting": "\^1\.0\.0"/);
  });

  test('%install runs no script of a package unless requested', async () => {
    const ran = join(folder, 'node_modules/counting/ran');
    assert.equal(existsSync(ran), false);
    await run(kernel, '%sh rm -r node_modules package.json package-lock.json');
    const { outputs } = await run(kernel, '%install --yes --scripts counting@1');
    assert.equal(errorOf(outputs), undefined, printed(outputs, 'stderr'));
    assert.equal(existsSync(ran), true);
  });

  test('%install of another version says that cells keep the one that they imported', async () => {
    const { outputs } = await run(kernel, '%install --yes counting@2');
    assert.match(
      printed(outputs),
      /counting 2\.0\.0 can be imported instead of 1\.0\.0; cells that have imported 1\.0\.0 keep it/,
    );
  });

  test('%install installs in the project that the folder is in', async () => {
    const inner = join(folder, 'project/notebooks');
    mkdirSync(inner, { recursive: true });
    writeFileSync(join(folder, 'project/package.json'), '{"private": true}');
    await run(kernel, `%cd ${inner}`);
    const { outputs } = await run(kernel, '%install --yes --dev counting');
    assert.equal(errorOf(outputs), undefined, printed(outputs, 'stderr'));
    assert.match(
      readFileSync(join(folder, 'project/package.json'), 'utf8'),
      /"devDependencies":\s*\{\s*"counting":\s*"\^2/,
    );
    writeFileSync(join(folder, 'project/pnpm-lock.yaml'), '');
    const other = await run(kernel, '%install --yes counting@1');
    assert.match(errorOf(other.outputs)?.evalue ?? '', /contains pnpm-lock\.yaml.*pnpm add counting@1$/);
    await run(kernel, `%cd ${folder}`);
  });

  cells(
    '%install says what is wrong with what it is given',
    notebook,
    { cell: '%install', error: /%install: Name a package/ },
    { cell: '%install --global x', error: /%install: Unknown option --global\./ },
    {
      cell: '%install --yes no-such-package-here',
      out: /^Installing/,
      err: /404/,
      error: /%install: npm ended with exit code 1/,
    },
  );
});
