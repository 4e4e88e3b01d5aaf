import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { trackProcessGroup } from '../../../scripts/processes.ts';
import { cliEntry, command, type Ran, until } from '../support.ts';
import { backfillPlace } from './backfillPlace.ts';

// Each job is a real process with the runner `local` on a real directory.

const rows = 600;
const caption = (id: number): string => `a mug, number ${id}`;

/** A function that takes 300 ms for each row, so that the test can act before the job ends. */
const slow = `import { udf } from 'lance-catalog';
export default udf({ name: 'slow', input: ['id'], output: 'int32' }, async ({ id }) => {
  await new Promise((resolve) => setTimeout(resolve, 300));
  return Number(id);
});`;
const words = `import { udf } from 'lance-catalog';
export default udf({ name: 'words', input: ['caption'], output: 'int32' }, ({ caption }) => caption.split(' ').length);`;
const fussy = `import { udf } from 'lance-catalog';
export default udf({ name: 'fussy', input: ['id'], output: 'int32' }, ({ id }) => {
  if (Number(id) === 7) throw new Error('not seven');
  return Number(id);
});`;

const idIn = ({ stdout, stderr }: Ran): string => /bf-[0-9a-z]+/.exec(stdout + stderr)?.[0] ?? '';

suite('lance-catalog backfill and jobs', function () {
  this.timeout(180_000);
  const { folder, env, root, cli, backfill } = backfillPlace();

  suiteSetup(async () => {
    for (const [name, text] of Object.entries({ slow, words, fussy })) writeFileSync(join(folder, `${name}.ts`), text);
    const db = await openDir({ root });
    await db.createTable(
      'products',
      Array.from({ length: rows }, (_, id) => ({ id, caption: caption(id) })),
    );
    await db.close();
  });

  async function valuesOf(column: string, where = `${column} IS NOT NULL`): Promise<Map<number, unknown>> {
    const db = await openDir({ root });
    try {
      const table = await db.openTable('products');
      const found = await table.query().where(where).select(['id', column]).toArray();
      return new Map(found.map((row) => [Number(row['id']), row[column]]));
    } finally {
      await db.close();
    }
  }

  /** Runs a command and sends a signal after a certain output. */
  async function interrupted(args: readonly string[], when: RegExp, signal: NodeJS.Signals): Promise<Ran> {
    const child = spawn(process.execPath, [cliEntry, ...args], {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    trackProcessGroup(child);
    const ran = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (ran.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (ran.stderr += text));
    const ended = once(child, 'close');
    await until(String(when), () => when.test(ran.stdout + ran.stderr) || child.exitCode !== null);
    assert.match(ran.stdout + ran.stderr, when);
    child.kill(signal);
    const [code] = (await ended) as [number | null];
    return { ...ran, code };
  }

  test('plan a column that is not there yet, and leave the table as it is', async () => {
    const { code, stdout, stderr } = await backfill('products', 'size', '--sql', 'length(caption)', '--plan');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^products\.size\n/);
    assert.match(stdout, /rows +600 rows of 600 to compute/);
    const db = await openDir({ root });
    const names = (await (await db.openTable('products')).schema()).fields.map(({ name }) => name);
    await db.close();
    assert.deepEqual(names, ['id', 'caption']);
  });

  test('try one fragment, show its rows, and write nothing', async () => {
    const { code, stdout, stderr } = await backfill('products', 'words', '--file', 'words.ts', '--try');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^Fragment 0: \d+ rows in .*Nothing was written\./);
    assert.match(stdout, /a mug, number/);
    assert.doesNotMatch(stdout, /is null/);
    const text = words.replace('caption.split', 'void caption.split');
    writeFileSync(join(folder, 'forgot.ts'), text);
    const forgot = await backfill('products', 'forgot', '--file', 'forgot.ts', '--try');
    assert.match(forgot.stdout, /\nEvery value of "forgot" is null\. Check that the function returns a value\.\n/);
  });

  test('compute a column by SQL, and know its function the next time', async () => {
    const first = await backfill('products', 'size', '--sql', 'cast(length(caption) as int)', '--yes');
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stdout, /^products\.size: 600 rows in /);
    const values = await valuesOf('size');
    for (let id = 0; id < rows; id++) assert.equal(values.get(id), caption(id).length);
    const second = await backfill('products', 'size', '--yes');
    assert.equal(second.code, 0, second.stderr);
    assert.match(second.stdout, /^products\.size: 0 rows in /);
  });

  test('compute a column by a function of TypeScript, by a job file', async () => {
    const file = { catalog: './data', table: 'products', column: 'words', function: { file: 'words.ts' } };
    writeFileSync(join(folder, 'words.lance-job.json'), JSON.stringify({ ...file, where: 'id < 100' }));
    const { code, stderr } = await cli('backfill', 'words.lance-job.json', '--yes');
    assert.equal(code, 0, stderr);
    const values = await valuesOf('words');
    assert.deepEqual([values.size, new Set(values.values())], [100, new Set([4])]);
  });

  test('tell all as lines of JSON', async () => {
    const { code, stdout, stderr } = await backfill('products', 'words', '--yes', '--json');
    assert.equal(code, 0, stderr);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, never>);
    assert.deepEqual([lines[0]?.['kind'], lines[1]?.['kind'], lines.at(-1)?.['kind']], ['plan', 'started', 'job']);
    const { state, rows: done } = lines.at(-1)?.['job'] ?? { state: '', rows: { done: 0 } };
    assert.deepEqual([state, done['done']], ['succeeded', 500]);
  });

  test('end with 1 and the row that failed when the function throws, and with 3 where that counts alone', async () => {
    const failed = await backfill('products', 'fussy', '--file', 'fussy.ts', '--yes');
    assert.equal(failed.code, 1, failed.stderr);
    assert.match(failed.stderr, /not seven/);
    assert.match(failed.stderr, /lance-catalog jobs resume bf-\S+ --on-error skip/);
    const counted = await backfill('products', 'fussy', '--on-error', 'null', '--yes', '--strict');
    assert.equal(counted.code, 3, counted.stderr);
    assert.match(counted.stderr, /1 row failed:\n {2}fragment 0, row 7: .*not seven.* \(id = 7\)/);
    assert.equal((await valuesOf('fussy')).size, rows - 1);
  });

  test('cancel the job at Ctrl-C, keep what was computed, and go on from there', async () => {
    const args = ['backfill', 'products', 'slow', '--file', 'slow.ts', '--catalog', './data', '--yes'];
    const more = [...args, '--checkpoint-size', '16', '--json'];
    const stopped = await interrupted(more, /"rows":\{"done":[1-9]/, 'SIGINT');
    assert.equal(stopped.code, 130, stopped.stderr);
    assert.match(stopped.stdout, /"state":"cancelled"[^\n]*\n$/);
    const id = idIn(stopped);
    const { stdout: log } = await cli('jobs', 'log', id);
    assert.match(log, /Z Cancelled: \d+ of 600 rows are computed and kept; 0 of 1 fragments are in the table\.\n$/);
    const resumed = await cli('jobs', 'resume', id, '--json');
    assert.equal(resumed.code, 0, resumed.stderr);
    const last = JSON.parse(resumed.stdout.trimEnd().split('\n').at(-1) ?? '') as {
      job: { rows: { reused: number; done: number } };
    };
    assert.ok(last.job.rows.reused > 0, JSON.stringify(last.job.rows));
    const values = await valuesOf('slow');
    for (let each = 0; each < rows; each++) assert.equal(values.get(each), each);
  });

  test('leave the job alone when the terminal goes, and follow it from another one', async () => {
    const args = ['backfill', 'products', 'slow', '--where', 'id < 300', '--catalog', './data', '--yes'];
    const left = await interrupted(args, /: running/, 'SIGHUP');
    const id = idIn(left);
    assert.match(left.stderr, new RegExp(`lance-catalog jobs follow ${id}`));
    const again = await interrupted(args, /Joined job/, 'SIGINT');
    assert.equal(idIn(again), id);
    const followed = await cli('jobs', 'follow', id);
    assert.equal(followed.code, 0, followed.stderr);
    assert.match(followed.stdout, /^products\.slow: 300 rows in /);
  });

  test('start a job and leave, list it, show it by the beginning of its id, cancel it and remove it', async () => {
    const started = await backfill('products', 'slow', '--where', 'id < 500', '--yes', '--detach');
    assert.equal(started.code, 0, started.stderr);
    const id = started.stdout.trim();
    assert.match(id, /^bf-/);
    const listed = await cli('jobs', '--json');
    assert.ok((JSON.parse(listed.stdout) as { id: string }[]).some((job) => job.id === id));
    const refused = await cli('jobs', 'remove', id);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /can't be removed/);
    const cancelled = await cli('jobs', 'cancel', id.slice(0, -2));
    assert.equal(cancelled.code, 0, cancelled.stderr);
    const shown = await cli('jobs', 'show', id);
    assert.match(shown.stdout, /state +cancelled/);
    assert.equal((await cli('jobs', 'remove', id)).code, 0);
    assert.equal((await cli('jobs', 'show', id)).code, 2);
  });

  test('do not run a function that somebody put on a table, say whose it is, and run it when it is allowed', async () => {
    const stranger = { XDG_DATA_HOME: join(folder, 'stranger') };
    mkdirSync(stranger.XDG_DATA_HOME);
    const ask = (...more: string[]): Promise<Ran> =>
      command(process.execPath, [cliEntry, 'backfill', 'products', 'words', '--catalog', './data', '--yes', ...more], {
        cwd: folder,
        env: { ...env, ...stranger },
      });
    const refused = await ask();
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /caption\.split/);
    const [, hash = ''] = /--allow-stored-code ([0-9a-f]{64})/.exec(refused.stderr) ?? [];
    const allowed = await ask('--allow-stored-code', hash);
    assert.equal(allowed.code, 0, allowed.stderr);
  });

  test('go on past rows that fail where a job is resumed so, and remember it', async () => {
    const failed = await backfill('products', 'fussier', '--file', 'fussy.ts', '--yes');
    assert.equal(failed.code, 1, failed.stderr);
    const id = idIn(failed);
    const past = await cli('jobs', 'resume', id, '--on-error', 'skip', '--json');
    assert.equal(past.code, 0, past.stderr);
    assert.match(past.stdout, /"on_error":\{"mode":"skip"\}.*"skipped":1,/);
    const again = await cli('jobs', 'resume', id);
    assert.equal(again.code, 0, again.stderr);
    assert.match(again.stdout, /: 1 row in .*; 1 of them failed, left for the next run\./);
  });

  test('say that the record of a job is gone which they follow', async () => {
    const { stdout } = await backfill('products', 'slow', '--where', 'id < 400', '--yes', '--detach');
    const id = stdout.trim();
    const place = join(env.XDG_DATA_HOME, 'lance-catalog', 'jobs', id);
    const { pid } = JSON.parse(readFileSync(join(place, 'process.json'), 'utf8')) as { pid: number };
    try {
      const following = spawn(process.execPath, [cliEntry, 'jobs', 'follow', id], {
        env: { ...process.env, ...env },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let stderr = '';
      following.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      const ended = once(following, 'close');
      await until('it follows', () => stderr.includes(': running') || following.exitCode !== null);
      // Moves the folder in one step, because a record without some of its files looks like that of a killed job.
      renameSync(place, join(env.XDG_DATA_HOME, `removed-${id}`));
      const [code] = (await ended) as [number | null];
      assert.equal(code, 1, stderr);
      assert.match(stderr, new RegExp(`record of job ${id} was removed while the job ran`));
    } finally {
      process.kill(-pid, 'SIGKILL');
    }
  });

  test('say in a sentence where their output can not be written', async function () {
    if (!existsSync('/dev/full')) this.skip();
    for (const line of ['check --list', 'jobs list --json', '--help']) {
      const said = await command('sh', ['-c', `"$0" "$1" ${line} > /dev/full`, process.execPath, cliEntry], { env });
      assert.equal(said.code, 2, said.stderr);
      assert.match(said.stderr, /^Can't write the output: .*no space.*\. Free up disk space, .*\.\n$/);
    }
  });
});
