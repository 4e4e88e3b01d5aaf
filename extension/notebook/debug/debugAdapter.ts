import * as vscode from 'vscode';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import {
  isDebugRequest,
  type DebugEvent,
  type DebugRequest,
  type DebugResponse,
} from '#shared/protocol/debugMessages.ts';
import { messageOf } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import { cellNamed, cellScheme, DebugSources, withSources, type Source } from './debugSources.ts';
import type { NotebookSession } from '../session.ts';

/** The `seq` of requests that this adapter itself sends to the kernel. VS Code does not see these requests. */
const ownSeq = 0;

/**
 * Passes messages of the Debug Adapter Protocol between VS Code and the kernel of one notebook, and translates the
 * kernel's paths of code to cells. Debugging starts and ends with the run of a cell. The kernel continues afterwards.
 */
export class NotebookDebugAdapter implements vscode.DebugAdapter {
  readonly #session: NotebookSession;
  readonly #cell: vscode.NotebookCell;
  readonly #sources = new DebugSources();
  readonly #sent = new vscode.EventEmitter<vscode.DebugProtocolMessage>();
  readonly onDidSendMessage = this.#sent.event;
  readonly #subscriptions: { dispose(): void }[] = [this.#sent];
  #kernel: KernelProcess | undefined;
  #seq = 0;
  #before: Promise<unknown> = Promise.resolve();
  #hasEnded = false;
  #hasLeft = false;

  constructor(session: NotebookSession, cell: vscode.NotebookCell) {
    this.#session = session;
    this.#cell = cell;
  }

  get notebook(): vscode.NotebookDocument {
    return this.#session.notebook;
  }

  /** Whether debugging has ended; VS Code may still send requests for cleanup. */
  get isOver(): boolean {
    return this.#hasEnded || this.#hasLeft;
  }

  handleMessage(message: vscode.DebugProtocolMessage): void {
    // VS Code sends only requests. It sends no responses, because the kernel sends no requests to VS Code.
    if (!isDebugRequest(message)) return;
    // Keep the order of requests. A later request must not overtake a request that first needs information from the
    // kernel. A "continue" must not overtake the "setBreakpoints" that removes breakpoints.
    const prepared = this.#before.then(() => this.#prepare(message));
    const answered = this.#answer(message, prepared);
    this.#before = message.command === 'setBreakpoints' ? answered : prepared.catch(() => undefined);
  }

  /** Called when VS Code no longer needs this adapter, for any reason. */
  dispose(): void {
    if (this.#kernel?.isAlive && !this.#hasLeft) void this.#leave({}).catch(() => undefined);
    this.#hasEnded = true;
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  async #prepare(request: DebugRequest): Promise<DebugRequest> {
    const { command, arguments: given = {} } = request;
    if (command === 'initialize') await this.#connect();
    if (command === 'attach') await this.#learn();
    const source = isRecord(given['source']) ? given['source'] : {};
    if (command === 'setBreakpoints') {
      const cell = this.#cellOf(source);
      return cell ? withPath(request, await this.#pathOf(cell), cellData(cell)) : request;
    }
    const path = command === 'source' ? this.#sources.pathOf(given['sourceReference']) : undefined;
    return path === undefined ? request : withPath(request, path);
  }

  async #answer(asked: DebugRequest, prepared: Promise<DebugRequest>): Promise<void> {
    const { command, arguments: given = {} } = asked;
    try {
      const request = await prepared;
      switch (command) {
        case 'initialize':
          return await this.#pass(request, (body) => ({ ...body, ...ownCapabilities }));
        case 'setBreakpoints':
          return request === asked && isCellSource(given['source'])
            ? this.#reply(asked, unverified(given['breakpoints']))
            : await this.#pass(request, withoutColumns);
        case 'configurationDone':
          await this.#pass(request);
          return void this.#run();
        case 'disconnect':
          await this.#leave(given);
          return this.#reply(asked, {});
        default:
          return await this.#pass(request);
      }
    } catch (error) {
      this.#fail(asked, messageOf(error));
    }
  }

  #fail({ seq, command }: DebugRequest, format: string): void {
    // VS Code's views show later failures.
    const showUser = command === 'initialize' || command === 'attach';
    const body = { error: { id: 1, format, showUser } };
    this.#send({ type: 'response', request_seq: seq, command, success: false, message: format, body });
  }

  async #connect(): Promise<void> {
    this.#session.warm();
    const kernel = await this.#session.kernel;
    if (!kernel) throw new Error("Can't debug the cell: the kernel did not start. Run a cell to see why.");
    this.#kernel = kernel;
    this.#subscriptions.push(
      kernel.onDebugEvent((event) => this.#passEvent(event)),
      kernel.onDidExit(() => this.#end()),
    );
  }

  /** Asks the kernel for the path of each cell, before execution pauses. */
  async #learn(): Promise<void> {
    const info = await this.#ask('debugInfo');
    if (typeof info['tmpFilePrefix'] === 'string') this.#sources.setPrefix(info['tmpFilePrefix']);
    const cells = this.notebook.getCells().filter(({ kind }) => kind === vscode.NotebookCellKind.Code);
    await Promise.all(cells.map((cell) => this.#pathOf(cell)));
  }

  async #pathOf(cell: vscode.NotebookCell): Promise<string> {
    const { sourcePath } = await this.#ask('dumpCell', { code: cell.document.getText() });
    if (typeof sourcePath !== 'string') throw new Error('The kernel has no path for the cell. Restart the kernel.');
    this.#sources.know(sourcePath, cell);
    return sourcePath;
  }

