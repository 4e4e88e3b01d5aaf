import { CommRegistry, type CommEvents } from '#session/comms/commRegistry.ts';
import { RecentSet } from '#session/core/boundedSets.ts';
import type { RunCell } from '#session/debug/debugScripts.ts';
import { History } from '#session/history/history.ts';
import type { InputAnswer } from '#session/input/gate.ts';
import { type InputQuestion, PendingInputs } from '#session/input/pendingInputs.ts';
import type {
  CellError,
  CellOutput,
  Executed,
  FromCore,
  Question,
  QuestionAnswer,
  ToCore,
} from '#session/threads/coreMessages.ts';
import type { NamedConnection } from '#shared/protocol/kernelMessages.ts';
import type { KernelView, ViewAnswer } from '#shared/protocol/outputTables.ts';
import type { Interrupter } from './interrupt.ts';
import { type CellRequest, type Shell, Shells } from './shells.ts';

/** How a client protocol (Jupyter, pipe) handles events; `id` is the client's id of its request. */
type FrontEvents = {
  status(id: string, state: 'busy' | 'idle'): void;
  /** `id` is null for output that belongs to no known cell. */
  output(id: string | null, output: CellOutput): void;
  executed(id: string, executed: Executed): void;
  answered(id: string, answer: QuestionAnswer): void;
  /**
   * Cell `id` prompts the user. Call `answerInput` with the reply, unless the signal aborts: then the cell no longer
   * waits.
   */
  input(id: string, question: InputQuestion, signal: AbortSignal): void;
  /** A query needs a connection of the client. Call `answerConnection` with the reply. */
  connection(question: { id: string; name: string | null }): void;
  /** A cell opens a table in the panel. Call `answerView` with the reply. */
  view(question: { id: string } & KernelView): void;
} & CommEvents;

/**
 * Queues the cells of a kernel: one at a time in each shell, in order. The queue is in the worker thread, so that it
 * answers and keeps its records while the main thread is in an endless loop or is terminated.
 */
export class CellQueue {
  readonly history: History;
  readonly comms: CommRegistry;
  readonly #shells = new Shells();
  readonly #post: (message: ToCore) => void;
  readonly #interrupter: Interrupter;
  #events: FrontEvents | undefined;
  readonly #remarks: string[] = [];
  /**
   * Ids of finished cells that were silent, and of finished cells that may prompt. Such cells may still print and
   * prompt. The sets are bounded, so that old ids are dropped.
   */
  readonly #silent = new RecentSet(10_000);
  readonly #mayAsk = new RecentSet(1000);
  readonly #questions: PendingInputs;
  readonly #asked = new Set<string>();
  #count = 0;
  /**
   * The number of pings sent to the main thread, and the number of the latest ping that the main thread has answered.
   */
  #pings = 0;
  #ponged = 0;
  #stopping = 0;
  #isUsed = false;

  constructor(post: (message: ToCore) => void, interrupter: Interrupter, history = new History()) {
    this.history = history;
    this.comms = new CommRegistry(post, () => this.#events);
    this.#post = post;
    this.#interrupter = interrupter;
    this.#questions = new PendingInputs(post);
  }

  /** The execution count of the cell that ran last, 0 before the first. */
  get executionCount(): number {
    return this.#count;
  }

  /** Returns the latest cell with an execution count: a running cell, or a cell from the history. */
  cellOf(executionCount: number): RunCell | undefined {
    const running = this.#shells.running().find(({ count }) => count === executionCount)?.cell;
    if (running) return { code: running.code, executionCount, cell: running.cell };
    const [entry] = this.history.range(0, executionCount, executionCount + 1);
    return entry && { code: entry[2], executionCount };
  }

  /** Whether no cell was ever requested, so that the kernel holds no data of the user. */
  get isUnused(): boolean {
    return !this.#isUsed;
  }

  /** Called once by the client protocol, before the first request. */
  listen(events: FrontEvents): void {
    this.#events = events;
  }

  /** @throws Error if the subshell does not exist */
  execute(request: CellRequest): void {
    const shell = this.#shells.get(request.subshell);
    if (!shell) throw new Error(`There is no subshell ${request.subshell}.`);
    this.#isUsed = true;
    shell.waiting.push(request);
    this.#next(shell);
  }

  get subshells(): string[] {
    return this.#shells.ids;
  }

  /** Opens a subshell, whose cells run while a cell of another shell awaits. Returns its id. */
  openSubshell(): string {
    return this.#shells.open();
  }

  /**
   * Closes a subshell and drops its waiting cells; a running cell finishes. Returns `false` if the subshell does not
   * exist.
   */
  closeSubshell(id: string): boolean {
    const shell = this.#shells.close(id);
    if (shell) this.#abortWaiting(shell);
    return shell !== undefined;
  }

  ask(id: string, question: Question): void {
    this.#asked.add(id);
    this.#post({ type: 'ask', id, question });
  }

  /**
   * Interrupts the running cells of all shells, and drops the waiting cells.
   * @returns `false` if a cell still runs, in native code for instance
   */
  async interrupt(): Promise<boolean> {
    for (const shell of this.#shells.all()) this.#abortWaiting(shell);
    this.comms.giveUp();
    const running = this.#shells.running();
    if (running.length === 0) return this.#free();
    const ids = running.map(({ cell }) => cell.id);
    for (const id of ids) this.#questions.withdraw(id);
    return this.#stop(
      () => this.#post({ type: 'interrupt', ids }),
      () => !this.#shells.running().some((each) => running.includes(each)),
    );
  }

  /** Prints a message of the kernel in the next cell that is shown, before its own output. */
  remarkNext(text: string): void {
    this.#remarks.push(text);
  }

  /** Prints a message of the kernel in the running cells. */
  remark(text: string): void {
    for (const { cell } of this.#shells.running()) this.#remarkIn(cell, text);
  }

  #remarkIn({ id }: CellRequest, text: string): void {
    this.receive({ type: 'output', parent: id, output: { type: 'stream', content: { name: 'stderr', text } } });
  }

  /** Stops code of a timer or an event handler that keeps the main thread busy after its cell has finished. */
  #free(): Promise<boolean> {
    // There is no cell to end. The main thread counts as free once it answers this ping or a later one.
    return this.#stop(() => {}, this.#ping());
  }

