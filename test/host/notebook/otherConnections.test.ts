import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { type CompanyServer, key, startServer } from '../catalog/server.ts';
import { PersonStandIn } from '../person.ts';
import { extensionApi, makeCatalog, temporaryFolder } from '../support.ts';
import { closeNotebooks, execute, items, notebookText, textOf } from './notebookCells.ts';

const countIn = (connection: string): string => `%%sql\nselect count(*) as rows from ${connection}."shop/eu".orders`;

const shownBy = (notebook: vscode.NotebookDocument, index: number): string =>
  items(notebook, index)
    .map(({ data }) => textOf(data))
    .join('\n');

// A query may name a connection that was not chosen for its notebook. Code of the notebook gets the key of a server with
// its connection, so the window asks first.
suite('a notebook whose query names another connection', () => {
  const catalog = temporaryFolder();
  const folder = temporaryFolder();
  let api: ExtensionApi;
  let server: CompanyServer;
  let count = 0;

  suiteSetup(async () => {
    api = await extensionApi();
    await makeCatalog(api, catalog.path);
    server = await startServer(catalog.path);
    await api.connections.add('local', catalog.path);
    await api.connections.add('other', catalog.path);
    await api.connections.addServer({ name: 'company', uri: server.address, secrets: { apiKey: key } });
  });
  teardown(() => closeNotebooks(api));
  suiteTeardown(async () => {
    for (const name of ['local', 'other', 'company']) await api.connections.remove(name);
    await server.stop();
    catalog.remove();
    folder.remove();
  });

  /** Opens a notebook on the connection `local`. */
  async function open(...cells: string[]): Promise<vscode.NotebookDocument> {
    const file = join(folder.path, `other${count++}.ipynb`);
    writeFileSync(file, notebookText(cells, undefined, { lanceCatalog: { connection: 'local' } }));
    const notebook = await vscode.workspace.openNotebookDocument(vscode.Uri.file(file));
    await vscode.window.showNotebookDocument(notebook);
    return notebook;
  }

  test('is asked for before it gets a server, and the answer holds for the notebook', async () => {
    const notebook = await open(countIn('company'), countIn('company'));
    const person = new PersonStandIn({ chooses: ['Allow'] });
    await person.during(async () => {
      assert.equal(await execute(notebook, 0), true, shownBy(notebook, 0));
      assert.equal(await execute(notebook, 1), true, shownBy(notebook, 1));
    });
    assert.deepEqual(person.questions, [
      {
        message: 'Let other0.ipynb use the connection "company"?',
        detail: 'A query in the notebook names this server. Code of the notebook can then use its API key.',
        choices: ['Allow'],
        isModal: true,
      },
    ]);
    assert.match(shownBy(notebook, 1), /1200/);
  });

  test('gets no server that the user refuses, is told so, and is asked for again', async () => {
    const notebook = await open(countIn('company'));
    const refuses = new PersonStandIn({ chooses: [undefined] });
    await refuses.during(async () => assert.equal(await execute(notebook, 0), false));
    assert.match(shownBy(notebook, 0), /You did not allow the notebook to use \\?"company\\?"/);
    assert.doesNotMatch(shownBy(notebook, 0), new RegExp(key));
    const agrees = new PersonStandIn({ chooses: ['Allow'] });
    await agrees.during(async () => assert.equal(await execute(notebook, 0), true, shownBy(notebook, 0)));
    assert.equal(agrees.questions.length, 1);
  });

  test('is asked for in each notebook separately', async () => {
    const notebook = await open(countIn('company'));
    const person = new PersonStandIn({ chooses: ['Allow'] });
    await person.during(async () => assert.equal(await execute(notebook, 0), true, shownBy(notebook, 0)));
    assert.match(person.questions[0]?.message ?? '', /^Let other2\.ipynb use/);
  });

  test('gets a directory without a question, because it has no key', async () => {
    const notebook = await open(countIn('other'));
    const person = new PersonStandIn({});
    await person.during(async () => assert.equal(await execute(notebook, 0), true, shownBy(notebook, 0)));
    assert.deepEqual(person.questions, []);
  });
});
