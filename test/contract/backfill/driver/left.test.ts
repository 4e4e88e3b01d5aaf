import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJobError } from '#shared/jobs/jobErrors.ts';
import { tempFolder } from '../../../harness/temp.ts';
import { eventually } from '../../eventually.ts';
import { descendantsOf, stillRunning } from '../../processTree.ts';
import { type At, BackfillTables } from '../backfillTables.ts';
import { drive, functionOf, specOf, typescriptRow } from './driving.ts';

const driver = (): number => descendantsOf(process.pid).find(({ command }) => /backfill\.py -/.test(command))!.pid;

/** Returns the names of all data files of a table, whether fragments use them or not. */
const filesIn = ({ uri }: At): string[] => readdirSync(join(uri, 'data')).toSorted();

suite('a driver that is killed or hangs', function () {
  this.timeout(120_000);
  let tables: BackfillTables;
  suiteSetup(() => void (tables = new BackfillTables()));
  suiteTeardown(async () => tables.stop());

  /** Starts a job whose workers are threads of the driver, and waits until files are started and Node processes run. */
  async function atWork(env: Readonly<Record<string, string>> = {}) {
    const at = { uri: join(tempFolder(), 't.lance') };
    await tables.make(at, { fragments: 2, rows: 60 });
    const [folder, temporary] = [tempFolder(), tempFolder()];
    for (const made of [folder, temporary]) mkdirSync(made, { recursive: true });
    const [begun, gate] = [join(folder, 'begun'), join(folder, 'gate')];
    const fn = functionOf(
      typescriptRow(`
        import { existsSync, writeFileSync } from 'node:fs';
        import { setTimeout } from 'node:timers/promises';
        export default async ({ id, text }) => {
          if (id % 60n > 40n) writeFileSync(${JSON.stringify(begun)} + id / 60n, '');
          while (id % 60n > 40n && !existsSync(${JSON.stringify(gate)})) await setTimeout(10);
          return text === null ? null : [...text].length;
        };`),
      { inputs: ['id', 'text'] },
    );
    const before = filesIn(at);
    const kept = (): string[] => readdirSync(join(at.uri, '_ckp'), { recursive: true }) as string[];
    const job = drive(specOf(at, fn), { env: { TMPDIR: temporary, ...env } });
    await eventually(() => assert.ok(existsSync(`${begun}0`) && existsSync(`${begun}1`)), 60);
    assert.equal(kept().filter((path) => path.endsWith('.begun')).length, 2);
    assert.deepEqual(filesIn(at), before);
    assert.notDeepEqual(readdirSync(temporary), []);
    /** Resumes the job. Checks that the table is complete, and that only the file of another writer is left. */
    const goOn = async (): Promise<void> => {
      writeFileSync(gate, '');
      writeFileSync(join(at.uri, 'data', 'of-another.lance'), '');
      await drive(specOf(at, fn), { env: { TMPDIR: temporary } }).done;
      assert.deepEqual(await tables.check(at, 'c', 'length'), { rows: 120, wrong: 0, samples: [] });
      assert.equal(filesIn(at).length, before.length + 3);
      assert.ok(filesIn(at).includes('of-another.lance'));
      assert.equal(existsSync(join(at.uri, '_ckp')), false);
      assert.deepEqual(readdirSync(temporary), []);
    };
    return { job, temporary, goOn };
  }

  test('leaves no temporary file, and the next run removes the column files that it had begun', async () => {
    const { job, temporary, goOn } = await atWork();
    process.kill(driver(), 'SIGKILL');
    await assert.rejects(job.done, (error) => isJobError(error) && error.kind === 'FunctionCrashed');
    assert.deepEqual(readdirSync(temporary), []);
    await goOn();
  });

  test('is ended when it has said nothing for a while, and the job can be taken up', async function () {
    // On Windows a signal can't stop a process.
    if (process.platform === 'win32') this.skip();
    const { job, temporary, goOn } = await atWork({ LANCE_CATALOG_STALL_SECONDS: '2' });
    const pid = driver();
    process.kill(pid, 'SIGSTOP');
    await assert.rejects(
      job.done,
      (error) => isJobError(error) && error.what === 'The Python driver did not respond for 2 seconds and was stopped.',
    );
    assert.deepEqual(stillRunning([pid]), []);
    assert.deepEqual(readdirSync(temporary), []);
    await goOn();
  });

  test('is left alone while it beats, however little there is to tell', async () => {
    const { job, goOn } = await atWork({ LANCE_CATALOG_STALL_SECONDS: '1' });
    await new Promise((done) => setTimeout(done, 4000));
    job.controller.abort();
    await assert.rejects(job.done, { name: 'AbortError' });
    assert.equal(job.log.join('').includes('beat'), false);
    await goOn();
  });
});
