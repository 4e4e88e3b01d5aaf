import assert from 'node:assert/strict';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { isRecord } from '#shared/records.ts';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { isRunning } from '../../harness/running.ts';
import { eventually, extensionApi, failuresOf, run, temporaryFolder } from '../support.ts';
import { breakAt, ended, filtersIn, setVariable, stackOf, type Stop, variablesOf } from './debugSupport.ts';
import { closeNotebooks, execute, item, openCells, printed } from './notebookCells.ts';

const type = 'lance-catalog-notebook';
const errorMime = 'application/vnd.code.notebook.error';

/** Whether a session's name belongs to a cell of the notebook. */
const isOf = (name: string, { uri }: vscode.NotebookDocument): boolean =>
  name.startsWith(uri.path.slice(uri.path.lastIndexOf('/') + 1));

suite('debugging a cell', function () {
  // On a busy machine, a test waits for half a minute several times.
  this.timeout(180_000);
  const folder = temporaryFolder();
  const stops: Stop[] = [];
  /** Output of the debug console, and the kinds of exceptions at which VS Code offers to stop. */
  const logged: unknown[] = [];
  let offered: unknown[] = [];
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
            if (!isRecord(message) || !isRecord(message['body'])) return;
            const { event, command, body } = message;
            if (event === 'stopped') stops.push({ session, reason: body['reason'] });
            if (event === 'output') logged.push(body['output']);
            if (command === 'initialize') offered = filtersIn(body['exceptionBreakpointFilters']);
          },
        }),
      }),
    );
  });
  teardown(async () => {
    await vscode.debug.stopDebugging();
    vscode.debug.removeBreakpoints(vscode.debug.breakpoints);
    await closeNotebooks(api);
    await eventually('the end of all debugging', () => sessions.size === 0);
    stops.length = logged.length = 0;
  });
  suiteTeardown(() => {
    for (const one of watching) one.dispose();
    folder.remove();
  });

  const open = (...cells: string[]): Promise<vscode.NotebookDocument> =>
    openCells(join(folder.path, `d${count++}.ipynb`), ...cells);

  /** Waits until debugging pauses for the n-th time in a test. */
  const stopped = (n = 1): Promise<Stop> => eventually(`stop ${n}`, () => stops[n - 1]);

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

  test('stops only where a condition is true, evaluates and assigns there, and is not begun twice in a notebook', async () => {
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
    assert.deepEqual(told, ['A cell of this notebook is being debugged. Finish or stop debugging that cell first.']);
    await setVariable(stop, 'total', '40');
    await stop.session.customRequest('continue', { threadId: 1 });
    assert.ok(await ended(notebook, 0));
    assert.match(printed(notebook, 0), /sum 43/);
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

  test('runs the cell again when debugging is restarted', async () => {
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
    // Dispose the session now. VS Code would do this some time after the last tab of the notebook is closed.
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

  test('keeps the breakpoints of cells with the same text apart', async () => {
    const same = 'let x = 1;\nx++;\nx';
    const notebook = await open(same, same);
    breakAt(notebook.cellAt(0), 2);
    breakAt(notebook.cellAt(1), 3);
    for (const [index, line] of [2, 3].entries()) {
      await run('lanceCatalog.notebook.debugCell', notebook.cellAt(index));
      const stop = await stopped(index + 1);
      const [top] = await stackOf(stop);
      assert.deepEqual([top?.line, top?.source?.path], [line, notebook.cellAt(index).document.uri.toString()]);
      await stop.session.customRequest('continue', { threadId: 1 });
      assert.ok(await ended(notebook, index));
      await isOver(notebook);
    }
    assert.equal(stops.length, 2);
  });

  test('stops at exceptions by the filters that it offers, and prints at log points without a stop', async () => {
    const notebook = await open(
      'let begun = 1;\nfor (let i = 1; i <= 6; i++) {\n  begun += i;\n}\ntry {\n  throw new Error("caught");\n} catch {}\nthrow new TypeError("loose");',
    );
    breakAt(notebook.cellAt(0), 1);
    const location = new vscode.Location(notebook.cellAt(0).document.uri, new vscode.Position(2, 0));
    const logPoint = new vscode.SourceBreakpoint(location, true, undefined, '% 3', 'i is {i}');
    vscode.debug.addBreakpoints([logPoint]);
    await run('lanceCatalog.notebook.debugCell', notebook.cellAt(0));
    const stop = await stopped();
    assert.deepEqual(offered, ['all', 'uncaught']);
    const { session } = stop;
    await session.customRequest('setExceptionBreakpoints', { filters: ['all'] });
    await session.customRequest('continue', { threadId: 1 });
    const caught = await stopped(2);
    assert.deepEqual([caught.reason, (await stackOf(caught))[0]?.line], ['exception', 6]);
    assert.deepEqual(logged, ['i is 3\n', 'i is 6\n']);
    await session.customRequest('setExceptionBreakpoints', { filters: ['uncaught'] });
    await session.customRequest('continue', { threadId: 1 });
    const loose = await stopped(3);
    assert.deepEqual([loose.reason, (await stackOf(loose))[0]?.line], ['exception', 8]);
    const { exceptionId } = (await session.customRequest('exceptionInfo', { threadId: 1 })) as { exceptionId: string };
    assert.equal(exceptionId, 'TypeError');
    await session.customRequest('continue', { threadId: 1 });
    assert.equal(await ended(notebook, 0), false);
    await isOver(notebook);
  });

  const pidOf = async (notebook: vscode.NotebookDocument): Promise<number> => {
    const kernel = await api.kernels.session(notebook)?.kernel;
    assert.ok(kernel);
    return kernel.handshake.pid;
  };
});
