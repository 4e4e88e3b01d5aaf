import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { tableFromIPC } from '#arrow';
import type { ExtensionApi } from '../../../extension/extension.ts';
import type { TablePanel } from '../../../extension/panels/tablePanel.ts';
import { PersonStandIn } from '../person.ts';
import {
  eventually,
  extensionApi,
  failuresOf,
  makeCatalog,
  run,
  tableNode,
  replacing,
  temporaryFolder,
} from '../support.ts';

const signal = new AbortController().signal;

const valuesOf = async (panel: TablePanel, column: string): Promise<unknown[]> => {
  const { numRows } = await panel.table;
  return [...(tableFromIPC(await panel.rows(0, numRows, signal)).getChild(column) ?? [])].map(String);
};

const problemsOf = (document: vscode.TextDocument): string[] =>
  vscode.languages.getDiagnostics(document.uri).map(({ range, message }) => `${document.getText(range)}: ${message}`);

suite('SQL files', function () {
  this.timeout(120_000);
  const catalog = temporaryFolder();
  const folder = temporaryFolder();
  let api: ExtensionApi;
  let opened: vscode.TextDocument;
  let count = 0;

  suiteSetup(async () => {
    api = await extensionApi();
    await makeCatalog(api, catalog.path);
    await api.connections.add('company', catalog.path);
  });
  teardown(async () => {
    api.panels.dispose();
    for (const document of vscode.workspace.textDocuments.filter(({ isUntitled }) => isUntitled)) {
      await vscode.window.showTextDocument(document);
      await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    }
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    // Closed editors are reported a moment later. Until then, one of them may still be the active editor.
    await eventually('no editor', () => vscode.window.visibleTextEditors.length === 0);
  });
  suiteTeardown(async () => {
    await api.connections.remove('company');
    catalog.remove();
    folder.remove();
  });

  /** Opens a new untitled file on the connection, with the cursor at its start. */
  async function open(content: string, { bound = true } = {}): Promise<vscode.TextEditor> {
    // Each file has a new name, because VS Code may still be closing the last file while it opens one with its name.
    const uri = vscode.Uri.parse(`untitled:query${++count}.sql`);
    const document = await vscode.workspace.openTextDocument(uri);
    const edit = new vscode.WorkspaceEdit();
    edit.insert(uri, new vscode.Position(0, 0), content);
    await vscode.workspace.applyEdit(edit);
    if (bound) api.sql.files.bind(document, 'company');
    const editor = await vscode.window.showTextDocument(document, { preview: false });
    // The active editor is reported a moment later.
    await eventually('the active editor', () => vscode.window.activeTextEditor?.document === document);
    opened = document;
    return editor;
  }

  /** Runs a command on the last opened file, because the editor of the last test may be reported as active once more. */
  const runOn = (id: 'run' | 'runAll' | 'runSelection' | 'explain' | 'cancel'): Promise<unknown> =>
    run(`lanceCatalog.sql.${id}`, opened.uri);

  /** The panel of the only result. */
  const result = (): TablePanel => {
    assert.equal(api.panels.all.length, 1);
    return api.panels.all[0]!;
  };

  /** Returns the labels of suggestions at the bar, with their descriptions. */
  const labelsAt = async (content: string): Promise<Map<string, string>> => {
    const { document } = await open(content.replace('|', ''));
    const list = await vscode.commands.executeCommand<vscode.CompletionList>(
      'vscode.executeCompletionItemProvider',
      document.uri,
      document.positionAt(content.indexOf('|')),
    );
    return new Map(
      list.items.map(({ label }) => (typeof label === 'string' ? [label, ''] : [label.label, label.description ?? ''])),
    );
  };

  test('run the statement at the cursor, and show its rows beside the file', async () => {
    const editor = await open('select 1 as one;\nselect id, note from "shop/eu".orders order by id limit 3;');
    editor.selection = new vscode.Selection(1, 4, 1, 4);
    await runOn('run');
    const panel = result();
    assert.deepEqual(await valuesOf(panel, 'note'), ['order 0', 'order 1', 'order 2']);
    assert.match(panel.panel.title, /^select id, note from.*… \(company\)$/);
    const { note, columns, isGrowing } = await panel.table;
    assert.match(note ?? '', /^\d.* (ms|s)$/);
    assert.deepEqual([columns.map(({ name }) => name), isGrowing], [['id', 'note'], false]);
    assert.notEqual(panel.panel.viewColumn, editor.viewColumn);
    assert.equal(vscode.window.activeTextEditor, editor);
  });

  test('run all statements in order up to the first error, and reuse the panel', async () => {
    const editor = await open('select 1 as n;\nselect 2 as n;\nselect nope;\nselect 4 as n');
    await runOn('runAll');
    const panel = result();
    await assert.rejects(
      panel.table,
      /Line 3, column 8: .*nope/,
      `${panel.title}: ${problemsOf(editor.document).join()}`,
    );
    const [problem] = problemsOf(editor.document);
    assert.match(problem ?? '', /^nope: Referenced column/);
    editor.selection = new vscode.Selection(1, 0, 1, 0);
    await runOn('run');
    assert.equal(result(), panel);
    assert.deepEqual(await valuesOf(panel, 'n'), ['2']);
    assert.deepEqual(problemsOf(editor.document), []);
  });

  test('run the selection', async () => {
    const editor = await open('select 1 as n, 2 as m');
    editor.selection = new vscode.Selection(0, 0, 0, 'select 1 as n'.length);
    await runOn('runSelection');
    assert.deepEqual(
      (await result().table).columns.map(({ name }) => name),
      ['n'],
    );
  });

  test('are not bound by being opened, and are after the user chose the only connection', async () => {
    const { document } = await open('select 1 as n', { bound: false });
    assert.equal(api.sql.files.connectionOf(document), undefined);
    const escapes = new PersonStandIn({ picks: [undefined] });
    await escapes.during(() => runOn('run'));
    assert.equal(api.panels.all.length, 0);
    const person = new PersonStandIn({ picks: ['company'] });
    await person.during(() => runOn('run'));
    assert.equal(person.lists[0]?.title, 'Select the connection for this SQL file');
    assert.deepEqual(await valuesOf(result(), 'n'), ['1']);
    assert.equal(api.sql.files.connectionOf(document)?.name, 'company');
    // The second run does not ask.
    await runOn('run');
  });

  test('keep their connection when an untitled file is saved', async () => {
    const file = vscode.Uri.file(join(folder.path, `saved${Date.now()}.sql`));
    const document = await vscode.workspace.openTextDocument(file.with({ scheme: 'untitled' }));
    const editor = await vscode.window.showTextDocument(document);
    await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), 'select 7 as n'));
    await vscode.languages.setTextDocumentLanguage(document, 'sql');
    api.sql.files.bind(vscode.window.activeTextEditor!.document, 'company');
    await vscode.window.activeTextEditor!.document.save();
    const saved = await eventually('the saved file', () =>
      vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === file.toString()),
    );
    await eventually('its connection', () => api.sql.files.connectionOf(saved)?.name === 'company');
  });

  test('ask before a statement writes, and show the new table in the catalog', async () => {
    await open('create table lab.few as select id from "shop/eu".orders limit 2');
    const refuses = new PersonStandIn({ chooses: [undefined] });
    await refuses.during(() => runOn('run'));
    assert.deepEqual(refuses.questions[0], {
      message: 'Create the table "lab.few" in "company"?',
      detail: 'The rows of the query are written to a new table.',
      choices: ['Create Table'],
      isModal: true,
    });
    const db = await api.catalogs.get('company');
    assert.deepEqual((await db.listTables(['lab'])).tables, []);
    const agrees = new PersonStandIn({ chooses: ['Create Table'] });
    await agrees.during(() => runOn('run'));
    assert.deepEqual((await db.listTables(['lab'])).tables, ['few']);
    assert.deepEqual(await valuesOf(result(), 'rows'), ['2']);
  });

  test('name the connection that a statement writes to in the question', async () => {
    const other = temporaryFolder();
    await makeCatalog(api, other.path);
    await api.connections.add('other', other.path);
    try {
      await open('create table other.lab.few as select id from "shop/eu".orders limit 2');
      const agrees = new PersonStandIn({ chooses: ['Create Table'] });
      await agrees.during(() => runOn('run'));
      assert.equal(agrees.questions[0]?.message, 'Create the table "lab.few" in "other"?');
      assert.deepEqual((await (await api.catalogs.get('other')).listTables(['lab'])).tables, ['few']);
    } finally {
      await api.connections.remove('other');
      other.remove();
    }
  });

  test('show the next result in the panel whose rows were lost by a reload', async () => {
    const panel = vscode.window.createWebviewPanel('lanceCatalog.table', '', vscode.ViewColumn.Two);
    await api.panels.deserializeWebviewPanel(panel, { key: 'sql:1', title: 'select 1 (company)' });
    await assert.rejects(result().table, /not kept when the window was reloaded/);
    await open('select 5 as n');
    await runOn('run');
    assert.equal(result().panel, panel);
    assert.deepEqual(await valuesOf(result(), 'n'), ['5']);
    // Another file opens another panel.
    await open('select 6 as n');
    await runOn('run');
    assert.equal(api.panels.all.length, 2);
  });

  test('stop at the maximum size of results, keep their rows and say so', async () => {
    const configuration = vscode.workspace.getConfiguration('lanceCatalog.sql');
    await configuration.update('maxResultGigabytes', 0.004, vscode.ConfigurationTarget.Global);
    try {
      await open('select range as id from range(100000000)');
      const told: string[] = [];
      const tell = async (message: string) => void told.push(message);
      await replacing('showWarningMessage', tell, () => runOn('run'));
      assert.match(told.join(), /use all 4 MB of disk space.*lanceCatalog\.sql\.maxResultGigabytes/);
      const { note, numRows, isGrowing } = await result().table;
      assert.match(note ?? '', /^Stopped after .*: not all rows$/);
      assert.ok(numRows > 100_000);
      assert.equal(isGrowing, false);
    } finally {
      await configuration.update('maxResultGigabytes', undefined, vscode.ConfigurationTarget.Global);
    }
  });

  test('say what does it here for a statement that is not supported', async () => {
    const { document } = await open('update shop.orders set id = 1');
    await runOn('run');
    await assert.rejects(result().table, /Expected a query, got "update"/);
    assert.match(problemsOf(document)[0] ?? '', /^update: Expected a query/);
  });

  test('are canceled, and stop when their panel is closed', async () => {
    const endless = 'with recursive c(n) as (select 1 union all select n + 1 from c) select count(*) from c';
    const { document } = await open(endless);
    const running = runOn('run');
    await eventually('the run', () => api.sql.runner.isRunning(document) && api.panels.all.length > 0);
    await runOn('cancel');
    await running;
    assert.equal(api.sql.runner.isRunning(document), false);
    await assert.rejects(result().table, /It had no rows yet/);
    const again = runOn('run');
    await eventually('the run', () => api.sql.runner.isRunning(document));
    await new Promise((resolve) => setTimeout(resolve, 500));
    result().panel.dispose();
    await again;
  });

  test('fail with one sentence if the process ends, and run again', async () => {
    const { document } = await open(
      'with recursive c(n) as (select 1 union all select n + 1 from c) select count(*) from c',
    );
    const running = runOn('run');
    await eventually('the run', () => api.sql.runner.isRunning(document) && api.panels.all.length > 0);
    const pid = await eventually('the process', () => api.views.runningPid);
    process.kill(pid, 'SIGKILL');
    await running;
    await assert.rejects(result().table, /The process for results has ended: .*SIGKILL.*Run the query again/);
    await open('select 3 as n');
    await runOn('run');
    assert.deepEqual(await valuesOf(api.panels.all.at(-1)!, 'n'), ['3']);
  });

  test('show the plan of a statement as text', async () => {
    const editor = await open('select count(*) from "shop/eu".orders where id > 5');
    await runOn('explain');
    const plan = vscode.window.visibleTextEditors.find(({ document }) => document.uri.scheme === 'lance-sql-plan');
    assert.match(plan?.document.getText() ?? '', /PROJECTION|AGGREGATE/);
    assert.equal(api.panels.all.length, 0);
    await vscode.window.showTextDocument(editor.document, editor.viewColumn);
  });

  test('complete tables, columns with their types, and functions', async () => {
    const tables = await labelsAt('select * from |');
    assert.ok(tables.has('"shop/eu".orders'), [...tables.keys()].join());
    const columns = await labelsAt('select | from "shop/eu".orders');
    assert.equal(columns.get('note'), 'utf8');
    assert.ok(columns.has('count'));
  });

  test('explain a table and a column when the pointer is on them', async () => {
    const { document } = await open('select note from "shop/eu".orders');
    const hoverAt = async (word: string): Promise<string> => {
      const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(
        'vscode.executeHoverProvider',
        document.uri,
        document.positionAt(document.getText().indexOf(word) + 1),
      );
      return hovers.flatMap(({ contents }) => contents.map((one) => (one as vscode.MarkdownString).value)).join('\n');
    };
    // A hover is empty if its table was not read in time. The table is read on, so that a later hover has it.
    const shownAt = async (word: string): Promise<string> => {
      for (const end = Date.now() + 60_000; ;) {
        const text = await hoverAt(word);
        if (text !== '' || Date.now() > end) return text;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    };
    assert.match(await shownAt('orders'), /table "shop\/eu"\.orders[^]*1,200 rows/);
    assert.match(await shownAt('note'), /note utf8/);
  });

  test('keep the underline of a failed run when the text is checked after it', async () => {
    const editor = await open('select 1;');
    await editor.edit((edit) => edit.replace(new vscode.Range(0, 0, 0, 9), 'select nope;\nselect from where'));
    editor.selection = new vscode.Selection(0, 0, 0, 0);
    await runOn('run');
    assert.match(problemsOf(editor.document)[0] ?? '', /^nope: /);
    await eventually('the result of the check', () =>
      problemsOf(editor.document).some((one) => one.startsWith('where: ')),
    );
    assert.match(problemsOf(editor.document)[0] ?? '', /^nope: /);
  });

  test('underline a table that does not exist', async () => {
    const { document } = await open('select 1\nfrom "shop/eu".order_s');
    await runOn('run');
    await assert.rejects(result().table, /Line 2, column 6: There is no table shop\/eu\.order_s.*Did you mean/);
    assert.match(problemsOf(document)[0] ?? '', /^"shop\/eu": There is no table/);
  });

  test('do not run in an untrusted workspace', async () => {
    const { document } = await open('create table lab.untrusted as select 1 as a');
    // The tests can't open an untrusted workspace: the property of VS Code is replaced.
    Object.defineProperty(vscode.workspace, 'isTrusted', { get: () => false, configurable: true });
    try {
      for (const command of ['run', 'runAll', 'explain'] as const)
        assert.match(
          (await failuresOf(() => runOn(command)))[0] ?? '',
          /SQL does not run in an untrusted workspace\. Trust it first\./,
          command,
        );
    } finally {
      Object.defineProperty(vscode.workspace, 'isTrusted', { get: () => true, configurable: true });
    }
    assert.equal(api.panels.all.length, 0);
    assert.deepEqual(problemsOf(document), []);
    assert.equal(await (await api.catalogs.get('company')).tableExists('untrusted', { namespacePath: ['lab'] }), false);
  });

  test('underline syntax errors while the user types', async () => {
    const editor = await open('select 1;\n');
    await editor.edit((edit) => edit.insert(new vscode.Position(1, 0), 'select from where'));
    await eventually('the error', () => problemsOf(editor.document)[0]?.startsWith('where: '));
    await editor.edit((edit) => edit.replace(new vscode.Range(1, 0, 1, 17), 'select 2'));
    await eventually('no error', () => problemsOf(editor.document).length === 0);
  });

  test('open as new files from the tree, and from the history', async () => {
    await run('lanceCatalog.sql.newQuery', tableNode('company', ['shop', 'eu'], 'orders'));
    const document = await eventually('the new file', () => {
      const active = vscode.window.activeTextEditor?.document;
      return active?.getText() === 'select * from "shop/eu".orders limit 100' && active;
    });
    assert.equal(api.sql.files.connectionOf(document)?.name, 'company');
    await run('lanceCatalog.sql.run');
    assert.equal((await result().table).numRows, 100);
    const person = new PersonStandIn({ picks: ['limit 100'] });
    await person.during(() => run('lanceCatalog.sql.history'));
    const again = await eventually('the file of the query', () => {
      const active = vscode.window.activeTextEditor?.document;
      return active !== document && active?.getText() === document.getText() && active;
    });
    assert.equal(api.sql.files.connectionOf(again)?.name, 'company');
  });

  test('of a file on disk keep their connection for the next time', async () => {
    const path = join(folder.path, 'kept.sql');
    writeFileSync(path, 'select 1');
    const document = await vscode.workspace.openTextDocument(path);
    api.sql.files.bind(document, 'company');
    const { SqlFiles } = { SqlFiles: api.sql.files.constructor as new (...args: unknown[]) => typeof api.sql.files };
    const later = new SqlFiles(api.connections, api.state);
    assert.equal(later.connectionOf(document)?.name, 'company');
    later.dispose();
  });

  test('without a statement say so', async () => {
    await open('-- nothing');
    assert.match((await failuresOf(() => runOn('run')))[0] ?? '', /There is no statement to run/);
  });
});
