import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import { tableFromIPC } from '#arrow';
import { findNode } from '#processes/childProcess.ts';
import { KernelProcess } from '#processes/kernelProcess.ts';
import type { KernelOutput } from '#shared/protocol/kernelMessages.ts';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { extensionApi, failuresOf, repository, run, temporaryFolder } from '../support.ts';

type Output = { items: { mime: string; data: Uint8Array }[]; metadata?: unknown };
type Content = { data?: object; metadata?: unknown; ename?: string; evalue?: string };
type StandIn = { standIn: { setKernel(uri: vscode.Uri, kernel: unknown): void; clear(): void } };

const bytes = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value));
const errorMime = 'application/vnd.code.notebook.error';

/** Returns the content of a Jupyter message in the form that the Jupyter extension passes to other extensions. */
function outputOf(content: Content): Output {
  if (!content.data)
    return { items: [{ mime: errorMime, data: bytes({ name: content.ename, message: content.evalue }) }] };
  return {
    items: Object.entries(content.data).map(([mime, value]) => ({ mime, data: bytes(value) })),
    metadata: { outputType: 'display_data', metadata: content.metadata },
  };
}

/**
 * Returns a kernel that runs `before` and then the received code, in a real IPython.
 * @param names receives the names of the user's variables after the code has run
 */
function pythonKernel(before: string, names: string[] = []): unknown {
  const python = join(repository, '.toolchain/python/bin/python');
  assert.ok(existsSync(python), `${python} is missing: run "npm test -- kernel", which installs it`);
  return {
    language: 'python',
    status: 'idle',
    async *executeCode(code: string): AsyncGenerator<Output> {
      const script = join(repository, 'test/fixtures/runInIpython.py');
      const options = { maxBuffer: 64 * 1024 * 1024, timeout: 60_000 };
      const { stdout } = await promisify(execFile)(python, [script, before, code], options);
      const messages = stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Content & { names?: string[] });
      // Read the names first, because the reader of the outputs may stop at an error.
      for (const message of messages) names.push(...(message.names ?? []));
      for (const message of messages) if (!message.names) yield outputOf(message);
    },
  };
}

// The Jupyter extension is a stand-in (test/fixtures/extensions/jupyterStandIn). Its kernels are real.
suite('preview from a running kernel', () => {
  const folder = temporaryFolder();
  const signal = new AbortController().signal;
  let api: ExtensionApi;
  let standIn: StandIn['standIn'];
  let notebook: vscode.NotebookDocument;

  suiteSetup(async () => {
    api = await extensionApi();
    const jupyter = vscode.extensions.getExtension<StandIn>('ms-toolsai.jupyter');
    assert.ok(jupyter, 'the stand-in of the Jupyter extension is installed');
    ({ standIn } = await jupyter.activate());
    const file = join(folder.path, 'theirs.ipynb');
    writeFileSync(file, '{"cells":[],"metadata":{"language_info":{"name":"python"}},"nbformat":4,"nbformat_minor":5}');
    notebook = await vscode.workspace.openNotebookDocument(vscode.Uri.file(file));
  });
  setup(() => vscode.window.showNotebookDocument(notebook));
  teardown(async () => {
    standIn.clear();
    api.panels.dispose();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });
  suiteTeardown(() => folder.remove());

  test('shows a table of a Python kernel, page by page', async () => {
    const before =
      'import pyarrow as pa\nt = pa.table({"id": list(range(1200)), "name": [f"n{i}" for i in range(1200)]})';
    standIn.setKernel(notebook.uri, pythonKernel(before));
    await run('lanceCatalog.jupyter.preview', 't');
    const [panel] = api.panels.all;
    assert.ok(panel);
    const table = await panel.table;
    assert.equal(table.numRows, 1200);
    assert.deepEqual(
      table.columns.map(({ name, type }) => [name, type]),
      [
        ['id', 'int64'],
        ['name', 'utf8'],
      ],
    );
    const rows = tableFromIPC(await panel.rows(1000, 1200, signal));
    assert.equal(rows.numRows, 200);
    assert.equal(rows.getChild('name')?.get(199), 'n1199');
  });

  test('shows rows of a Python list as a table', async () => {
    standIn.setKernel(notebook.uri, pythonKernel('rows = [{"a": 1}, {"a": 2}]'));
    await run('lanceCatalog.jupyter.preview', 'rows');
    const [panel] = api.panels.all;
    assert.ok(panel);
    assert.equal((await panel.table).numRows, 2);
  });

  test('leaves nothing behind when a Python variable is no table, and shows no panel', async () => {
    const names: string[] = [];
    standIn.setKernel(notebook.uri, pythonKernel('n = 1', names));
    const told = await failuresOf(() => run('lanceCatalog.jupyter.preview', 'n'));
    assert.equal(told.length, 1);
    assert.match(told[0] ?? '', /Can't show "n": TypeError: n is a int, not a table/);
    assert.deepEqual(api.panels.all, []);
    assert.deepEqual(names, ['n']);
  });

  test('shows a table of a TypeScript kernel', async () => {
    const kernel = await KernelProcess.start({
      entry: join(repository, 'dist/kernel.cjs'),
      node: await findNode(),
      cwd: folder.path,
      catalog: null,
    });
    try {
      await kernel.execute(
        'const t = arrow.tableFromArrays({ id: Int32Array.from({ length: 700 }, (_, i) => i) })',
        () => {},
      );
      standIn.setKernel(notebook.uri, {
        language: 'typescript',
        status: 'idle',
        async *executeCode(code: string): AsyncGenerator<Output> {
          const outputs: KernelOutput[] = [];
          await kernel.execute(code, (output) => outputs.push(output));
          for (const { type, content } of outputs) {
            if (type === 'display_data' || type === 'execute_result' || type === 'error') yield outputOf(content);
          }
        },
      });
      await run('lanceCatalog.jupyter.preview', 't');
      const [panel] = api.panels.all;
      assert.ok(panel);
      assert.equal((await panel.table).numRows, 700);
      assert.equal(
        tableFromIPC(await panel.rows(500, 700, signal))
          .getChild('id')
          ?.get(199),
        699,
      );
    } finally {
      await kernel.shutdown();
    }
  });

  test('says so when no kernel runs', async () => {
    assert.deepEqual(await failuresOf(() => run('lanceCatalog.jupyter.preview', 't')), [
      'This notebook has no running Jupyter kernel. Choose a Jupyter kernel and run a cell first.',
    ]);
    assert.deepEqual(api.panels.all, []);
  });
});
