import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { findNode } from '#processes/childProcess.ts';
import { JobsProcess } from '#processes/jobsProcess.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import type { FunctionSource } from '#shared/jobs/jobMessages.ts';
import type { JobOutputNews, JobOutputRequest } from '#shared/jobs/jobOutput.ts';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { createLog } from '../../../extension/host/log.ts';
import { type JobMessaging, registerJobOutputs } from '../../../extension/jobs/jobOutputs.ts';
import { JobsHost } from '../../../extension/jobs/jobsHost.ts';
import { PersonStandIn } from '../person.ts';
import { chooseInLists } from './listStandIn.ts';
import { eventually, extensionApi, repository, run } from '../support.ts';
import { ended, type JobsWorld, makeJobsWorld, orderRows, writeGatedFunction } from './jobsSupport.ts';

/** Stands in for the renderer of jobs in a notebook, whose frame host tests can't access. */
class JobRendererStandIn implements JobMessaging {
  readonly told: JobOutputNews[] = [];
  readonly #said = new vscode.EventEmitter<{ editor: vscode.NotebookEditor; message: unknown }>();
  readonly onDidReceiveMessage = this.#said.event;

  async postMessage(news: JobOutputNews): Promise<boolean> {
    this.told.push(news);
    return true;
  }

  say(message: JobOutputRequest | { kind: string }): void {
    this.#said.fire({ editor: undefined as unknown as vscode.NotebookEditor, message });
  }

  /** Returns the last received state of a job. */
  newest(id: string) {
    return this.told.flatMap(({ jobs }) => jobs).findLast((job) => job.id === id);
  }
}

