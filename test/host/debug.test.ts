import assert from 'node:assert/strict';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { isRecord } from '#shared/records.ts';
import type { ExtensionApi } from '../../extension/extension.ts';
import { isRunning } from '../harness/running.ts';
import { execute, item, openCells, printed } from './notebookCells.ts';
import { eventually, extensionApi, failuresOf, run, temporaryFolder } from './support.ts';

const type = 'lance-catalog-notebook';
const errorMime = 'application/vnd.code.notebook.error';

type Stop = { session: vscode.DebugSession; reason: unknown };
type Frame = { id: number; name: string; line: number; source?: { name: string; path: string } };

/** Sets a breakpoint. Lines count from 1. */
function breakAt(cell: vscode.NotebookCell, line: number, condition?: string): void {
  const location = new vscode.Location(cell.document.uri, new vscode.Position(line - 1, 0));
  vscode.debug.addBreakpoints([new vscode.SourceBreakpoint(location, true, condition)]);
}

/** Whether a session's name is of a cell of the notebook. */
const isOf = (name: string, { uri }: vscode.NotebookDocument): boolean =>
  name.startsWith(uri.path.slice(uri.path.lastIndexOf('/') + 1));

/** Waits until a cell has ended that ran for the first time. The editor notes no times of one that stood still. */
async function ended(notebook: vscode.NotebookDocument, index: number): Promise<boolean> {
  const cell = notebook.cellAt(index);
  await eventually(`the end of cell ${index}`, () => cell.executionSummary?.success !== undefined);
  // The last outputs may be on their way still.
  await new Promise((resolve) => setTimeout(resolve, 100));
  return cell.executionSummary?.success === true;
}

