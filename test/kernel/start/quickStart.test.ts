import assert from 'node:assert/strict';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { kernelFlags } from '#processes/nodeVersion.ts';
import { snapshotOf, type StartSnapshot } from '#processes/startSnapshot.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { tempFolder } from '../../harness/temp.ts';
import { command } from '../support.ts';

const shells = ['/bin/sh', '/bin/bash', '/bin/dash', '/bin/ksh', '/bin/zsh'].filter((each) => existsSync(each));

const says = (as: string) =>
  `console.log(JSON.stringify({ as: '${as}', pid: process.pid, given: process.argv.slice(2) }));\n`;

// The kernel of these tests only prints how it was started, and its snapshot is empty. After the note of the snapshot
// is written, the launcher for Node is replaced by a script that prints that it was called.
suite('A kernel that starts without a Node before it', function () {
  this.timeout(60_000);
  // Use a path with characters that a shell interprets, so that missing quotes fail.
  const home = join(tempFolder(), `it's "$HOME" \\t *`);
  const installation = join(home, 'extensions/lance-catalog-0.9.0');
  const dist = join(installation, 'dist');
  const relayEntry = join(dist, 'relay.cjs');
  const folder = join(home, 'data/lance-catalog/kernel');
  const note = join(folder, 'quick-start');
  const launcher = join(folder, 'launcher.cjs');
  const env = {
    HOME: home,
    XDG_DATA_HOME: join(home, 'data'),
    XDG_CACHE_HOME: join(home, 'cache'),
    JUPYTER_DATA_DIR: join(home, 'jupyter'),
    NODE_OPTIONS: '',
    LANCE_CATALOG_SNAPSHOT: 'on',
  };
  const connection = `--connection-file=${home}/`;
  let argv: string[];
  let snapshot: StartSnapshot;

  /** Returns the output of a start: `snapshot`, or that the launcher was called, and the arguments of the kernel. */
  async function start(more: Record<string, string> = {}, change = (args: string[]) => args): Promise<string> {
    const [shell = '', ...args] = change(argv);
    // The kernel must have the process id of the shell, because Jupyter knows only that id.
    const told = ['-c', 'echo "$$"; exec "$0" "$@"', shell, ...args];
    const { code, stdout, stderr } = await command('/bin/sh', told, { env: { ...env, ...more } });
    assert.equal(code, 0, stderr);
    const [pid, said = ''] = stdout.split('\n');
    const { as, pid: own, given } = JSON.parse(said) as { as: string; pid: number; given: string[] };
    assert.equal(own, Number(pid));
    const expected = args.slice(args.indexOf(launcher) + 1);
    // If the kernel starts from a snapshot, a relay process with the same arguments listens meanwhile.
    if (as === 'snapshot' && existsSync(relayEntry)) {
      const relay = join(snapshot.folder, `${pid}.relay`);
      assert.deepEqual(JSON.parse(readFileSync(join(home, 'relayed'), 'utf8')), [relay, pid, ...expected]);
      expected.push(`--relay=${relay}`);
    }
    assert.deepEqual([given, stderr], [expected, '']);
    return as;
  }

  /** Sets the times of files back, as after an installation some time ago. */
  function age(): void {
    const past = Date.now() / 1000 - 3600;
    const list = join(folder, 'installed.json');
    for (const each of [list, dirname(installation), installation, join(installation, 'package.json')])
      utimesSync(each, past, past);
  }

  suiteSetup(async () => {
    mkdirSync(dist, { recursive: true });
    for (const file of ['cli.cjs', 'launcher.cjs', 'launcher.sh', 'kernelSnapshot.key'])
      cpSync(inRoot('dist', file), join(dist, file));
    cpSync(inRoot('media/kernel'), join(installation, 'media/kernel'), { recursive: true });
    writeFileSync(join(installation, 'package.json'), '{ "version": "0.9.0" }');
    writeFileSync(join(dist, 'kernel.cjs'), says('kernel'));
    const end = "require('node:fs').rmSync(process.execArgv.at(-1).replace(/blob$/, 'attempt'));\n";
    writeFileSync(join(dist, 'fromSnapshot.cjs'), says('snapshot') + end);
    const file = JSON.stringify(join(home, 'relayed'));
    const told = `require('node:fs').writeFileSync(${file}, JSON.stringify(process.argv.slice(2)));\n`;
    writeFileSync(relayEntry, told);
    const { code, stderr } = await command(process.execPath, [join(dist, 'cli.cjs'), 'kernel', 'install'], { env });
    assert.equal(code, 0, stderr);
    const spec = readFileSync(join(home, 'jupyter/kernels/lance-typescript/kernel.json'), 'utf8');
    argv = (JSON.parse(spec) as { argv: string[] }).argv.map((each) => each.replace(/(?<=file=).*/, `${home}/`));
    const flags = kernelFlags(process.versions.node);
    const node = { node: process.execPath, version: process.versions.node, flags, entry: join(dist, 'kernel.cjs') };
    const found = snapshotOf(node, { env: { ...process.env, ...env }, platform: process.platform, home });
    assert.ok(found);
    snapshot = found;
    mkdirSync(snapshot.folder, { recursive: true, mode: 0o700 });
    const nothing = join(home, 'nothing.cjs');
    writeFileSync(nothing, '');
    const making = [...flags.slice(1), '--snapshot-blob', snapshot.blob, '--build-snapshot', nothing];
    const made = await command(process.execPath, making, { env });
    assert.equal(made.code, 0, made.stderr);
    chmodSync(snapshot.blob, 0o600);
    writeFileSync(snapshot.note, JSON.stringify({ size: statSync(snapshot.blob).size }), { mode: 0o600 });
    age();
    assert.equal(argv.at(-1), connection);
    // The kernel must use flags that a user has added to the kernelspec.
    const added = await start({}, (args) => args.toSpliced(3, 0, '--no-warnings'));
    assert.deepEqual([added, existsSync(note)], ['kernel', false]);
    assert.deepEqual([await start(), existsSync(note)], ['snapshot', true]);
    writeFileSync(launcher, says('asked'));
  });

  for (const shell of shells)
    test(`becomes the snapshot in ${shell}, with its number and arguments`, async () => {
      assert.equal(await start({}, ([, ...args]) => [shell, ...args]), 'snapshot');
    });

  test('becomes one that has no relay too, of an earlier build', async () => {
    const text = readFileSync(relayEntry);
    rmSync(relayEntry);
    assert.equal(await start(), 'snapshot');
    writeFileSync(relayEntry, text);
  });

  /** Starts once after a change, and once after it was undone. */
  async function startWith(otherwise: () => void, back: () => void): Promise<void> {
    otherwise();
    assert.equal(await start(), 'asked');
    back();
    assert.equal(await start(), 'snapshot');
  }

  test('asks the launcher under variables of the environment that decide', async () => {
    for (const more of [
      { LANCE_CATALOG_SNAPSHOT: 'off' },
      { NODE_OPTIONS: '--no-warnings' },
      { HOME: '/elsewhere' },
      { XDG_CACHE_HOME: '/elsewhere' },
    ])
      assert.equal(await start(more), 'asked', JSON.stringify(more));
  });

  test('asks it about anything but a start by Jupyter, under other flags and for another Node', async () => {
    assert.equal(await start({}, (args) => [...args.slice(0, -1), '--which']), 'asked');
    assert.equal(await start({}, (args) => args.slice(0, -1)), 'asked');
    assert.equal(await start({}, (args) => args.toSpliced(3, 0, '--no-warnings')), 'asked');
    const other = join(home, 'node');
    writeFileSync(other, `#!/bin/sh\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 });
    assert.equal(await start({}, (args) => args.with(2, other)), 'asked');
  });

  test('asks it when there is another kernel', async () => {
    const newer = join(dirname(installation), 'lance-catalog-0.10.0');
    await startWith(
      () => mkdirSync(newer),
      () => (rmSync(newer, { recursive: true }), age()),
    );
    const list = join(folder, 'installed.json');
    await startWith(() => writeFileSync(list, readFileSync(list)), age);
    const key = join(dist, 'kernelSnapshot.key');
    const text = readFileSync(key, 'utf8');
    await startWith(
      () => writeFileSync(key, 'another build'),
      () => writeFileSync(key, text),
    );
  });

  test('asks it when the snapshot is not as it was, or one is being tried', async () => {
    await startWith(
      () => chmodSync(snapshot.blob, 0o622),
      () => chmodSync(snapshot.blob, 0o600),
    );
    await startWith(
      () => writeFileSync(snapshot.attempt, '1'),
      () => rmSync(snapshot.attempt),
    );
    const text = readFileSync(note);
    const { mtime } = statSync(note);
    for (const broken of ['', text.subarray(0, text.length / 2)])
      await startWith(
        () => writeFileSync(note, broken),
        () => (writeFileSync(note, text), utimesSync(note, mtime, mtime)),
      );
    appendFileSync(snapshot.blob, 'more');
    assert.equal(await start(), 'asked');
    rmSync(snapshot.blob);
    assert.equal(await start(), 'asked');
  });
});
