import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tempFolder } from '../../harness/temp.ts';
import { cliEntry, command, type Ran } from '../support.ts';

const specOf = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'kernel.json'), 'utf8')) as {
    argv: string[];
    display_name: string;
    language: string;
    env: object;
  };

suite('A kernelspec of the command line', function () {
  this.timeout(120_000);
  let home: string;
  let env: Record<string, string>;

  suiteSetup(() => {
    home = tempFolder();
    env = {
      HOME: home,
      XDG_DATA_HOME: join(home, 'data'),
      JUPYTER_DATA_DIR: join(home, 'jupyter'),
      JUPYTER_PATH: '',
      VIRTUAL_ENV: '',
      CONDA_PREFIX: '',
    };
  });

  const kernel = (args: readonly string[], more: Record<string, string> = {}): Promise<Ran> =>
    command(process.execPath, [cliEntry, 'kernel', ...args], { env: { ...env, ...more } });

  test('has pictures, a name of its own, a catalog and a mode, and is listed and removed', async () => {
    const catalog = tempFolder();
    const args = [
      'install',
      '--name',
      'sales',
      '--display-name',
      'Sales',
      '--catalog',
      catalog,
      '--type-check',
      'warn',
    ];
    const installed = await kernel(args);
    const folder = join(home, 'jupyter/kernels/sales');
    assert.deepEqual(
      [installed.code, installed.stdout],
      [0, `Installed the kernel "Sales" in ${folder}\n`],
      installed.stderr,
    );
    assert.deepEqual(readdirSync(folder).toSorted(), [
      'kernel.json',
      'logo-32x32.png',
      'logo-64x64.png',
      'logo-svg.svg',
    ]);
    for (const size of [32, 64]) {
      const picture = readFileSync(join(folder, `logo-${size}x${size}.png`));
      assert.deepEqual([picture.readUInt32BE(16), picture.readUInt32BE(20)], [size, size]);
    }
    const { argv, display_name: name } = specOf(folder);
    assert.deepEqual(argv.slice(-3), [
      '--connection-file={connection_file}',
      `--catalog=${catalog}`,
      '--type-check=warn',
    ]);
    assert.equal(name, 'Sales');

    const prefix = tempFolder();
    assert.equal((await kernel(['install', '--prefix', prefix])).code, 0);
    const elsewhere = join(prefix, 'share/jupyter/kernels/lance-typescript');
    const { stdout } = await kernel(['list']);
    assert.match(
      stdout,
      new RegExp(
        `^lance-typescript {2}TypeScript \\(Lance Catalog\\)\n {2}in +${elsewhere}\n {2}runs +Lance Catalog \\d`,
        'm',
      ),
    );
    assert.match(
      stdout,
      new RegExp(`^sales {2}Sales\n {2}in +${folder}\n {2}catalog +${catalog}\n {2}type check +warn\n {2}runs`, 'm'),
    );

    const removed = await kernel(['remove', 'sales']);
    assert.deepEqual([removed.code, removed.stdout], [0, `Removed the kernel "sales" from ${folder}\n`]);
    assert.ok(!existsSync(folder));
    assert.doesNotMatch((await kernel(['list'])).stdout, /sales/);
    assert.equal((await kernel(['remove', 'lance-typescript', '--prefix', prefix])).code, 0);
    assert.match((await kernel(['list'])).stdout, /^Jupyter finds no Lance Catalog kernel here\./);
  });

  test('can be written by its owner only, whatever the umask is and whatever was there', async () => {
    const own = tempFolder();
    const [data, jupyter] = [join(own, 'data'), join(own, 'jupyter')];
    const [launchers, spec] = [join(data, 'lance-catalog/kernel'), join(jupyter, 'kernels/lance-typescript')];
    // Set the permissions that earlier versions set.
    for (const folder of [launchers, spec]) {
      mkdirSync(folder, { recursive: true });
      chmodSync(folder, 0o775);
    }
    for (const file of [
      join(launchers, 'launcher.cjs'),
      join(launchers, 'installed.json'),
      join(spec, 'logo-svg.svg'),
    ]) {
      writeFileSync(file, '[]');
      chmodSync(file, 0o664);
    }
    const { code, stderr } = await command(
      '/bin/sh',
      ['-c', 'umask 002; exec "$@"', 'sh', process.execPath, cliEntry, 'kernel', 'install'],
      { env: { ...env, XDG_DATA_HOME: data, JUPYTER_DATA_DIR: jupyter } },
    );
    assert.equal(code, 0, stderr);
    for (const folder of [launchers, spec]) {
      assert.equal(statSync(folder).mode & 0o777, 0o755, folder);
      for (const name of readdirSync(folder)) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o644, name);
    }
  });

  test('that is empty, or can not be made or read, says so', async () => {
    const unset = await kernel(['install', '--catalog', '']);
    assert.deepEqual(
      [unset.code, /Expected a directory or a URL for --catalog, got an empty value\./.test(unset.stderr)],
      [1, true],
      unset.stderr,
    );
    const below = await kernel(['install', '--prefix', '/proc/none']);
    assert.match(below.stderr, /can't write "\/proc\/none": no folder can be created there\. Use --user/);
    const full = await kernel(['install'], { XDG_DATA_HOME: '/proc/none' });
    assert.match(full.stderr, /can't write "\/proc\/none": .* the launcher of all kernelspecs is stored there/);
    const named = await kernel(['install', '--name', 'torn', '--display-name', ' ']);
    assert.match(named.stdout, /^Installed the kernel "TypeScript \(torn\)"/);
    writeFileSync(join(home, 'jupyter/kernels/torn/kernel.json'), '{torn');
    const { stdout } = await kernel(['list']);
    assert.match(
      stdout,
      /^torn\n.*\n {2}fails +Its kernel\.json is not a valid kernelspec\. Run "lance-catalog kernel install" again\.$/m,
    );
    assert.equal((await kernel(['remove', 'torn'])).code, 0);
  });

  test('of another program is neither replaced nor removed', async () => {
    const folder = join(home, 'jupyter/kernels/python3');
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, 'kernel.json'),
      JSON.stringify({ argv: ['python', '-m', 'ipykernel'], display_name: 'Python' }),
    );
    const installed = await kernel(['install', '--name', 'python3']);
    assert.deepEqual([installed.code, installed.stdout], [1, '']);
    assert.match(
      installed.stderr,
      /^Can't install kernel "python3": the kernel in ".*" belongs to another program\. Use another --name\.$/m,
    );
    const removed = await kernel(['remove', 'python3']);
    assert.match(
      removed.stderr,
      /^Can't remove kernel "python3": .* belongs to another program\. Run: jupyter kernelspec remove python3$/m,
    );
    assert.equal(specOf(folder).display_name, 'Python');
    assert.match(
      (await kernel(['remove', 'nothing'])).stderr,
      /^There is no kernel "nothing"\. Run: lance-catalog kernel list$/m,
    );
  });

  test('takes the names of the kernels of tslab, and the language with them', async () => {
    const prefix = tempFolder();
    const at = ['--prefix', prefix];
    for (const [name, language, title] of [
      ['tslab', 'typescript', 'TypeScript (Lance Catalog, tslab)'],
      ['jslab', 'javascript', 'JavaScript (Lance Catalog, jslab)'],
    ] as const) {
      const { code, stderr } = await kernel(['install', '--name', name, ...at]);
      assert.equal(code, 0, stderr);
      const spec = specOf(join(prefix, 'share/jupyter/kernels', name));
      assert.deepEqual([spec.language, spec.display_name], [language, title]);
      assert.equal(spec.argv.at(-1) === '--language=javascript', language === 'javascript', spec.argv.join(' '));
    }
    assert.match((await kernel(['list'])).stdout, /^jslab .*\n.*\n {2}language {4}javascript\n {2}runs /m);
    for (const name of ['tslab', 'jslab']) assert.equal((await kernel(['remove', name, ...at])).code, 0);
    const { code, stderr } = await kernel(['install', '--language', 'python', ...at]);
    assert.equal(code, 2);
    assert.match(stderr, /Expected typescript or javascript for --language, got "python"\./);
  });

  test('does not hide a kernel of the same name in another folder', async () => {
    const shared = tempFolder();
    const folder = join(shared, 'kernels/tslab');
    mkdirSync(folder, { recursive: true });
    const spec = { argv: ['tslab', 'kernel'], display_name: 'TypeScript', language: 'typescript' };
    writeFileSync(join(folder, 'kernel.json'), JSON.stringify(spec));
    const { code, stderr } = await kernel(['install', '--name', 'tslab'], { JUPYTER_PATH: shared });
    assert.equal(code, 1);
    assert.match(
      stderr,
      new RegExp(`^Can't install kernel "tslab": the kernel in "${folder}" belongs to another program\\.`),
    );
    assert.equal(existsSync(join(home, 'jupyter/kernels/tslab')), false);
  });

  test('goes to the active Python environment, and says so when there is none', async () => {
    const none = await kernel(['install', '--sys-prefix']);
    assert.equal(none.code, 1);
    assert.match(none.stderr, /^Can't use --sys-prefix: no Python environment is active, /);
    for (const name of ['VIRTUAL_ENV', 'CONDA_PREFIX']) {
      const prefix = tempFolder();
      assert.equal((await kernel(['install', '--sys-prefix'], { [name]: prefix })).code, 0);
      assert.ok(existsSync(join(prefix, 'share/jupyter/kernels/lance-typescript/kernel.json')), name);
    }
  });

  test('holds nothing that lets one in', async () => {
    for (const address of ['https://ada:sesame@catalog.example.com', 's3://bucket/a?token=sesame']) {
      const { code, stdout, stderr } = await kernel(['install', '--name', 'secret', '--catalog', address]);
      assert.equal(code, 1);
      assert.match(stderr, /has a user, a password or a query\./);
      assert.doesNotMatch(stdout + stderr, /sesame/);
    }
    const secrets = { LANCE_CATALOG_API_KEY: 'sesame', LANCE_CATALOG_TOKEN: 'sesame' };
    assert.equal(
      (await kernel(['install', '--name', 'server', '--catalog', 'https://catalog.example.com'], secrets)).code,
      0,
    );
    assert.doesNotMatch(readFileSync(join(home, 'jupyter/kernels/server/kernel.json'), 'utf8'), /sesame/);
  });

  test('is listed as broken with the reason if its program no longer exists', async () => {
    assert.equal((await kernel(['install', '--name', 'broken'])).code, 0);
    const path = join(home, 'jupyter/kernels/broken/kernel.json');
    const spec = specOf(dirname(path));
    writeFileSync(path, JSON.stringify({ ...spec, argv: spec.argv.with(2, '/nowhere/node') }));
    assert.match(
      (await kernel(['list'])).stdout,
      /^broken .*\n.*\n {2}fails +"\/nowhere\/node" no longer exists\. Run/m,
    );
    writeFileSync(path, JSON.stringify(spec));
    const why = async () => /^broken .*\n.*\n {2}fails +(.*)$/m.exec((await kernel(['list'])).stdout)?.[1] ?? '';
    const known = join(home, 'data/lance-catalog/kernel/installed.json');
    writeFileSync(known, '["/nowhere/lance-catalog"]');
    assert.match(await why(), /^The Lance Catalog kernel is no longer installed/);
    const half = tempFolder();
    mkdirSync(join(half, 'dist'));
    writeFileSync(join(half, 'dist/kernel.cjs'), '');
    writeFileSync(join(half, 'package.json'), '{ "version": "0.1.0" }');
    writeFileSync(known, JSON.stringify([half]));
    assert.match(await why(), /^The kernel in ".*" can't load ZeroMQ \(Error: Cannot find module 'zeromq'\)\. Install/);
    rmSync(join(home, 'data/lance-catalog/kernel/launcher.cjs'));
    assert.match(await why(), /^Its launcher does not start \(Error: Cannot find module '.*launcher\.cjs'\)\. Run/);
    rmSync(join(home, 'data/lance-catalog/kernel/launcher.sh'));
    assert.match(await why(), /^".*launcher\.sh" no longer exists\. Run/);
  });
});
