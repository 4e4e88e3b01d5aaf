import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Field, FixedSizeList, Float32, Utf8 } from '#arrow';
import { isJobError } from '#shared/jobs/jobErrors.ts';
import { tempFolder } from '../../../harness/temp.ts';
import { type At, BackfillTables } from '../backfillTables.ts';
import { drive, functionOf, pythonBatch, pythonRow, specOf, sql, typescriptRow } from './driving.ts';

const lengthInPython = 'def f(text):\n    return None if text is None else len(text)\n';

const byNumber = (a: number, b: number): number => a - b;

suite('the Python driver', function () {
  this.timeout(120_000);
  let tables: BackfillTables;
  suiteSetup(() => void (tables = new BackfillTables()));
  suiteTeardown(async () => tables.stop());

  /** Creates eight fragments of 300 rows, with every tenth row deleted. */
  async function makeTable(how: { delete?: string; version?: string; column?: string } = {}): Promise<At> {
    const at = { uri: join(tempFolder(), 't.lance') };
    await tables.make(at, { fragments: 8, rows: 300, delete: 'id % 10 = 3', ...how });
    return at;
  }

  const kinds = {
    'an SQL expression': sql('length(text)'),
    'a Python function of a row': pythonRow(lengthInPython),
    'a Python function of a batch': pythonBatch(
      'import pyarrow.compute as pc\ndef f(batch):\n    return pc.utf8_length(batch.column("text"))\n',
    ),
    // Count code points, as the functions in the other languages do.
    'a TypeScript function': typescriptRow(
      'export default (row) => (row.text === null ? null : [...row.text].length);',
    ),
  };
  for (const [title, body] of Object.entries(kinds))
    test(`fills a column by ${title}`, async () => {
      const at = await makeTable();
      const job = drive(specOf(at, functionOf(body)));
      await job.done;
      assert.deepEqual(await tables.check(at, 'c', 'length'), { rows: 2160, wrong: 0, samples: [] });
      const end = await job.first('succeeded').catch(() => job.all('succeeded')[0]);
      assert.equal(end?.rows, 2160);
      assert.equal(job.all('fragment').length, 8);
      assert.deepEqual(
        job
          .all('committed')
          .flatMap(({ fragments }) => fragments)
          .toSorted(byNumber),
        [0, 1, 2, 3, 4, 5, 6, 7],
      );
    });

  test('commits at most 32 times unless the job says how often', async () => {
    const at = { uri: join(tempFolder(), 't.lance') };
    const before = await tables.make(at, { fragments: 288, rows: 2 });
    const job = drive(specOf(at, functionOf(sql('length(text)')), { commitGranularity: undefined }));
    await job.done;
    assert.deepEqual(await tables.check(at, 'c', 'length'), { rows: 576, wrong: 0, samples: [] });
    assert.equal(job.all('committed').length, 32);
    // The column and its metadata make two more versions.
    assert.equal((await tables.state(at, 'c')).version - before, 34);
  });

  for (const version of ['2.0', '2.2'])
    test(`fills a table of Lance's file format ${version}`, async () => {
      const at = await makeTable({ version });
      await drive(specOf(at, functionOf(sql('length(text)')))).done;
      assert.equal((await tables.check(at, 'c', 'length')).wrong, 0);
    });

  test('says on the column whose values they are, and leaves no checkpoint', async () => {
    const at = await makeTable();
    const fn = functionOf(sql('length(text)'));
    await drive(specOf(at, fn)).done;
    const { metadata } = await tables.state(at, 'c');
    assert.equal(metadata['lance-catalog.function.values'], fn.hash);
    const values = Object.values(await tables.values(at, 'c'));
    const counts = { rows: values.length, empty: values.filter((value) => value === null).length };
    assert.equal(metadata['lance-catalog.function.complete'], JSON.stringify(counts));
    assert.equal(existsSync(join(at.uri, '_ckp')), false);
  });

  test('computes only the rows that where names, and keeps the values of the others', async () => {
    const at = await makeTable({ column: 'c' });
    const before = await tables.values(at, 'c', 'id >= 450');
    await drive(specOf(at, functionOf(sql('length(text)')), { where: 'id < 450' })).done;
    assert.equal((await tables.check(at, 'c', 'length', 'id < 450')).wrong, 0);
    assert.deepEqual(await tables.values(at, 'c', 'id >= 450'), before);
    assert.equal((await tables.state(at, 'c')).metadata['lance-catalog.function.values'], undefined);
  });

  test('fills what is null in a column that shares its files with others, and nothing else', async () => {
    const at = await makeTable({ column: 'c' });
    const before = await tables.values(at, 'c', 'c IS NOT NULL');
    await drive(specOf(at, functionOf(sql('length(text)')))).done;
    assert.equal((await tables.check(at, 'c', 'length', 'id % 2 = 0')).wrong, 0);
    assert.deepEqual(await tables.values(at, 'c', 'id % 2 = 1'), before);
  });

  test('gives the same in tasks of fewer rows than a fragment has', async () => {
    const at = await makeTable();
    const job = drive(specOf(at, functionOf(pythonRow(lengthInPython)), { taskSize: 70 }));
    await job.done;
    assert.equal((await tables.check(at, 'c', 'length')).wrong, 0);
    assert.equal(job.all('fragment').length, 8);
  });

  test('computes the requested number of fragments, and the next run the others', async () => {
    const at = await makeTable();
    const fn = functionOf(pythonRow(lengthInPython));
    const part = drive(specOf(at, fn, { numFrags: 3 }));
    await part.done;
    assert.equal(part.all('fragment').length, 3);
    assert.equal((await tables.check(at, 'c', 'length', 'id < 900')).wrong, 0);
    const rest = drive(specOf(at, fn));
    await rest.done;
    assert.equal(rest.all('fragment').length, 5);
    assert.equal((await tables.check(at, 'c', 'length')).wrong, 0);
  });

  test('reads inputs at the version that it is given', async () => {
    const at = await makeTable();
    const { version } = await tables.state(at, 'c');
    const before = await tables.values(at, 'n', 'id < 300');
    await tables.update(at, { n: '0' }, 'id >= 2100');
    await drive(specOf(at, functionOf(sql('n * 2'), { inputs: ['n'] }), { readVersion: version })).done;
    const after = await tables.values(at, 'c', 'id < 300');
    assert.deepEqual(
      after,
      Object.fromEntries(Object.entries(before).map(([id, n]) => [id, n === null ? null : n * 2])),
    );
    // Rows with `id >= 2100` were written after the requested version, so the job must not compute them.
    assert.ok(Object.values(await tables.values(at, 'c', 'id >= 2100')).every((value) => value === null));
  });

  test('fills vectors', async () => {
    const at = await makeTable();
    const type = new FixedSizeList(4, new Field('item', new Float32(), true));
    const body = pythonRow('def f(n):\n    return None if n is None else [n, n + 1, n + 2, n + 3]\n');
    await drive(specOf(at, functionOf(body, { inputs: ['n'], type }))).done;
    const values = (await tables.values(at, 'c', 'id = 6')) as Record<string, unknown>;
    assert.deepEqual(values, { 6: [18, 19, 20, 21] });
  });

  test('fills texts', async () => {
    const at = await makeTable();
    const body = typescriptRow('export default (row) => row.text === null ? null : row.text.toUpperCase();');
    await drive(specOf(at, functionOf(body, { type: new Utf8() }))).done;
    const values = (await tables.values(at, 'c', 'id IN (1, 2)')) as Record<string, unknown>;
    assert.deepEqual(values, { 1: 'GRÜSSE 1', 2: '東京 2' });
  });

  test('tells in a plan what the run then does, and changes nothing for it', async () => {
    const at = await makeTable();
    const spec = specOf(at, functionOf(pythonRow(lengthInPython)), { where: 'id < 500' });
    const { version } = await tables.state(at, 'c');
    const plan = await drive(spec, { mode: 'plan' }).done;
    assert.equal((await tables.state(at, 'c')).version, version);
    assert.equal(existsSync(join(at.uri, '_ckp')), false);
    const job = drive(spec);
    await job.done;
    assert.equal(plan?.['rows'], job.all('succeeded')[0]?.rows);
    assert.deepEqual(
      plan?.['fragments'],
      job
        .all('fragment')
        .map(({ fragment }) => fragment)
        .toSorted(byNumber),
    );
  });

  test('refuses a column of another type, and says both', async () => {
    const at = await makeTable({ column: 'c' });
    await assert.rejects(drive(specOf(at, functionOf(sql("'x'"), { type: new Utf8() }))).done, (error) => {
      assert.ok(isJobError(error) && error.kind === 'RequestInvalid');
      return /is int32.*returns string/.test(error.message);
    });
  });
});
