import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { inRoot } from '../../../scripts/paths.ts';
import { tempFolder } from '../../harness/temp.ts';
import { JobsServerStandIn } from './jobsServer.ts';

const list = (catalog: string, ...more: string[]) =>
  promisify(execFile)(process.execPath, [inRoot('dist/cli.cjs'), 'jobs', 'list', '--catalog', catalog, ...more], {
    env: { ...process.env, XDG_DATA_HOME: tempFolder() },
  });

suite('lance-catalog jobs list --catalog', function () {
  this.timeout(60_000);
  let server: JobsServerStandIn;
  suiteSetup(async () => {
    server = await JobsServerStandIn.start();
    for (const [index, state] of ['DONE', 'IN_PROGRESS', 'FAILED'].entries())
      server.add({ job_id: `theirs-${index}`, job_type: 'backfill_column', state });
  });
  suiteTeardown(() => server.stop());

  test('shows the jobs of a server on all of its pages, whoever began them', async () => {
    const { stdout } = await list(server.uri);
    assert.match(stdout, /^job +state +kind/);
    assert.match(stdout, /^theirs-0 +finished +backfill_column$/m);
    assert.match(stdout, /^theirs-1 +running +backfill_column$/m);
    assert.match(stdout, /^theirs-2 +failed +backfill_column$/m);
    const { stdout: json } = await list(server.uri, '--json');
    assert.deepEqual(
      (JSON.parse(json) as { id: string }[]).map(({ id }) => id),
      ['theirs-0', 'theirs-1', 'theirs-2'],
    );
  });

  test('lists the jobs on this machine for a directory, which runs none', async () => {
    const { stdout, stderr } = await list(tempFolder());
    assert.equal(stdout, '');
    assert.match(stderr, /The list has all jobs on this machine\.\nThere are no jobs on this machine\.$/m);
    const { stdout: json } = await list(tempFolder(), '--json');
    assert.deepEqual(JSON.parse(json), []);
  });
});