  /** Pings the main thread; returns a function that reports whether it has answered. */
  #ping(): () => boolean {
    const sent = ++this.#pings;
    this.#post({ type: 'ping', count: sent });
    return () => this.#ponged >= sent;
  }

  /** While code is stopped, no cell starts, because a termination that arrives late could hit the new cell. */
  async #stop(ask: () => void, isOver: () => boolean): Promise<boolean> {
    this.#stopping++;
    try {
      return await this.#interrupter.interrupt(() => this.#ping(), ask, isOver);
    } finally {
      this.#stopping--;
      for (const shell of this.#shells.all()) this.#next(shell);
    }
  }

  /** Passes on the user's input. Returns `false` if no code waits for it. */
  answerInput(id: string, answer: InputAnswer): boolean {
    return this.#questions.answer(id, answer);
  }

  /** Passes on a connection of the client. */
  answerConnection(id: string, answer: NamedConnection): void {
    this.#post({ type: 'connectionReply', id, answer });
  }

  /** Passes on whether the client shows a table. */
  answerView(id: string, answer: ViewAnswer): void {
    this.#post({ type: 'viewReply', id, answer });
  }

  receive(message: Exclude<FromCore, { type: 'ready' | 'exiting' }>): void {
    switch (message.type) {
      case 'output':
        if (message.parent === null || !this.#isSilent(message.parent))
          this.#events?.output(message.parent, message.output);
        return;
      case 'answer':
        if (this.#asked.delete(message.id)) this.#events?.answered(message.id, message.answer);
        return;
      case 'comm':
      case 'commDone':
        return this.comms.receive(message);
      case 'input':
        return this.#askPerson(message);
      case 'connection':
        return this.#events?.connection({ id: message.id, name: message.name });
      case 'view':
        return this.#events?.view({ id: message.id, ...message.view });
      case 'pong':
        this.#ponged = message.count;
        return;
      case 'done':
        return this.#done(message);
    }
  }

  /** Fails the running cells, because the process is about to end. */
  fail(error: CellError): void {
    for (const { cell } of this.#shells.running())
      this.receive({ type: 'done', id: cell.id, result: { value: null, error, expressions: {} } });
  }

  #askPerson(message: Extract<FromCore, { type: 'input' }>): void {
    const { parent } = message;
    const events = this.#events;
    const mayAsk = (id: string) => this.#shells.find(id)?.running.cell.allowInput ?? this.#mayAsk.has(id);
    const canAsk = events !== undefined && parent !== null && mayAsk(parent);
    this.#questions.ask(message, canAsk ? (question, signal) => events.input(parent, question, signal) : undefined);
  }

  #isSilent(id: string): boolean {
    return this.#shells.find(id)?.running.cell.silent ?? this.#silent.has(id);
  }

  #next(shell: Shell): void {
    if (shell.running || this.#stopping > 0) return;
    const cell = shell.waiting.shift();
    if (!cell) return;
    if (cell.storeHistory && !cell.silent) this.#count++;
    shell.running = { cell, count: this.#count };
    this.#events?.status(cell.id, 'busy');
    if (!cell.silent) {
      if (cell.storeHistory) this.history.add(this.#count, cell.code);
      this.#events?.output(cell.id, {
        type: 'execute_input',
        content: { code: cell.code, executionCount: this.#count },
      });
      for (const text of this.#remarks.splice(0)) this.#remarkIn(cell, text);
    }
    const { id, code, expressions, cell: name } = cell;
    const count = this.#count;
    this.#post({ type: 'execute', id, code, count, expressions, ...(name !== undefined && { cell: name }) });
  }

  #done({ id, result }: Extract<FromCore, { type: 'done' }>): void {
    const ended = this.#shells.end(id);
    if (!ended) return;
    const { cell, count } = ended.running;
    if (cell.silent) this.#silent.add(id);
    if (cell.allowInput) this.#mayAsk.add(id);
    const { value, error, expressions } = result;
    const text = value?.data['text/plain'];
    if (cell.storeHistory && typeof text === 'string') this.history.addResult(count, text);
    if (!cell.silent && value)
      this.#events?.output(id, { type: 'execute_result', content: { ...value, executionCount: count } });
    if (!cell.silent && error) this.#events?.output(id, { type: 'error', content: error });
    const reply = error
      ? ({ status: 'error', executionCount: count, ...error } as const)
      : ({ status: 'ok', executionCount: count } as const);
    this.#events?.executed(id, { reply, expressions });
    this.#events?.status(id, 'idle');
    if (error && cell.stopOnError) this.#abortWaiting(ended.shell);
    this.#next(ended.shell);
  }

  #abortWaiting({ waiting }: Shell): void {
    for (const { id } of waiting.splice(0)) {
      this.#events?.status(id, 'busy');
      this.#events?.executed(id, { reply: { status: 'aborted' }, expressions: {} });
      this.#events?.status(id, 'idle');
    }
  }
}
