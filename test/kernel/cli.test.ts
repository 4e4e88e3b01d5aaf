import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { kernelFlags } from '#processes/nodeVersion.ts';
import { launcherOf, nodeCommand } from '#session/kernelspecs/spec.ts';
import { inRoot } from '../../scripts/paths.ts';
import { startServe } from '../contract/serve/serveProcess.ts';
import { tempFolder } from '../harness/temp.ts';
import { cliEntry, command, sampleCatalog } from './support.ts';

const cli = (args: readonly string[], env: Record<string, string> = {}) =>
  command(process.execPath, [cliEntry, ...args], { env, seconds: 100 });

const codeCell = (source: string) => ({ cell_type: 'code', source, metadata: {}, outputs: [], execution_count: null });

function writeNotebook(cells: readonly string[]): string {
  const path = join(tempFolder(), 'some.ipynb');
  writeFileSync(path, JSON.stringify({ cells: cells.map(codeCell), metadata: {}, nbformat: 4, nbformat_minor: 5 }));
  return path;
}

suite('The command line', function () {
  this.timeout(200_000);

  test('runs the tour twice on the same catalog', async () => {
    const catalog = await sampleCatalog();
    for (const time of ['first', 'second']) {
      const { code, stdout, stderr } = await cli(['run', inRoot('scripts/sample/tour.ipynb'), '--catalog', catalog]);
      assert.equal(code, 0, `${time}: ${stdout}${stderr}`);
      assert.match(stdout, /\[7\] .*\n {4}[\d,]+ of 1,000,000 orders/);
    }
  });

  test('runs a notebook on a server, by its address and a key of the environment', async () => {
    const key = 'sesame-sesame-sesame-sesame';
    const root = await sampleCatalog();
    const server = await startServe(['--root', root, '--api-key-env', 'LANCE_TEST_KEY'], {
      env: { LANCE_TEST_KEY: key },
    });
    try {
      const cells = [
        'db.implementation',
        "await (await db.openTable('products', { namespacePath: ['shop'] })).countRows()",
      ];
      const env = { LANCE_CATALOG_API_KEY: key };
      const notebook = writeNotebook(cells);
      const named = await cli(['run', notebook, '--catalog', server.address], env);
      assert.equal(named.code, 0, named.stdout + named.stderr);
      assert.match(named.stdout, /\[1\] .*\n {4}'rest'\n\[2\] .*\n {4}500\n/);
      const refused = await cli(['run', notebook], {
        LANCE_CATALOG: server.address,
        LANCE_CATALOG_API_KEY: 'other-other-other',
      });
      assert.equal(refused.code, 1);
      assert.match(refused.stdout, /\[2\][^]*API key/);
      assert.ok(!(named.stdout + refused.stdout).includes(key));
      assert.ok(!refused.stdout.includes('other-other'));
    } finally {
      await server.stop();
    }
  });

  test('stops at the cell that fails, names it, and ends with 1', async () => {
    const { code, stdout, stderr } = await cli(['run', writeNotebook(['1', 'throw new Error("broken")', '"never"'])]);
    assert.equal(code, 1);
    assert.match(stderr, /^Cell 2 of .*some\.ipynb failed\.$/m);
    assert.match(stdout, /\[2\] throw new Error[^]*Error: broken/);
    assert.doesNotMatch(stdout, /\[3\]/);
  });

  test('runs a notebook in its own folder', async () => {
    const notebook = writeNotebook(['import { value } from "./helper"; value']);
    writeFileSync(join(notebook, '../helper.ts'), 'export const value: number = 17;');
    const { stdout } = await cli(['run', notebook]);
    assert.match(stdout, /^ {4}17$/m);
  });

  for (const [what, args, said] of [
    ['an unknown command', ['frobnicate'], /no command "frobnicate"/],
    ['an unknown option', ['run', '--nope', 'a.ipynb'], /--nope/],
    ['a missing notebook', ['run'], /needs one NOTEBOOK/],
    ['an argument too many', ['kernel', 'install', 'extra'], /Unexpected argument 'extra'\. See/],
    ['two places to install to', ['kernel', 'install', '--user', '--sys-prefix'], /one of --user/],
    ['a kernel without a front', ['kernel', 'run'], /--connection-file/],
  ] as const) {
    test(`answers ${what} with one sentence and 2`, async () => {
      const { code, stderr, stdout } = await cli(args);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, said);
      assert.equal(stderr.trim().split('\n').length, 1);
    });
  }

  test('names a file that is no notebook', async () => {
    const path = join(tempFolder(), 'text.ipynb');
    writeFileSync(path, 'no JSON');
    const { code, stderr } = await cli(['run', path]);
    assert.equal(code, 1);
    assert.match(stderr, /text\.ipynb" is not a notebook: it is not valid JSON\./);
  });

  test('says its version and its help', async () => {
    assert.match((await cli(['--version'])).stdout, /^\d+\.\d+\.\d+\n$/);
    for (const args of [['--help'], ['kernel', 'install', '-h'], ['help']])
      assert.match((await cli(args)).stdout, /kernel install/, args.join(' '));
    assert.match((await cli(['run', '--help'])).stdout, /^Runs a notebook\n[^]*NOTEBOOK\.ipynb/);
  });
});

