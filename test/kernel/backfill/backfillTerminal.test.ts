import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { python } from '../../harness/needs/python.ts';
import { tempFolder } from '../../harness/temp.ts';
import { cliEntry, command, type Ran } from '../support.ts';

// Behavior that only a user at a real terminal sees: prompts, keys, and the width of lines.

const words = `import { udf } from 'lance-catalog';
export default udf({ name: 'words', input: ['caption'], output: 'int32' }, ({ caption }) => caption.split(' ').length);`;
const slow = `import { udf } from 'lance-catalog';
export default udf({ name: 'slow', input: ['id'], output: 'int32' }, async ({ id }) => {
  await new Promise((resolve) => setTimeout(resolve, 500));
  return Number(id);
});`;

suite('A backfill at a terminal', function () {
  this.timeout(180_000);
  const folder = tempFolder();
  const root = join(folder, 'data');
  const home = (name: string): { XDG_DATA_HOME: string } => ({ XDG_DATA_HOME: join(folder, name) });

  type Typing = { readonly when?: string; readonly keys?: string; readonly columns?: number; readonly as?: string };

  /** Runs the command in a terminal, and types `keys` after `when` was shown. */
  function at({ when = 'never', keys = '', columns = 100, as = 'owner' }: Typing, ...args: string[]): Promise<Ran> {
    const typing = [inRoot('test/kernel/python/terminal.py'), String(columns), when, keys];
    return command(python(), [...typing, process.execPath, cliEntry, ...args], {
      cwd: folder,
      env: { ...home(as), LANCE_CATALOG: root },
      seconds: 120,
    });
  }

  suiteSetup(async () => {
    for (const path of [root, home('owner').XDG_DATA_HOME, home('stranger').XDG_DATA_HOME]) mkdirSync(path);
    for (const [name, text] of Object.entries({ slow, words })) writeFileSync(join(folder, `${name}.ts`), text);
    const db = await openDir({ root });
    await db.createTable(
      'products',
      Array.from({ length: 600 }, (_, id) => ({ id, caption: `a mug, number ${id}` })),
    );
    await db.close();
    const { code, stdout } = await at({}, 'backfill', 'products', 'words', '--file', 'words.ts');
    assert.equal(code, 0, stdout);
  });

  const stored = ['backfill', 'products', 'words', '--where', 'id < 5'];
  const question = 'Run this function on this machine, now and later? [y/N]';

  test('shows the code of a stranger before it asks, and runs nothing after a no', async () => {
    const { code, stdout } = await at({ when: question, keys: 'n\\r', as: 'stranger' }, ...stored);
    assert.equal(code, 2, stdout);
    assert.ok(stdout.indexOf('caption.split') < stdout.indexOf(question), stdout);
    assert.match(stdout, /The function of the column "words" of products is not accepted\./);
    assert.doesNotMatch(stdout, /Job bf-/);
  });

  for (const [key, keys, code, said] of [
    ['Ctrl-C', '\\x03', 130, /Stopped before the job started; nothing was computed\.\n$/],
    ['Ctrl-D', '\\x04', 2, /is not accepted\./],
  ] as const)
    test(`takes ${key} at the question for no yes`, async () => {
      const ran = await at({ when: question, keys, as: 'stranger' }, ...stored);
      assert.equal(ran.code, code, ran.stdout);
      assert.match(ran.stdout, said);
      assert.doesNotMatch(ran.stdout, /Job bf-/);
    });

  test('shows a long function page by page to its end before it asks, and does not ask where the user stops', async () => {
    const harm = "globalThis.harm = 'the last line'";
    const lines = Array.from({ length: 700 }, (_, line) => `  globalThis.line${line} = 'of a long function';`);
    const body = [...lines, `  ${harm};`, '  return caption.length;'].join('\n');
    writeFileSync(
      join(folder, 'long.ts'),
      `import { udf } from 'lance-catalog';
export default udf({ name: 'long', input: ['caption'], output: 'int32' }, ({ caption }) => {\n${body}\n});`,
    );
    assert.ok(body.length > 21_017);
    const made = await at({}, 'backfill', 'products', 'long', '--file', 'long.ts');
    assert.equal(made.code, 0, made.stdout);
    const again = ['backfill', 'products', 'long', '--where', 'id < 5'];
    const all = await at({ when: `-- page 1 |${question}`, keys: 'a\\r|n\\r', as: 'stranger' }, ...again);
    assert.equal(all.code, 2, all.stdout);
    for (const part of ['line0', 'line699', harm]) assert.ok(all.stdout.includes(part), part);
    assert.ok(all.stdout.lastIndexOf(harm) < all.stdout.indexOf(question));
    const next = await at({ when: '-- page 1 |-- page 2 ', keys: '\\r|q\\r', as: 'stranger' }, ...again);
    assert.equal(next.code, 2, next.stdout);
    assert.ok(!next.stdout.includes(question) && !next.stdout.includes('line699'), next.stdout);
    assert.match(next.stdout, /is not accepted/);
  });

  test('runs the code after a yes, and asks no second time', async () => {
    const yes = await at({ when: question, keys: 'y\\r', as: 'stranger' }, ...stored);
    assert.equal(yes.code, 0, yes.stdout);
    const again = await at({ as: 'stranger' }, ...stored);
    assert.equal(again.code, 0, again.stdout);
    assert.ok(!again.stdout.includes(question), again.stdout);
  });

  test('says at Ctrl-C that it cancels the job, and how it goes on', async () => {
    const press = { when: ': running', keys: '\\x03' };
    const { code, stdout } = await at(press, 'backfill', 'products', 'slow', '--file', 'slow.ts');
    assert.equal(code, 130, stdout);
    assert.match(stdout, /Cancelling bf-\S+\. Press Ctrl-C again to exit without waiting\./);
    assert.match(stdout, /The job was cancelled\..*\nTo resume: lance-catalog jobs resume bf-\S+\n$/);
  });

  test('lists jobs in lines of its width', async () => {
    const { code, stdout } = await at({ columns: 60 }, 'jobs');
    assert.equal(code, 0, stdout);
    const lines = stdout.trimEnd().split('\n');
    assert.match(lines[0] ?? '', /^id +column +state/);
    for (const line of lines) assert.ok(line.length <= 60, line);
  });
});
