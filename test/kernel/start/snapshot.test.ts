import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LanguageProcess } from '#processes/languageProcess.ts';
import { kernelFlags } from '#processes/nodeVersion.ts';
import { snapshotOf, type StartSnapshot } from '#processes/startSnapshot.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { python } from '../../harness/needs/python.ts';
import { tempFolder } from '../../harness/temp.ts';
import { jupyterFolders } from '../jupyter/jupyterHome.ts';
import { command } from '../support.ts';

// The tests depend on each other: the second kernel starts from the files that the first one creates.
suite('A kernel that starts from a snapshot', function () {
  this.timeout(200_000);
  const home = tempFolder();
  const env = {
    ...jupyterFolders(home),
    XDG_CACHE_HOME: join(home, 'cache'),
    LANCE_CATALOG_SNAPSHOT: 'on',
  };
  // A separate installation, because a build of the project during the test would change the kernel and its snapshot.
  const installation = join(home, 'installation');
  const launcher = join(env.XDG_DATA_HOME, 'lance-catalog/kernel/launcher.cjs');
  const flags = kernelFlags(process.versions.node);
  let snapshot: StartSnapshot;

  async function live(...args: string[]): Promise<Record<string, unknown>> {
    const script = inRoot('test/kernel/python/snapshot.py');
    const { code, stdout, stderr } = await command(python(), [script, ...args], { env, cwd: home, seconds: 190 });
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  /** Starts a kernel with a missing connection file, and returns its message that it has started. */
  const startInVain = () => command(process.execPath, [...flags, launcher, '--connection-file=/missing'], { env });

  /** Starts a language worker as VS Code would, in the environment of these kernels. */
  async function startLanguage(): Promise<LanguageProcess> {
    const names = ['XDG_CACHE_HOME', 'LANCE_CATALOG_SNAPSHOT'] as const;
    const before = names.map((name) => process.env[name]);
    for (const name of names) process.env[name] = env[name];
    try {
      const node = { path: process.execPath, env: {}, version: process.versions.node };
      const entry = join(installation, 'dist/languageWorker.cjs');
      return await LanguageProcess.start({ entry, node, onFindings: () => {} });
    } finally {
      // Restore the variables one by one, because Node itself does not read a new object assigned to `process.env`.
      for (const [index, name] of names.entries()) {
        if (before[index] === undefined) delete process.env[name];
        else process.env[name] = before[index];
      }
    }
  }

  const answers = {
    sum: ['21'],
    kept: ['40'],
    typed: ["Type 'number' is not assignable to type 'string'."],
    file: ["'y.ts'"],
    socket: ['4'],
    console: ["'functionfunction'"],
    folder: true,
    completed: ['toFixed'],
    interrupted: 'Interrupted',
    after: ['20'],
    compiled: [''],
  };

  suiteSetup(async () => {
    // The tag of a kernel that did not start from a snapshot. All kernels must have this tag, so that they can use the
    // same compiled code.
    const tag = await command(process.execPath, [...flags, '-p', 'v8.cachedDataVersionTag()'], { env });
    answers.compiled = [tag.stdout.trim()];
    cpSync(inRoot('dist'), join(installation, 'dist'), { recursive: true });
    cpSync(inRoot('package.json'), join(installation, 'package.json'));
    cpSync(inRoot('media'), join(installation, 'media'), { recursive: true });
    symlinkSync(inRoot('node_modules'), join(installation, 'node_modules'));
    const cli = join(installation, 'dist/cli.cjs');
    const { code, stderr } = await command(process.execPath, [cli, 'kernel', 'install'], { env });
    assert.equal(code, 0, stderr);
    const entry = join(installation, 'dist/kernel.cjs');
    const node = { node: process.execPath, version: process.versions.node, flags, entry };
    const found = snapshotOf(node, { env: { ...process.env, ...env }, platform: process.platform, home });
    assert.ok(found);
    snapshot = found;
  });

  test('is not held up by a damaged snapshot, and has it replaced in the background', async () => {
    mkdirSync(snapshot.folder, { recursive: true, mode: 0o700 });
    writeFileSync(snapshot.blob, 'half of a snapshot', { mode: 0o600 });
    const relays = [99_999_999, process.pid].map((pid) => join(snapshot.folder, `${pid}.relay`));
    for (const relay of relays) writeFileSync(relay, '');
    const { typed, ...seen } = await live(snapshot.note);
    assert.match(String(typed), /not assignable/);
    assert.deepEqual({ ...seen, typed: answers.typed }, { ...answers, snapshot: ['false'] });
    const { size } = JSON.parse(readFileSync(snapshot.note, 'utf8')) as { size: number };
    assert.equal(statSync(snapshot.blob).size, size);
    assert.equal(statSync(snapshot.blob).mode & 0o777, 0o600);
    // The first relay belongs to a killed process, the second to a running process.
    assert.deepEqual(relays.map(existsSync), [false, true]);
  });

  test('answers as any other', async () => {
    const { typed, ...seen } = await live();
    assert.match(String(typed), /not assignable/);
    assert.deepEqual({ ...seen, typed: answers.typed }, { ...answers, snapshot: ['true'] });
  });

  test('answers so too where no Node starts before it', async () => {
    const text = readFileSync(launcher);
    writeFileSync(launcher, 'process.exit(1)');
    const { typed, ...seen } = await live();
    writeFileSync(launcher, text);
    assert.deepEqual({ ...seen, typed: answers.typed }, { ...answers, snapshot: ['true'] }, String(typed));
  });

  test('shares it with the language worker of cells', async () => {
    const worker = await startLanguage();
    try {
      assert.ok(readFileSync(`/proc/${worker.pid}/cmdline`, 'utf8').includes(snapshot.blob));
      const text = "import fs from 'node:fs'; fs.readFileS";
      worker.tell('cells', { notebook: 'n', folder: home, language: 'typescript', cells: [{ id: 'c', text }] });
      const { items } = await worker.request('complete', { notebook: 'n', cell: 'c', offset: text.length });
      assert.ok(items.some(({ name }) => name === 'readFileSync'));
    } finally {
      worker.dispose();
    }
  });

  test('comes up without it after one that did not come up from it', async () => {
    writeFileSync(snapshot.blob, Buffer.alloc(statSync(snapshot.blob).size));
    const lost = await startInVain();
    assert.doesNotMatch(lost.stderr, /Can't open the connection of the kernel/);
    const second = await startInVain();
    assert.match(second.stderr, /Can't open the connection of the kernel/);
    assert.throws(() => statSync(snapshot.blob), { code: 'ENOENT' });
  });

  test('is not needed by the language worker, which removes one that is broken', async () => {
    writeFileSync(snapshot.blob, Buffer.alloc(1000), { mode: 0o600 });
    writeFileSync(snapshot.note, JSON.stringify({ size: 1000 }), { mode: 0o600 });
    const worker = await startLanguage();
    worker.dispose();
    assert.throws(() => statSync(snapshot.blob), { code: 'ENOENT' });
  });
});