suite('The command line of a terminal', function () {
  this.timeout(120_000);

  test('ends with 130 at Ctrl-C, and runs no further cell', async () => {
    const notebook = writeNotebook(['process.kill(process.ppid, "SIGINT"); await new Promise(() => {})', '"never"']);
    const { code, stdout, stderr } = await cli(['run', notebook]);
    assert.deepEqual([code, stderr], [130, '']);
    assert.doesNotMatch(stdout, /never/);
  });

  test('names no setting of an editor when its Node is too old', async () => {
    const args = ['-r', pretend({ node: '20.9.0' }), cliEntry, 'run', writeNotebook(['1'])];
    const { code, stderr } = await command(process.execPath, args);
    assert.deepEqual([code, stderr], [1, 'Node 20.9.0 is not supported. Use Node 22.19 or newer.\n']);
  });
});

/** Creates a program in a separate folder, for PATH. */
function program(name: string, script: string): string {
  const path = join(tempFolder(), name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}

/** Creates a file with which Node, if it loads the file first, pretends to be another Node. */
function pretend({ node, execPath = process.execPath }: { node: string; execPath?: string }): string {
  const path = join(tempFolder(), 'pretend.cjs');
  const versions = JSON.stringify({ ...process.versions, node });
  writeFileSync(
    path,
    `Object.defineProperty(process, 'versions', { value: ${versions} }); process.execPath = ${JSON.stringify(execPath)};`,
  );
  return path;
}

suite('An installed kernelspec', function () {
  this.timeout(60_000);
  let env: Record<string, string>;
  let editor: string;
  let argv: string[];

  /** Creates an installation like VS Code's, with a kernel that only prints its version. */
  function installVersion(version: string): string {
    const folder = join(editor, `lance-catalog.lance-catalog-${version}`);
    mkdirSync(join(folder, 'dist'), { recursive: true });
    cpSync(inRoot('dist/cli.cjs'), join(folder, 'dist/cli.cjs'));
    for (const file of ['launcher.cjs', 'launcher.sh']) cpSync(inRoot('dist', file), join(folder, 'dist', file));
    cpSync(inRoot('media/kernel'), join(folder, 'media/kernel'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ version }));
    writeFileSync(join(folder, 'dist/kernel.cjs'), `console.log('kernel ${version}', process.argv.slice(2).join(' '))`);
    return folder;
  }

  const launch = () => command(argv[0] ?? '', argv.slice(1), { env });

  suiteSetup(async () => {
    const home = tempFolder();
    editor = join(home, 'extensions');
    env = { HOME: home, XDG_DATA_HOME: join(home, 'data'), JUPYTER_DATA_DIR: join(home, 'jupyter') };
    const installed = installVersion('0.9.0');
    const { code, stderr } = await command(process.execPath, [join(installed, 'dist/cli.cjs'), 'kernel', 'install'], {
      env,
    });
    assert.equal(code, 0, stderr);
    const spec = JSON.parse(readFileSync(join(home, 'jupyter/kernels/lance-typescript/kernel.json'), 'utf8')) as {
      argv: string[];
      interrupt_mode: string;
    };
    assert.equal(spec.interrupt_mode, 'message');
    argv = spec.argv;
  });

  test('runs the kernel that is installed, with its arguments', async () => {
    assert.equal((await launch()).stdout, 'kernel 0.9.0 --connection-file={connection_file}\n');
  });

  test('runs the newest kernel after an update, which moves it', async () => {
    installVersion('0.10.1');
    assert.match((await launch()).stdout, /^kernel 0\.10\.1 /);
    rmSync(join(editor, 'lance-catalog.lance-catalog-0.9.0'), { recursive: true });
    assert.match((await launch()).stdout, /^kernel 0\.10\.1 /);
  });

  test('gives the kernel the flags of its Node, which is another one when that was updated', async () => {
    const execPath = program('node', 'echo "$@"');
    const [, ...rest] = nodeCommand(argv);
    const before = await command(process.execPath, ['-r', pretend({ node: '22.19.0', execPath }), ...rest], { env });
    assert.match(before.stdout, /^--no-force-async-hooks-checks .*--experimental-async-context-frame \S+kernel\.cjs /);
    // The kernelspec sets only flags that every Node supports, because the launcher starts before it can check its
    // Node.
    assert.deepEqual(rest.slice(0, launcherOf(rest)), kernelFlags());
  });

  test('takes a fit Node of PATH in place of one that is too old, and no other', async () => {
    const old = ['-r', pretend({ node: '20.9.0' }), ...nodeCommand(argv).slice(2)];
    const withPath = (script: string) =>
      command(process.execPath, old, { env: { ...env, PATH: `${dirname(program('node', script))}:/usr/bin:/bin` } });
    const fit = await withPath('if [ "$1" = -p ]; then echo 24.1.0; else echo "$@"; fi');
    assert.match(fit.stdout, /^--no-force-async-hooks-checks (?!.*--experimental).*kernel\.cjs --connection-file/);
    const unfit = await withPath('if [ "$1" = -p ]; then echo 18.3.0; else echo "$@"; fi');
    assert.deepEqual([unfit.code, unfit.stdout], [1, '']);
    assert.match(unfit.stderr, /needs Node 22\.19 or newer: .* is Node 20\.9\.0, and PATH has Node 18\.3\.0\. Install/);
    assert.match((await withPath('exit 1')).stderr, /and PATH has no Node\. Install/);
  });

  test('is installed over a broken list of installations', async () => {
    const installed = installVersion('0.11.0');
    const list = join(env['XDG_DATA_HOME'] ?? '', 'lance-catalog/kernel/installed.json');
    writeFileSync(list, '["half');
    const again = await command(process.execPath, [join(installed, 'dist/cli.cjs'), 'kernel', 'install'], { env });
    assert.deepEqual([again.code, again.stderr], [0, '']);
    assert.deepEqual(JSON.parse(readFileSync(list, 'utf8')), [installed]);
    assert.match((await launch()).stdout, /^kernel 0\.11\.0 /);
  });

  test('names what can not be written when it is installed', async () => {
    const file = join(tempFolder(), 'file');
    writeFileSync(file, '');
    const { code, stderr } = await command(process.execPath, [cliEntry, 'kernel', 'install', '--prefix', file], {
      env: { ...env, XDG_DATA_HOME: tempFolder() },
    });
    assert.equal(code, 1);
    assert.match(stderr, /can't write "\S+\/file\S*": a part of its path is a file\. Use --user/);
  });

  test('says that the directory of its catalog is missing when it is installed', async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'tables'));
    const args = ['kernel', 'install', '--prefix', join(folder, 'prefix'), '--catalog', join(folder, 'table')];
    const { code, stderr } = await command(process.execPath, [cliEntry, ...args], {
      env: { ...env, XDG_DATA_HOME: tempFolder() },
    });
    assert.equal(code, 0);
    assert.match(stderr, /^There is no directory "\S+\/table"\. Did you mean "\S+\/tables"\? Until then its cells/);
  });

  test('says what to do when no kernel is left', async () => {
    rmSync(editor, { recursive: true });
    const { code, stderr } = await launch();
    assert.equal(code, 1);
    assert.match(stderr, /The Lance Catalog kernel is no longer installed.*lance-catalog kernel install/);
  });

  test('goes below a prefix when one is given', async () => {
    const prefix = tempFolder();
    const { code } = await command(process.execPath, [cliEntry, 'kernel', 'install', '--prefix', prefix], { env });
    assert.equal(code, 0);
    assert.ok(existsSync(join(prefix, 'share/jupyter/kernels/lance-typescript/kernel.json')));
  });
});
