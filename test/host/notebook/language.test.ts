import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { eventually, extensionApi, makeCatalog, temporaryFolder } from '../support.ts';
import { notebookText, printed, start } from './notebookCells.ts';

const cells = [
  'import { join } from "node:path";\nconst count = 1;\n/** Says what it is. */\nconst title = (n: number) => `${n}`;',
  'const count = "two";\ncount.toUpperCase();',
  'await Promise.resolve();\nfor await (const one of [1]) one.toFixed();\nconst events = await db.openTable("orders", { namespacePath: ["shop", "eu"] });',
  '%cd ..\njoin("a", title(1));',
  'count.toFixed();',
  'db.',
  "db.openTable('', { namespacePath: ['shop', 'eu'] })",
  "events.query().where('')",
  'title(',
  "db.listTables(['shop', ''])",
  '%%sql\nselect o.n from ',
  '%%sql\nselect o. from "shop/eu".orders o where  ',
  "db.openTable('')",
] as const;

/** Waits until a result of VS Code is as expected. */
async function comes(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 50_000; !(await holds()); await new Promise((resolve) => setTimeout(resolve, 100)))
    assert.ok(Date.now() < end, `waited 50 s for ${what}`);
}

const hovers = async (document: vscode.TextDocument, position: vscode.Position): Promise<string[]> => {
  const found = await vscode.commands.executeCommand<vscode.Hover[]>(
    'vscode.executeHoverProvider',
    document.uri,
    position,
  );
  return found.flatMap(({ contents }) => contents.map((one) => (typeof one === 'string' ? one : one.value)));
};

const namesOf = (items: readonly vscode.CompletionItem[]) => items.map(({ insertText, label }) => insertText ?? label);

const isTypeScript = (label: string) => ['console', 'events', 'title', 'const', 'Map', 'db'].includes(label);

const labelText = (label: string | vscode.CompletionItemLabel) => (typeof label === 'string' ? label : label.label);

/**
 * Returns the errors and warnings of the cells without the hints. Before the extension configures TypeScript's own
 * server, that server may report a hint for a deprecated global with the name of a variable.
 */
const errorsOf = (notebook: vscode.NotebookDocument) =>
  notebook.getCells().flatMap(({ document, index }) =>
    vscode.languages
      .getDiagnostics(document.uri)
      .filter(({ severity }) => severity <= vscode.DiagnosticSeverity.Warning)
      .map(({ code, source, severity }) => [index, source, code, severity]),
  );

/** Returns how often a name is offered at the end of the first line. */
async function offers(document: vscode.TextDocument, name: string): Promise<number> {
  const list = await vscode.commands.executeCommand<vscode.CompletionList>(
    'vscode.executeCompletionItemProvider',
    document.uri,
    document.lineAt(0).range.end,
  );
  return list.items.filter(({ label, kind }) => label === name && kind !== vscode.CompletionItemKind.Text).length;
}

