import assert from 'node:assert/strict';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { isActive } from '#shared/jobs/jobWords.ts';
import type { ExtensionApi } from '../../extension/extension.ts';
import { eventually, extensionApi, temporaryFolder } from './support.ts';

const rows = 40_000;

suite('backfills in the editor', function () {
  this.timeout(180_000);
  const [folder, data] = [temporaryFolder(), temporaryFolder()];
  const signal = new AbortController().signal;
  const dataHome = process.env['XDG_DATA_HOME'];
  let api: ExtensionApi;

  suiteSetup(async () => {
    // Jobs of these tests are not among those of whoever runs them.
    process.env['XDG_DATA_HOME'] = data.path;
    api = await extensionApi();
    const catalog = await api.engine.catalog(folder.path);
    await catalog.createNamespace(['shop']);
    const orders = Array.from({ length: rows }, (_, id) => ({ id, note: `order ${id}` }));
    await catalog.createTable('orders', orders, { namespacePath: ['shop'] });
    await api.connections.add('jobs', folder.path);
  });

  suiteTeardown(async () => {
    await api.connections.remove('jobs');
    if (dataHome === undefined) delete process.env['XDG_DATA_HOME'];
    else process.env['XDG_DATA_HOME'] = dataHome;
    folder.remove();
    data.remove();
  });

  const place = { connection: 'jobs', path: ['shop'], table: 'orders' };

  /** A request for a column by an expression, as the steps of the command make it. */
  async function requestFor(column: string, expression: string): Promise<BackfillRequest> {
    const table = await api.jobs.references.of(place);
    const source = { kind: 'sql', expression } as const;
    const made = await api.jobs.host.request('readFunction', { table, column, source }, signal);
    return { table, column, function: made, runner: 'local', key: 'id' };
  }

  const viewOf = (id: string): JobView | undefined => api.jobs.host.board.get(id);

  const ended = (id: string): Promise<JobView> =>
    eventually(
      `the end of ${id}`,
      () => {
        const view = viewOf(id);
        return view && !isActive(view) && view;
      },
      120_000,
    );

  test('are listed with their progress until they are done', async () => {
    const request = await requestFor('note_length', 'length(note)');
    const started = await api.jobs.backfills.start(request, signal);
    assert.ok(started);
    const view = await ended(started.id);
    assert.equal(view.state, 'succeeded', view.sentence);
    const [node] = api.jobs.jobsView.getChildren();
    assert.ok(node);
    const item = api.jobs.jobsView.getTreeItem(node);
    assert.equal(item.label, 'orders.note_length');
    assert.match(String(item.description), /^done · just now$/);
  });
});