  #cellOf({ path }: Record<string, unknown>): vscode.NotebookCell | undefined {
    return typeof path === 'string' ? cellNamed(this.notebook, path) : undefined;
  }

  async #run(): Promise<void> {
    try {
      await this.#runCell();
    } catch (error) {
      const output = `Can't run the cell: ${messageOf(error)}\n`;
      this.#send({ type: 'event', event: 'output', body: { category: 'important', output } });
    }
    this.#end();
  }

  /**
   * Runs the cell and resolves when it has ended. Uses the command of the "Run" button, so that VS Code can still
   * prompt for a kernel.
   */
  async #runCell(): Promise<void> {
    const { index } = this.#cell;
    if (index < 0) throw new Error('it is no longer in the notebook.');
    const ranges = [{ start: index, end: index + 1 }];
    await vscode.commands.executeCommand('notebook.cell.execute', { ranges, document: this.notebook.uri });
    // The command ignores a cell that is already running; that cell is debugged from its current position.
    while (this.#session.isRunning(this.#cell)) await this.#change();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      const listening = this.#session.onDidChange(() => {
        listening.dispose();
        resolve();
      });
    });
  }

  #end(): void {
    const isKnown = this.isOver;
    this.#hasEnded = true;
    if (!isKnown) this.#send({ type: 'event', event: 'terminated' });
  }

  /** Ends debugging. The cell continues unless the user stops it as well. */
  async #leave({ terminateDebuggee, restart }: Record<string, unknown>): Promise<void> {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    // Interrupt before the disconnect request, because a disconnect lets the paused cell continue. Don't interrupt if
    // the cell has ended, because the interrupt would hit the next cell.
    if (!this.#hasEnded && (terminateDebuggee === true || restart === true)) await this.#session.interrupt();
    // Ignore a failure: if the kernel has ended, debugging has ended, too.
    await this.#ask('disconnect').catch(() => undefined);
  }

  /** Sends a request of this adapter to the kernel. @returns the body of the response */
  async #ask(command: string, given: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const request: DebugRequest = { seq: ownSeq, type: 'request', command, arguments: given };
    const { success, message, body } = await this.#running().debug(request, () => {});
    if (!success) throw new Error(message ?? `The kernel rejected the request "${command}".`);
    return isRecord(body) ? body : {};
  }

  async #pass(request: DebugRequest, change = (body: Record<string, unknown>): object => body): Promise<void> {
    const take = (response: DebugResponse): void => {
      const body = withSources(isRecord(response.body) ? change(response.body) : response.body, this.#toEditor);
      this.#send({ ...response, request_seq: request.seq, body });
    };
    await this.#running().debug(request, take);
  }

  #passEvent(event: DebugEvent): void {
    if (event.event === 'terminated') return this.#end();
    if (this.isOver) return;
    const body = event.event === 'breakpoint' && isRecord(event.body) ? withoutColumns(event.body) : event.body;
    this.#send({ ...event, body: withSources(body, this.#toEditor) });
  }

  readonly #toEditor = (source: Source): object => this.#sources.toEditor(source);

  #reply({ seq, command }: DebugRequest, body: object): void {
    this.#send({ type: 'response', request_seq: seq, command, success: true, body });
  }

  #send(message: object): void {
    this.#sent.fire({ ...message, seq: ++this.#seq });
  }

  #running(): KernelProcess {
    if (this.#kernel) return this.#kernel;
    throw new Error('The kernel is not connected yet. Start debugging again.');
  }
}

/** "Stop" interrupts the cell, "Disconnect" lets it continue; VS Code sends a disconnect request for both. */
const ownCapabilities = { supportTerminateDebuggee: true, supportsTerminateRequest: false };

const withPath = (request: DebugRequest, path: string, more: object = {}): DebugRequest => {
  const { source, ...given } = request.arguments ?? {};
  const place = { ...(isRecord(source) && source), path, sourceReference: 0, ...more };
  return { ...request, arguments: { ...given, source: place } };
};

/**
 * Returns the id of the cell. The kernel gets the same id with each run and uses it to distinguish cells with the same
 * code.
 */
const cellData = ({ metadata }: vscode.NotebookCell): object =>
  typeof metadata['id'] === 'string' ? { adapterData: { cell: metadata['id'] } } : {};

/** Whether a source is a cell of any notebook. The kernel also gets breakpoints in files, which cells may import. */
const isCellSource = (source: unknown): boolean =>
  isRecord(source) && typeof source['path'] === 'string' && source['path'].startsWith(`${cellScheme}:`);

/** Marks breakpoints as unverified. VS Code sends all breakpoints of the window, so some belong to other notebooks. */
const unverified = (breakpoints: unknown): object => ({
  breakpoints: (Array.isArray(breakpoints) ? breakpoints : []).map(() => ({ verified: false })),
});

/**
 * Removes the column of a breakpoint. The user sets a breakpoint on a line. With the column at which the kernel pauses,
 * VS Code would draw a second breakpoint inside the line.
 */
const withoutColumn = (breakpoint: unknown): unknown =>
  isRecord(breakpoint) ? { ...breakpoint, column: undefined, endColumn: undefined } : breakpoint;

const withoutColumns = (body: Record<string, unknown>): object => ({
  ...body,
  ...(Array.isArray(body['breakpoints']) && { breakpoints: body['breakpoints'].map(withoutColumn) }),
  ...(body['breakpoint'] !== undefined && { breakpoint: withoutColumn(body['breakpoint']) }),
});