suite('the language of cells', () => {
  const folder = temporaryFolder();
  const catalog = temporaryFolder();
  let api: ExtensionApi;
  let notebook: vscode.NotebookDocument;

  suiteSetup(async () => {
    api = await extensionApi();
    await makeCatalog(api, catalog.path);
    await api.connections.add('language', catalog.path);
    notebook = await open('ours', 'lance-typescript', cells);
    await alone();
  });
  suiteTeardown(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    for (const one of vscode.workspace.notebookDocuments) api.kernels.session(one)?.dispose();
    await api.connections.remove('language');
    folder.remove();
    catalog.remove();
  });

  const alone = () => eventually('the language worker', () => api.language.mute.isAlone);

  async function open(name: string, kernel: string, texts: readonly string[]): Promise<vscode.NotebookDocument> {
    const file = join(folder.path, `${name}.ipynb`);
    const metadata = { lanceCatalog: { connection: 'language' } };
    writeFileSync(file, notebookText(texts, { name: kernel, display_name: kernel }, metadata));
    const opened = await vscode.workspace.openNotebookDocument(vscode.Uri.file(file));
    await vscode.window.showNotebookDocument(opened);
    return opened;
  }

  const documentOf = (index: number): vscode.TextDocument => notebook.cellAt(index).document;

  /** Returns the position after the last `text` of a cell. */
  function behind(index: number, text: string, document = documentOf(index)): vscode.Position {
    const at = document.getText().lastIndexOf(text);
    assert.ok(at >= 0, `cell ${index} has no ${text}`);
    return document.positionAt(at + text.length);
  }

  async function completions(index: number, text: string, resolve = 0): Promise<vscode.CompletionItem[]> {
    const list = await vscode.commands.executeCommand<vscode.CompletionList>(
      'vscode.executeCompletionItemProvider',
      documentOf(index).uri,
      behind(index, text),
      undefined,
      resolve,
    );
    return list.items;
  }

  test('finds every true error of cells that have not run, in the cell that has it, and no other', async () => {
    const expected = [
      [4, 'ts', 2551, vscode.DiagnosticSeverity.Error],
      [5, 'ts', 1003, vscode.DiagnosticSeverity.Error],
      [8, 'ts', 1005, vscode.DiagnosticSeverity.Error],
    ];
    // TypeScript's own server applies its configuration with a delay, and then its earlier findings disappear.
    await eventually('the errors', () => isDeepStrictEqual(errorsOf(notebook), expected)).catch(() => undefined);
    assert.deepEqual(errorsOf(notebook), expected);
  });

  test('completes `db.` once, with documentation', async () => {
    const items = await completions(5, 'db.', 100);
    const opening = items.filter(({ label }) => label === 'openTable');
    assert.equal(opening.length, 1);
    const [{ detail, documentation } = {}] = opening;
    assert.match(detail ?? '', /openTable\(name: string/);
    assert.match((documentation as vscode.MarkdownString).value, /table to read and write/i);
    assert.ok(items.length < 60, `${items.length} items`);
  });

  test('says once what a name of another cell is, with what is written about it', async () => {
    // Two TypeScript servers start. While the second one starts, the first one responds. The first one has no plugins
    // and reports that it is loading.
    await comes(
      'the end of loading',
      async () => !(await hovers(documentOf(3), behind(3, 'tit'))).join().includes('loading'),
    );
    const told = await hovers(documentOf(3), behind(3, 'tit'));
    assert.equal(told.filter((text) => text.includes('const title')).length, 1, told.join('\n'));
    assert.ok(told.some((text) => text.includes('Says what it is.')));
    assert.ok(!told.some((text) => /any/.test(text)), told.join('\n'));
  });

  test('names the parameters of a function of another cell', async () => {
    const help = await vscode.commands.executeCommand<vscode.SignatureHelp>(
      'vscode.executeSignatureHelpProvider',
      documentOf(8).uri,
      behind(8, 'title('),
    );
    assert.deepEqual(
      help.signatures.map(({ label }) => label),
      ['title(n: number): string'],
    );
  });

  test('goes to where a name is declared in another cell', async () => {
    const links = await vscode.commands.executeCommand<(vscode.Location | vscode.LocationLink)[]>(
      'vscode.executeDefinitionProvider',
      documentOf(3).uri,
      behind(3, 'tit'),
    );
    const places = links.map((one) =>
      'targetUri' in one ? [one.targetUri.toString(), one.targetRange.start.line] : [one.uri.toString()],
    );
    assert.deepEqual(places, [[documentOf(0).uri.toString(), 3]]);
  });

  test('completes tables, columns and namespaces of the catalog that the notebook uses', async () => {
    assert.deepEqual(namesOf(await completions(6, "openTable('")), ['orders']);
    assert.deepEqual(namesOf(await completions(7, "where('")), ['id', 'note', 'embedding']);
    assert.deepEqual(namesOf(await completions(9, "'shop', '")), ['eu']);
  });

  test('completes SQL with tables of all namespaces, columns and words of SQL, and no name of TypeScript', async () => {
    const tables = await completions(10, 'from ');
    const orders = tables.find(({ label }) => labelText(label) === '"shop/eu".orders');
    assert.deepEqual([orders?.insertText, orders?.filterText], ['"shop/eu".orders', 'shop.eu.orders']);
    assert.deepEqual(namesOf(await completions(11, 'select o.')), ['id', 'note', 'embedding']);
    const words = await completions(11, 'where ');
    const labels = words.map(({ label }) => labelText(label));
    for (const expected of ['id', 'note', 'o', 'count', 'not']) assert.ok(labels.includes(expected), expected);
    assert.deepEqual([...labels, ...tables.map(({ label }) => labelText(label))].filter(isTypeScript), []);
    assert.equal(words.filter(({ label }) => labelText(label) === 'id').length, 1);
  });

  test('completes the tables of all namespaces as the arguments of a call', async () => {
    const [orders] = (await completions(12, "openTable('")).filter(
      ({ label }) => labelText(label) === 'shop.eu.orders',
    );
    assert.equal(orders?.insertText, "orders', ['shop', 'eu']");
    const { end } = orders.range as vscode.Range;
    assert.equal(end.character, "db.openTable('')".length - 1);
  });

  test('leaves notebooks of other kernels and files to the editor', async () => {
    const file = vscode.Uri.file(join(folder.path, 'plain.ts'));
    writeFileSync(file.fsPath, 'const here: string = 3;\nconst used = db;\n');
    const plain = await vscode.workspace.openTextDocument(file);
    await vscode.window.showTextDocument(plain);
    const codes = () => vscode.languages.getDiagnostics(file).map(({ code }) => code);
    await eventually('the errors of the file', () => codes().length > 0);
    assert.ok(codes().includes(2322));
    assert.ok(codes().includes(2304), 'a file knows no db of a notebook');
    const other = await open('other', 'deno', ['const theirs = 1;\ntheirs', 'db']);
    const [first, second] = other.getCells().map(({ document }) => document);
    assert.ok(first && second);
    await comes('the hover of the other notebook', async () =>
      (await hovers(first, first.positionAt(8))).some((text) => text.includes('const theirs: 1')),
    );
    const told = await hovers(first, first.positionAt(8));
    assert.equal(told.filter((text) => text.includes('theirs')).length, 1, told.join('\n'));
    assert.ok(!(await hovers(second, second.positionAt(1))).some((text) => text.includes('Catalog')));
    await vscode.window.showNotebookDocument(notebook);
  });

  test('is checked again after an edit', async () => {
    const edit = new vscode.WorkspaceEdit();
    const document = documentOf(1);
    edit.replace(document.uri, new vscode.Range(0, 0, 0, document.lineAt(0).text.length), 'const count = 2;');
    await vscode.workspace.applyEdit(edit);
    await eventually('the error in the edited cell', () =>
      vscode.languages.getDiagnostics(document.uri).some(({ code }) => code === 2339 || code === 2551),
    );
    await eventually(
      'no error in the cell that was wrong',
      () => vscode.languages.getDiagnostics(documentOf(4).uri).length === 0,
    );
  });

  test('knows by the kernel what ran and is gone from the notebook', async () => {
    const run = await open('run', 'lance-typescript', ['let ranBefore = 1;', 'ranB']);
    const [first, begun] = run.getCells().map(({ document }) => document);
    assert.ok(first && begun);
    void vscode.commands.executeCommand('notebook.cell.execute', {
      ranges: [{ start: 0, end: 1 }],
      document: run.uri,
    });
    await eventually('the first cell', () => run.cellAt(0).executionSummary?.success);
    const edit = new vscode.WorkspaceEdit();
    edit.replace(first.uri, new vscode.Range(0, 0, 0, first.lineAt(0).text.length), '');
    await vscode.workspace.applyEdit(edit);
    await comes('the name that only the kernel knows', async () => (await offers(begun, 'ranBefore')) === 1);
    await vscode.window.showNotebookDocument(notebook);
  });

  test('completes in a notebook whose own cell never ends', async () => {
    const looping = await open('looping', 'lance-typescript', ['console.log("begun");\nwhile (true) {}', 'db.']);
    start(looping, 0);
    await eventually('the loop runs', () => printed(looping, 0).includes('begun'));
    assert.equal(await offers(looping.cellAt(1).document, 'openTable'), 1);
    assert.equal(looping.cellAt(0).executionSummary?.success, undefined, 'the cell runs still');
    api.kernels.session(looping)?.dispose();
    await vscode.window.showNotebookDocument(notebook);
  });

  test("is the editor's own while the worker is down, and the worker's again when it is back", async () => {
    const worker = api.language.worker.process;
    assert.ok(worker?.pid !== undefined);
    process.kill(worker.pid, 'SIGKILL');
    await eventually('the end of the worker', () => !api.language.mute.isAlone);
    await comes('the editor to answer', async () =>
      (await completions(5, 'db.')).some(({ label }) => label === 'openTable'),
    );
    await alone();
    assert.notEqual(api.language.worker.process?.pid, worker.pid);
    assert.equal((await completions(5, 'db.')).filter(({ label }) => label === 'openTable').length, 1);
  });
});
