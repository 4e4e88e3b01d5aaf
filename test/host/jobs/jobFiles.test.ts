import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { eventually, extensionApi, failuresOf, run } from '../support.ts';
import { ended, type JobsWorld, makeJobsWorld, orderRows } from './jobsSupport.ts';

const opened = (): vscode.WorkspaceFolder => {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  assert.ok(folder, 'a folder is open');
  return folder;
};

async function problemsOf(uri: vscode.Uri, count: number): Promise<vscode.Diagnostic[]> {
  await vscode.workspace.openTextDocument(uri);
  return eventually(`${count} problems`, () => {
    const found = vscode.languages.getDiagnostics(uri).filter(({ source }) => source === 'Lance Catalog');
    return found.length === count && found;
  });
}

/** Returns the completions at a position of a file. */
async function namesAt(uri: vscode.Uri, at: number): Promise<string[]> {
  const document = await vscode.workspace.openTextDocument(uri);
  const list = await vscode.commands.executeCommand<vscode.CompletionList>(
    'vscode.executeCompletionItemProvider',
    uri,
    document.positionAt(at),
  );
  return list.items.map(({ label }) => (typeof label === 'string' ? label : label.label));
}

/** Runs a task. @returns its exit code */
async function runTask(task: vscode.Task): Promise<number | undefined> {
  const ending = new Promise<number | undefined>((resolve) => {
    const listening = vscode.tasks.onDidEndTaskProcess(({ execution, exitCode }) => {
      if (execution.task.name !== task.name) return;
      listening.dispose();
      resolve(exitCode);
    });
  });
  await vscode.tasks.executeTask(task);
  return ending;
}

const jobOf = (column: string, change: object = {}): string =>
  JSON.stringify(
    {
      connection: 'files',
      table: 'shop/orders',
      column,
      function: { sql: 'length(note)' },
      runner: 'local',
      key: 'id',
      ...change,
    },
    undefined,
    2,
  );

const throwing = `import { udf } from 'lance-catalog';
export const throwing = udf({ name: 'throwing', input: ['id'], output: 'int32' }, ({ id }) => {
  throw new Error('no ' + id);
});
`;

suite('job files in the editor', function () {
  this.timeout(180_000);
  let api: ExtensionApi;
  let world: JobsWorld;
  const made: string[] = [];

  suiteSetup(async () => {
    api = await extensionApi();
    world = await makeJobsWorld(api, 'files');
  });

  suiteTeardown(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    for (const file of made) rmSync(file, { force: true });
    api.jobs.pages.dispose();
    await world.remove();
  });

  function write(name: string, text: string): vscode.Uri {
    const file = join(opened().uri.fsPath, name);
    writeFileSync(file, text);
    made.push(file);
    return vscode.Uri.file(file);
  }

  test('are underlined where they are wrong, with what to do', async () => {
    const uri = write('wrong.lance-job.json', jobOf('c', { concurency: 4 }));
    const [problem] = await problemsOf(uri, 1);
    assert.match(problem?.message ?? '', /Did you mean "concurrency"\?$/);
    const document = await vscode.workspace.openTextDocument(uri);
    assert.ok(problem);
    assert.equal(document.getText(problem.range), '"concurency"');
  });

  test('are underlined where they name a connection that is not there', async () => {
    const uri = write('nowhere.lance-job.json', jobOf('c', { connection: 'nowhere' }));
    const [problem] = await problemsOf(uri, 1);
    assert.match(problem?.message ?? '', /There is no connection "nowhere"/);
  });

  test('have Check, Plan, Try and Run above them', async () => {
    const uri = write('lenses.lance-job.json', jobOf('c'));
    await vscode.workspace.openTextDocument(uri);
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', uri);
    assert.deepEqual(
      lenses.map(({ command }) => command?.command),
      ['check', 'plan', 'try', 'run'].map((what) => `lanceCatalog.jobFile.${what}`),
    );
  });

  test('are completed with names of the catalog', async () => {
    for (const [text, name] of [
      ['{"connection": "|"}', 'files'],
      ['{"connection": "files", "table": "shop/|"}', 'shop/orders'],
      ['{"connection": "files", "table": "shop/orders", "column": "|"}', 'note'],
    ] as const) {
      const place = text.indexOf('|');
      const offered = await namesAt(write(`complete${place}.lance-job.json`, text.replace('|', '')), place);
      assert.ok(offered.includes(name), `${text}: ${offered.join(', ')}`);
    }
  });

  test('show their plan without changing anything', async () => {
    await run('lanceCatalog.backfill.fromFile', write('plan.lance-job.json', jobOf('planned')));
    const page = api.jobs.pages.all.find(({ plan }) => plan !== undefined);
    assert.ok(page && page.state.kind === 'plan');
    assert.equal(page.state.plan.rows.toCompute.value, orderRows);
    const catalog = await api.engine.catalog(world.folder);
    const { columns } = await catalog.describeTable('orders', { namespacePath: ['shop'] });
    assert.ok(!columns.some(({ name }) => name === 'planned'));
  });

  test('run to the end by what stands above them', async () => {
    await run('lanceCatalog.jobFile.run', write('run.lance-job.json', jobOf('ran')));
    const page = api.jobs.pages.all.find(({ job }) => job !== undefined);
    assert.ok(page?.job !== undefined, 'the page of the job is open');
    const view = await ended(api.jobs.host, page.job);
    assert.equal(view.state, 'succeeded', view.sentence);
  });

  test('say in one sentence why they can not be run', async () => {
    const uri = write('broken.lance-job.json', jobOf('c', { function: { sql: 'length(nota)' } }));
    const told = await failuresOf(() => run('lanceCatalog.jobFile.run', uri));
    assert.equal(told.length, 1);
    assert.match(told[0] ?? '', /nota/);
  });

  test('are tasks of the folder, which end with 0 when the job is done', async () => {
    write('task.lance-job.json', jobOf('by_task'));
    const tasks = await vscode.tasks.fetchTasks({ type: 'lance-catalog-backfill' });
    const task = tasks.find(({ name }) => name === 'task.lance-job.json');
    assert.ok(task, tasks.map(({ name }) => name).join(', '));
    assert.equal(await runTask(task), 0);
    const catalog = await api.engine.catalog(world.folder);
    const table = await catalog.openTable('orders', { namespacePath: ['shop'] });
    assert.equal(await table.countRows('by_task = length(note)'), orderRows);
  });

  test('end as tasks with 1 when the function failed', async () => {
    const file = write('throws.ts', throwing).fsPath;
    write('failing.lance-job.json', jobOf('by_failing', { function: { file, export: 'throwing' } }));
    const tasks = await vscode.tasks.fetchTasks({ type: 'lance-catalog-backfill' });
    const task = tasks.find(({ name }) => name === 'failing.lance-job.json');
    assert.ok(task);
    assert.equal(await runTask(task), 1);
  });

  test('end as tasks with 2 when nothing could be started', async () => {
    write('no-task.lance-job.json', jobOf('c', { connection: 'nowhere' }));
    const tasks = await vscode.tasks.fetchTasks({ type: 'lance-catalog-backfill' });
    const task = tasks.find(({ name }) => name === 'no-task.lance-job.json');
    assert.ok(task);
    assert.equal(await runTask(task), 2);
  });
});