suite('debugging a cell', function () {
  // Several waits of half a minute each, on a machine that does much else.
  this.timeout(180_000);
  const folder = temporaryFolder();
  const stops: Stop[] = [];
  const sessions = new Set<vscode.DebugSession>();
  const watching: vscode.Disposable[] = [];
  let api: ExtensionApi;
  let count = 0;

  suiteSetup(async () => {
    api = await extensionApi();
    watching.push(
      vscode.debug.onDidStartDebugSession((session) => sessions.add(session)),
      vscode.debug.onDidTerminateDebugSession((session) => sessions.delete(session)),
      vscode.debug.registerDebugAdapterTrackerFactory(type, {
        createDebugAdapterTracker: (session) => ({
          onDidSendMessage: (message: unknown) => {
            if (!isRecord(message) || message['event'] !== 'stopped' || !isRecord(message['body'])) return;
            stops.push({ session, reason: message['body']['reason'] });
          },
        }),
      }),
    );
  });
  teardown(async () => {
    await vscode.debug.stopDebugging();
    vscode.debug.removeBreakpoints(vscode.debug.breakpoints);
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    for (const notebook of vscode.workspace.notebookDocuments) api.kernels.session(notebook)?.dispose();
    await eventually('the end of all debugging', () => sessions.size === 0);
    stops.length = 0;
  });
  suiteTeardown(() => {
    for (const one of watching) one.dispose();
    folder.remove();
  });

  const open = (...cells: string[]): Promise<vscode.NotebookDocument> =>
    openCells(join(folder.path, `d${count++}.ipynb`), ...cells);

  /** Waits until debugging stands still the n-th time in a test. */
  const stopped = (n = 1): Promise<Stop> => eventually(`stop ${n}`, () => stops[n - 1]);

  async function stackOf({ session }: Stop): Promise<Frame[]> {
    const { stackFrames } = (await session.customRequest('stackTrace', { threadId: 1 })) as { stackFrames: Frame[] };
    return stackFrames;
  }

  /** Variables of the top frame by name, of its scopes but the global one. */
  async function variablesOf(stop: Stop): Promise<Record<string, string>> {
    const [frame] = await stackOf(stop);
    type Scope = { variablesReference: number; expensive?: boolean };
    const { scopes } = (await stop.session.customRequest('scopes', { frameId: frame?.id })) as { scopes: Scope[] };
    const found: Record<string, string> = {};
    for (const { variablesReference } of scopes.filter(({ expensive }) => expensive !== true).toReversed()) {
      type Variables = { variables: { name: string; value: string }[] };
      const { variables } = (await stop.session.customRequest('variables', { variablesReference })) as Variables;
      for (const { name, value } of variables) found[name] = value;
    }
    return found;
  }

  const isOver = (notebook: vscode.NotebookDocument): Promise<true> =>
    eventually(
      `the end of debugging ${notebook.uri.path}`,
      () => ![...sessions].some(({ name }) => isOf(name, notebook)),
    );

  const sums = 'let total = 0;\nfor (const n of [1, 2, 3]) {\n  total += n;\n}\nconsole.log("sum", total);';

  test('stops at a breakpoint, knows variables by name, steps by lines, and lets the cell end', async () => {
    const notebook = await open(sums, 'total');
    breakAt(notebook.cellAt(0), 3);
    await run('lanceCatalog.notebook.debugCell', notebook.cellAt(0));
    const stop = await stopped();
    assert.equal(stop.reason, 'breakpoint');
    const [top] = await stackOf(stop);
    assert.equal(top?.line, 3);
    assert.equal(top.source?.name, 'd0.ipynb, cell 1');
    assert.equal(top.source.path, notebook.cellAt(0).document.uri.toString());
    const { total, n } = await variablesOf(stop);
    assert.deepEqual({ total, n }, { total: '0', n: '1' });
    await stop.session.customRequest('next', { threadId: 1 });
    const [next] = await stackOf(await stopped(2));
    assert.equal(next?.line, 2);
    assert.equal((await variablesOf(stop))['total'], '1');
    vscode.debug.removeBreakpoints(vscode.debug.breakpoints);
    await stop.session.customRequest('continue', { threadId: 1 });
    assert.ok(await ended(notebook, 0));
    assert.match(printed(notebook, 0), /sum 6/);
    await isOver(notebook);
    assert.ok(await execute(notebook, 1));
    assert.equal(item(notebook, 1, 'text/plain'), '6');
  });

  test('stops only where a condition is true, evaluates there, and is not begun twice in a notebook', async () => {
    const notebook = await open(sums, '1 + 1');
    breakAt(notebook.cellAt(0), 3, 'n === 3');
    await run('lanceCatalog.notebook.debugCell', notebook.cellAt(0));
    const stop = await stopped();
    const { total, n } = await variablesOf(stop);
    assert.deepEqual({ total, n }, { total: '3', n: '3' });
    const [frame] = await stackOf(stop);
    for (const context of ['repl', 'watch', 'hover']) {
      const given = { expression: 'total + n', frameId: frame?.id, context };
      const { result } = (await stop.session.customRequest('evaluate', given)) as { result: string };
      assert.equal(result, '6', context);
    }
    const told = await failuresOf(() => run('lanceCatalog.notebook.debugCell', notebook.cellAt(1)));
    assert.deepEqual(told, ['A cell of this notebook is being debugged. Continue or stop that first.']);
  });

  test('names the other cell that a call leads into, and lets all go on when it is disconnected', async () => {
    const notebook = await open('function twice(x: number) {\n  return x * 2;\n}', 'twice(21)');
    assert.ok(await execute(notebook, 0));
    breakAt(notebook.cellAt(0), 2);
    await run('lanceCatalog.notebook.debugCell', notebook.cellAt(1));
    const stack = await stackOf(await stopped());
    assert.deepEqual(
      stack.slice(0, 2).map(({ line, source }) => [source?.path, line]),
      [
        [notebook.cellAt(0).document.uri.toString(), 2],
        [notebook.cellAt(1).document.uri.toString(), 1],
      ],
    );
    await vscode.commands.executeCommand('workbench.action.debug.disconnect');
    assert.ok(await ended(notebook, 1));
    assert.equal(item(notebook, 1, 'text/plain'), '42');
    await isOver(notebook);
  });

  test('ends the cell when debugging is stopped, and keeps the kernel', async () => {
    const notebook = await open('let kept = 7;\nkept++;\nconsole.log("not reached");', 'kept');
    breakAt(notebook.cellAt(0), 3);
    await run('lanceCatalog.notebook.debugCell', notebook.cellAt(0));
    await stopped();
    await vscode.commands.executeCommand('workbench.action.debug.stop');
    assert.equal(await ended(notebook, 0), false);
    assert.equal(printed(notebook, 0), '');
    assert.ok(await execute(notebook, 1));
    assert.equal(item(notebook, 1, 'text/plain'), '8');
  });

  test('begins the cell anew when debugging is restarted', async () => {
    const notebook = await open('let runs = 0;\nruns++;\nruns');
    breakAt(notebook.cellAt(0), 2);
    await run('lanceCatalog.notebook.debugCell', notebook.cellAt(0));
    await stopped();
    await vscode.commands.executeCommand('workbench.action.debug.restart');
    const again = await stopped(2);
    assert.equal((await stackOf(again))[0]?.line, 2);
    await again.session.customRequest('continue', { threadId: 1 });
    assert.ok(await ended(notebook, 0));
    assert.equal(item(notebook, 0, 'text/plain'), '1');
  });

  test('ends with the cell that is interrupted while it stands still', async () => {
    const notebook = await open('let kept = 7;\nkept++;\nconsole.log("not reached");', 'kept');
    breakAt(notebook.cellAt(0), 3);
    await run('lanceCatalog.notebook.debugCell', notebook.cellAt(0));
    await stopped();
    const ranges = [{ start: 0, end: 1 }];
    await vscode.commands.executeCommand('notebook.cancelExecution', { ranges, document: notebook.uri });
    assert.equal(await ended(notebook, 0), false);
    await isOver(notebook);
    assert.ok(await execute(notebook, 1));
    assert.equal(item(notebook, 1, 'text/plain'), '8');
  });

  test('ends with a kernel that is restarted while its cell stands still', async () => {
    const notebook = await open('const gone = 1;\ngone', 'typeof (globalThis as { gone?: unknown }).gone');
    breakAt(notebook.cellAt(0), 2);
    await run('lanceCatalog.notebook.debugCell', notebook.cellAt(0));
    await stopped();
    const pid = await pidOf(notebook);
    await run('lanceCatalog.notebook.restartKernel');
    await isOver(notebook);
    assert.equal(await ended(notebook, 0), false);
    await eventually('the end of the kernel', () => !isRunning(pid));
    assert.ok(await execute(notebook, 1));
    assert.match(item(notebook, 1, 'text/plain') ?? '', /undefined/);
  });

  test('ends with a notebook that is closed while its cell stands still, and leaves no kernel', async () => {
    const notebook = await open('const gone = 1;\ngone');
    breakAt(notebook.cellAt(0), 2);
    await run('lanceCatalog.notebook.debugCell', notebook.cellAt(0));
    await stopped();
    const pid = await pidOf(notebook);
    // What the editor does some time after the last tab of the notebook is closed.
    api.kernels.session(notebook)?.dispose();
    await isOver(notebook);
    await eventually('the end of the kernel', () => !isRunning(pid));
  });

  test('stands still in two notebooks at once, each with its own variables', async () => {
    const first = await open('const mine = "first";\nmine');
    const second = await open('const mine = "second";\nmine');
    for (const notebook of [first, second]) breakAt(notebook.cellAt(0), 2);
    await run('lanceCatalog.notebook.debugCell', first.cellAt(0));
    await stopped();
    await run('lanceCatalog.notebook.debugCell', second.cellAt(0));
    await stopped(2);
    for (const [stop, notebook] of [
      [await stopped(1), first],
      [await stopped(2), second],
    ] as const) {
      const [top] = await stackOf(stop);
      assert.equal(top?.source?.path, notebook.cellAt(0).document.uri.toString());
      assert.match((await variablesOf(stop))['mine'] ?? '', notebook === first ? /first/ : /second/);
      await stop.session.customRequest('continue', { threadId: 1 });
      assert.ok(await ended(notebook, 0));
    }
  });

  test('ends by itself after a cell that never stops, also one that fails', async () => {
    const notebook = await open('40 + 2', 'throw new Error("as it should")');
    await run('lanceCatalog.notebook.debugCell', notebook.cellAt(0));
    assert.ok(await ended(notebook, 0));
    await isOver(notebook);
    await run('lanceCatalog.notebook.debugCell', notebook.cellAt(1));
    assert.equal(await ended(notebook, 1), false);
    assert.match(item(notebook, 1, errorMime) ?? '', /as it should/);
    await isOver(notebook);
  });

  const pidOf = async (notebook: vscode.NotebookDocument): Promise<number> => {
    const kernel = await api.kernels.session(notebook)?.kernel;
    assert.ok(kernel);
    return kernel.handshake.pid;
  };
});
