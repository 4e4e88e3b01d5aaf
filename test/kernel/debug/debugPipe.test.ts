import assert from 'node:assert/strict';
import { existsSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { type AttachedKernel, KernelProcess } from '#processes/kernelProcess.ts';
import { isCatalogError } from '#shared/errors.ts';
import type { DebugEvent, DebugResponse } from '#shared/protocol/debugMessages.ts';
import { isRecord } from '#shared/records.ts';
import { tempFolder } from '../../harness/temp.ts';
import { kernelEntry, node, until } from '../support.ts';

type Body = Record<string, unknown>;

// All tests use one kernel. Like a kernel of VS Code, it waits for a later client after its client has left.
suite('The debugger over the pipe', function () {
  this.timeout(60_000);
  let kernel: KernelProcess;
  let folder: string;
  /** All messages of the debugger, in order. */
  let said: (DebugEvent | DebugResponse)[] = [];

  const listen = (): void => void kernel.onDebugEvent((event) => said.push(event));

  suiteSetup(async () => {
    folder = mkdtempSync(join(tempFolder(), 'k'));
    const keep = { folder, seconds: 30, editor: process.pid };
    kernel = await KernelProcess.start({ entry: kernelEntry, node, cwd: tempFolder(), catalog: null, keep });
    await until('the socket', () => existsSync(join(folder, 'kernel.json')));
    listen();
  });
  suiteTeardown(() => kernel.shutdown());

  /** Attaches again. Retries, because the kernel may not have noticed yet that the earlier client has disconnected. */
  async function comeBack(): Promise<AttachedKernel> {
    for (;;) {
      try {
        return await KernelProcess.attach(folder);
      } catch (error) {
        if (isCatalogError(error, 'ServiceUnavailable')) throw error;
      }
    }
  }

  async function ask(command: string, given: Body = {}): Promise<Body> {
    const request = { seq: 1, type: 'request', command, arguments: given } as const;
    const { success, message, body } = await kernel.debug(request, (response) => said.push(response));
    assert.ok(success, `${command}: ${message}`);
    return isRecord(body) ? body : {};
  }

  /** Attaches, and sets breakpoints at lines of a cell that has not run yet. */
  async function attach(code: string, ...lines: number[]): Promise<void> {
    said = [];
    await ask('initialize', { adapterID: 'test', linesStartAt1: true, columnsStartAt1: true });
    await ask('attach');
    const { sourcePath: path } = await ask('dumpCell', { code });
    await ask('setBreakpoints', { source: { path }, breakpoints: lines.map((line) => ({ line })) });
    await ask('configurationDone');
  }

  const stops = (): number => said.filter((one) => one.type === 'event' && one.event === 'stopped').length;

  test('answers every request before it tells what came of it', async () => {
    const code = 'let first = 1;\nlet second = 2;\nfirst + second';
    await attach(code, 2);
    const reply = kernel.execute(code, () => {});
    await until('the breakpoint', () => stops() === 1);
    await ask('next', { threadId: 1 });
    await until('the next line', () => stops() === 2);
    const order = said.flatMap((one) => (one.type === 'event' ? [one.event] : [one.command]));
    assert.ok(order.indexOf('next') < order.lastIndexOf('stopped'), order.join(' '));
    await ask('continue', { threadId: 1 });
    assert.equal((await reply).status, 'ok');
    await ask('disconnect');
  });

  test('says in its answer why a request fails', async () => {
    const request = { seq: 5, type: 'request', command: 'noSuchThing' } as const;
    const { success, message, request_seq: of } = await kernel.debug(request, () => {});
    assert.deepEqual({ success, of }, { success: false, of: 5 });
    assert.match(message ?? '', /noSuchThing/);
  });

  test('lets a cell go on whose debugger went away while it stood still', async () => {
    const code = 'let kept = 41;\nkept += 1;\nkept';
    await attach(code, 2);
    kernel.execute(code, () => {}, { cell: { index: 0 } }).catch(() => undefined);
    await until('the breakpoint', () => stops() === 1);
    kernel.leave();
    const attached = await comeBack();
    kernel = attached.kernel;
    listen();
    const run = attached.runs.at(-1);
    assert.ok(run);
    const { status } = run.ended ? { status: 'ok' } : await kernel.resume(run.id, () => {});
    assert.equal(status, 'ok');
    await attach(code, 2);
    const again = kernel.execute(code, () => {});
    await until('the breakpoint of the next client', () => stops() === 1);
    await ask('disconnect');
    assert.equal((await again).status, 'ok');
  });
});