suite('backfills in the editor', function () {
  this.timeout(180_000);
  const signal = new AbortController().signal;
  let api: ExtensionApi;
  let world: JobsWorld;

  suiteSetup(async () => {
    api = await extensionApi();
    world = await makeJobsWorld(api, 'jobs');
  });

  suiteTeardown(async () => {
    api.jobs.pages.dispose();
    api.panels.dispose();
    await world.remove();
  });

  /** Returns a request for a column, as the steps of the command create it. */
  async function requestFor(column: string, source: FunctionSource): Promise<BackfillRequest> {
    const table = await api.jobs.references.of(world.place);
    const made = await api.jobs.host.request('readFunction', { table, column, source }, signal);
    return { table, column, function: made, runner: 'local', key: 'id' };
  }

  async function start(column: string, source: FunctionSource): Promise<string> {
    const started = await api.jobs.backfills.start(await requestFor(column, source), signal);
    assert.ok(started);
    return started.id;
  }

  const rowOf = (id: string): vscode.TreeItem => {
    const node = api.jobs.jobsView.getChildren().find((one) => one.id === id);
    assert.ok(node, `${id} is not listed`);
    return api.jobs.jobsView.getTreeItem(node);
  };

  async function valuesOf(column: string): Promise<number> {
    const catalog = await api.engine.catalog(world.folder);
    const table = await catalog.openTable('orders', { namespacePath: ['shop'] });
    return table.countRows(`${column} = length(note)`);
  }

  test('are listed until they are done, with their values in the table', async () => {
    const id = await start('note_length', { kind: 'sql', expression: 'length(note)' });
    await eventually('a row of the job', () => api.jobs.host.board.has(id));
    const view = await ended(api.jobs.host, id);
    assert.equal(view.state, 'succeeded', view.sentence);
    const item = rowOf(id);
    assert.equal(item.label, 'orders.note_length');
    assert.match(String(item.description), /^done · just now$/);
    assert.match(item.contextValue ?? '', /^job\.succeeded\b.*\.remove$/);
    assert.equal(await valuesOf('note_length'), orderRows);
  });

  test('are sent to the outputs of cells, and can be cancelled there', async () => {
    const renderer = new JobRendererStandIn();
    const { log, jobs } = api;
    const { host, actions, pages } = jobs;
    const outputs = registerJobOutputs({ log, host, actions, pages }, renderer);
    const { file, gate } = writeGatedFunction(world.folder);
    try {
      const id = await start('gated_in_cell', { kind: 'typescript', file });
      renderer.say({ kind: 'no request of ours' });
      renderer.say({ kind: 'look', id });
      await eventually('news of rows', () => (renderer.newest(id)?.rows.done ?? 0) > 0, 60_000);
      assert.equal(
        renderer.told.flatMap((told) => told.jobs).every((job) => job.id === id),
        true,
        'of no other job',
      );
      renderer.say({ kind: 'act', id, action: 'cancel' });
      await eventually('news of the end', () => renderer.newest(id)?.state === 'cancelled', 60_000);
      assert.equal(renderer.newest(id)?.can.resume, true);
    } finally {
      rmSync(gate, { force: true });
      outputs.dispose();
    }
  });

  test('are cancelled by their row, found again by the next window, and go on where they stopped', async () => {
    const { file, gate } = writeGatedFunction(world.folder);
    const id = await start('gated', { kind: 'typescript', file });
    await eventually('rows that are done', () => (api.jobs.host.board.get(id)?.rows.done ?? 0) > 0, 60_000);
    await eventually('the badge', () => api.jobs.jobsView.badge?.value === 1);
    assert.match(rowOf(id).contextValue ?? '', /^job\.running\.cancel/);
    await run('lanceCatalog.jobs.cancel', { kind: 'job', id });
    assert.equal((await ended(api.jobs.host, id)).state, 'cancelled');
    rmSync(gate);

    // A reloaded window has the same records, but nothing in memory.
    const next = new JobsHost({
      log: createLog(),
      mayHaveRunningJobs: () => Promise.resolve(false),
      startProcess: async (onChanged, starting) =>
        JobsProcess.start({
          entry: `${repository}/dist/jobs.cjs`,
          node: await findNode(),
          onChanged,
          signal: starting,
        }),
    });
    try {
      await next.watch();
      assert.equal(next.board.get(id)?.state, 'cancelled');
      await run('lanceCatalog.jobs.resume', { kind: 'job', id });
      await eventually('the next window is told', () => next.board.get(id)?.state !== 'cancelled', 60_000);
      const view = await ended(next, id);
      assert.equal(view.state, 'succeeded', view.sentence);
      assert.ok(view.rows.reused > 0, 'nothing that was done is done again');
    } finally {
      next.dispose();
    }
    assert.equal(await valuesOf('gated'), orderRows);
  });

  test('are watched on when the process that watches them ends', async () => {
    const before = await api.jobs.host.pid();
    assert.ok(before !== undefined);
    process.kill(before, 'SIGKILL');
    const after = await eventually('another process', () => {
      const { runningPid } = api.jobs.host;
      return runningPid !== before && runningPid;
    });
    assert.notEqual(after, before);
    const id = await start('again', { kind: 'sql', expression: 'length(note)' });
    assert.equal((await ended(api.jobs.host, id)).state, 'succeeded');
  });

  test('are led to by "Backfill Column…": a plan, a trial in the grid, and the job on the same page', async () => {
    const person = new PersonStandIn({ types: ['shouted', 'upper(nota)', 'upper(note)'] });
    await person.during(async () => {
      const lists = chooseInLists(['New Column…', 'SQL Expression', 'This machine']);
      try {
        await run('lanceCatalog.backfill.column', {
          kind: 'table',
          connection: 'jobs',
          path: ['shop'],
          table: 'orders',
        });
      } finally {
        lists.dispose();
      }
      assert.deepEqual(
        lists.shown.map(({ step }) => step),
        ['1/5', '3/5', '5/5'],
      );
      assert.match(lists.shown[0]?.labels[0] ?? '', /New Column…$/, 'Enter recomputes nothing');
    });
    const [, box] = person.boxes;
    assert.match(box?.said.join('\n') ?? '', /nota/, 'what is wrong is said in the box');
    const page = api.jobs.pages.all.find(({ plan }) => plan !== undefined);
    assert.ok(page, 'a plan is shown');
    assert.equal(page.panel.title, 'Plan: orders.shouted');
    const { state } = page;
    assert.ok(state.kind === 'plan');
    assert.equal(state.plan.rows.toCompute.value, orderRows);

    await page.act('try');
    const tried = await eventually('the trial in the grid', () =>
      api.panels.all.find(({ title }) => title === 'Trial: shouted'),
    );
    const { columns, numRows } = await tried.table;
    assert.deepEqual(
      columns.map(({ name }) => name),
      ['note', 'shouted (before)', 'shouted (after)'],
    );
    assert.ok(numRows > 0);

    await page.act('run');
    const { job } = page;
    assert.ok(job !== undefined, 'the page has become that of the job');
    assert.equal((await ended(api.jobs.host, job)).state, 'succeeded');
    assert.equal(page.panel.title, 'orders.shouted');
  });

  test('ask before the code of a function that came with its table runs, and start nothing without a yes', async () => {
    const { file, gate } = writeGatedFunction(world.folder);
    rmSync(gate);
    const { table, function: made } = await requestFor('stored', { kind: 'typescript', file });
    assert.ok(made);
    await api.jobs.host.request('register', { table, column: 'stored', function: made }, signal);
    // Delete the accepted functions, because registering a function accepts it, and this test needs one that is not
    // accepted yet.
    rmSync(join(process.env['XDG_DATA_HOME'] ?? '', 'lance-catalog', 'accepted-functions'), { recursive: true });
    const asked: BackfillRequest = { table, column: 'stored', runner: 'local', key: 'id' };
    const person = new PersonStandIn({ chooses: [undefined] });
    await person.during(async () => assert.equal(await api.jobs.backfills.start(asked, signal), undefined));
    const [question] = person.questions;
    assert.match(question?.message ?? '', /Run the function "gated", stored with table "shop\/orders"/);
    assert.deepEqual([question?.choices, question?.isModal], [['Accept and Continue'], false]);
    const shown = vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'lance-function');
    assert.match(shown?.getText() ?? '', /Hash [0-9a-f]{64}/);
    assert.ok(![...api.jobs.host.board.values()].some(({ column }) => column === 'stored'));
  });

  test('show the whole code of a stored function in a document, where it can be accepted or declined', async () => {
    const file = join(world.folder, 'long.ts');
    const lines = Array.from({ length: 900 }, (_, line) => `  globalThis.line${line} = 1;`);
    const body = [...lines, `  globalThis.harm = '${'y'.repeat(500)} the end';`, '  return 1;'];
    writeFileSync(
      file,
      `import { arrow, udf } from 'lance-catalog';
export default udf({ name: 'long', input: ['id'], output: new arrow.Int32() }, () => {\n${body.join('\n')}\n});\n`,
    );
    const { table, function: made } = await requestFor('long', { kind: 'typescript', file });
    assert.ok(made);
    await api.jobs.host.request('register', { table, column: 'long', function: made }, signal);
    rmSync(join(process.env['XDG_DATA_HOME'] ?? '', 'lance-catalog', 'accepted-functions'), { recursive: true });
    const asked: BackfillRequest = { table, column: 'long', runner: 'local', key: 'id' };
    for (const end of ['decline', 'close', 'accept'] as const) {
      const started = api.jobs.backfills.start(asked, signal);
      const editor = await eventually('the code is shown', () => {
        const active = vscode.window.activeTextEditor;
        return active?.document.uri.scheme === 'lance-function' && active.document.getText().includes('line899')
          ? active
          : undefined;
      });
      const { document } = editor;
      assert.ok(document.getText().replaceAll(' ↩\n', '').includes('y the end'));
      assert.ok(
        Math.max(
          ...document
            .getText()
            .split('\n')
            .map(({ length }) => length),
        ) <= 202,
      );
      const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
        'vscode.executeCodeLensProvider',
        document.uri,
      );
      assert.deepEqual(
        lenses.map(({ range, command }) => [range.start.line, command?.title]),
        [0, document.lineCount - 1].flatMap((line) => [
          [line, '$(check) Accept and Continue'],
          [line, 'Decline'],
        ]),
      );
      if (end === 'close') await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
      else await vscode.commands.executeCommand(`lanceCatalog.function.${end}`, document.uri);
      const job = await started;
      assert.equal(job !== undefined, end === 'accept');
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      if (job) assert.equal((await ended(api.jobs.host, job.id)).state, 'succeeded');
    }
  });

  test('are removed from the list, and nothing else of them', async () => {
    const id = [...api.jobs.host.board.values()].find(({ column }) => column === 'note_length')?.id;
    assert.ok(id !== undefined);
    await run('lanceCatalog.jobs.remove', { kind: 'job', id });
    await eventually('the job is gone', () => !api.jobs.host.board.has(id));
    assert.equal(await valuesOf('note_length'), orderRows);
  });
});
