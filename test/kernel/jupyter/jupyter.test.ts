import assert from 'node:assert/strict';
import { join } from 'node:path';
import { inRoot } from '../../../scripts/paths.ts';
import { python } from '../../harness/needs/python.ts';
import { tempFolder } from '../../harness/temp.ts';
import { command } from '../support.ts';
import { installedKernel } from './jupyterHome.ts';

const script = (name: string): string => inRoot('test/kernel/python', name);

// A kernel that starts from a snapshot has a relay.
for (const hasSnapshot of [true, false])
  suite(`The kernel under Jupyter, with ${hasSnapshot ? 'a relay' : 'sockets of its own'}`, function () {
    this.timeout(120_000);
    testJupyter(hasSnapshot);
  });

function testJupyter(hasSnapshot: boolean): void {
  let env: Record<string, string>;

  suiteSetup(async () => {
    const installed = await installedKernel({ hasSnapshot });
    env = installed.env;
    assert.match(installed.said, /jupyter\/kernels\/lance-typescript/);
  });

  test('passes the suite of jupyter_kernel_test', async () => {
    const { code, stderr } = await command(python(), [script('conformance.py')], { env, seconds: 100 });
    assert.equal(code, 0, stderr);
    // The only skipped test is about Jupyter's pager, which this kernel does not use.
    assert.match(stderr, /Ran 13 tests[^]*OK \(skipped=1\)/);
  });

  test('runs the tour by nbclient, and saves tables that pyarrow reads', async () => {
    const saved = join(tempFolder(), 'saved.ipynb');
    const tour = inRoot('scripts/sample/tour.ipynb');
    const { code, stdout, stderr } = await command(python(), [script('notebook.py'), tour, tempFolder(), saved], {
      env,
    });
    assert.equal(code, 0, stderr);
    const tables = JSON.parse(stdout) as { columns: string[]; rows: number }[];
    assert.deepEqual(
      tables.map(({ rows }) => rows),
      [20, 12, 5, 100, 12, 4, 4, 12],
    );
    assert.deepEqual(tables[2]?.columns, ['id', 'name', 'price', '_distance']);
  });

  test('outlives strangers at its sockets, and readers that never read', async () => {
    const { code, stdout, stderr } = await command(python(), [script('hostile.py')], { env, seconds: 100 });
    assert.equal(code, 0, stderr);
    assert.deepEqual(JSON.parse(stdout), {
      'runs after broken frames': '0',
      'runs after a replay': '1',
      'takes in no huge frame': true,
      'runs at the end': '1',
      replies: 'ok',
      'chars beside a reader that is stuck': 40_000_000,
    });
    assert.doesNotMatch(stderr, /Socket option/);
  });

  test('keeps to the protocol with a client of Jupyter', async () => {
    const { code, stdout, stderr } = await command(python(), [script('session.py')], { env });
    assert.equal(code, 0, stderr);
    const { language, ...seen } = JSON.parse(stdout) as Record<string, unknown>;
    assert.match(String(language), /^6\./);
    assert.deepEqual(seen, {
      result: ['21'],
      double: '40',
      bad: 'error',
      forged: ['true'],
      failed: ['error', 'RangeError', 'stop here'],
      behind: 'aborted',
      unsendable: ['UnsendableOutput'],
      bigint: [1],
      silent: ['ok', []],
      heartbeat: true,
      interrupted_within_2s: true,
      kept: ['5'],
      completed: "const smile = '😀😀'; smile.toUpperCase",
      sql: ["%%sql\nselect '😀', price from shop.products p"],
      sqlTypes: ['column', 'function'],
      sqlTables: ['shop.products'],
      comms: {},
      ended: true,
    });
  });
}
