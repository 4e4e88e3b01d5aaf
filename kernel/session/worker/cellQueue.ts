import { CommBooks, type CommEvents } from '#session/comms/commBooks.ts';
import { RecentSet } from '#session/core/recent.ts';
import type { RunCell } from '#session/debug/debugScripts.ts';
import { History } from '#session/history/history.ts';
import type { InputAnswer } from '#session/input/gate.ts';
import { type InputQuestion, OpenQuestions } from '#session/input/openQuestions.ts';
import type {
  CellError,
  CellOutput,
  Executed,
  FromCore,
  Question,
  QuestionAnswer,
  ToCore,
} from '#session/threads/coreMessages.ts';
import type { Interrupter } from './interrupt.ts';
import { type CellRequest, type Shell, Shells } from './shells.ts';

/** What a front (Jupyter, pipe) does with what happens. `id` is the one that the front gave. */
type FrontEvents = {
  status(id: string, state: 'busy' | 'idle'): void;
  /** `id` is null for output that no cell can be named for. */
  output(id: string | null, output: CellOutput): void;
  executed(id: string, executed: Executed): void;
  answered(id: string, answer: QuestionAnswer): void;
  /** Cell `id` asks the person; the front calls `answerInput`, unless the signal says that nobody waits any more. */
  input(id: string, question: InputQuestion, signal: AbortSignal): void;
} & CommEvents;

/**
 * The cells of a kernel, one at a time in each shell, in order. Lives in the worker, so that it answers and keeps its books
 * while the main thread is in an endless loop or has its stack cut off.
 */
export class CellQueue {
  readonly history: History;
  readonly comms: CommBooks;
  readonly #shells = new Shells();
  readonly #post: (message: ToCore) => void;
  readonly #interrupter: Interrupter;
  #events: FrontEvents | undefined;
  readonly #remarks: string[] = [];
  /** Of cells that are done: they may print and ask long after, but not for ever. */
  readonly #silent = new RecentSet(10_000);
  readonly #mayAsk = new RecentSet(1000);
  readonly #questions: OpenQuestions;
  readonly #asked = new Set<string>();
  #count = 0;
  /** How often the main thread was asked whether it is free, and up to which time it has said so. */
  #pings = 0;
  #ponged = 0;
  /** Interrupts that are going on. */
  #stopping = 0;
  #isUsed = false;

  constructor(post: (message: ToCore) => void, interrupter: Interrupter, history = new History()) {
    this.history = history;
    this.comms = new CommBooks(post, () => this.#events);
    this.#post = post;
    this.#interrupter = interrupter;
    this.#questions = new OpenQuestions(post);
  }

  /** The number of the cell that ran last, 0 before the first. */
  get executionCount(): number {
    return this.#count;
  }

  /** The cell of a number as it was run last: the one that runs, or what the history has. */
  cellOf(executionCount: number): RunCell | undefined {
    const running = this.#shells.running().find(({ count }) => count === executionCount)?.cell;
    if (running) return { code: running.code, executionCount, cell: running.cell };
    const [entry] = this.history.range(0, executionCount, executionCount + 1);
    return entry && { code: entry[2], executionCount };
  }

  /** Whether no cell was ever asked for, so that the kernel holds nothing of the person's. */
  get isUnused(): boolean {
    return !this.#isUsed;
  }

  /** Set once by the front, before anything is asked. */
  listen(events: FrontEvents): void {
    this.#events = events;
  }

  /** @throws Error for a subshell that there is not */
  execute(request: CellRequest): void {
    const shell = this.#shells.get(request.subshell);
    if (!shell) throw new Error(`There is no subshell ${request.subshell}.`);
    this.#isUsed = true;
    shell.waiting.push(request);
    this.#next(shell);
  }

  /** The ids of the subshells that are open. */
  get subshells(): string[] {
    return this.#shells.ids;
  }

  /** Opens a subshell, whose cells run while one of another shell awaits. Gives its id. */
  openSubshell(): string {
    return this.#shells.open();
  }

  /** Drops the waiting cells of a subshell and closes it; one that runs comes to its end. `false` when there is none. */
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
   * Ends the running cells, of subshells too, and drops the waiting ones. `false` when a cell goes on, in native code for
   * instance.
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

  /** Prints in the next cell that is shown what the kernel has to say before anything else. */
  remarkNext(text: string): void {
    this.#remarks.push(text);
  }

  /** Prints in the running cells what the kernel has to say about them. */
  remark(text: string): void {
    for (const { cell } of this.#shells.running()) this.#remarkIn(cell, text);
  }

  #remarkIn({ id }: CellRequest, text: string): void {
    this.receive({ type: 'output', parent: id, output: { type: 'stream', content: { name: 'stderr', text } } });
  }

  /** Stops what keeps the main thread busy after its cell is done: a timer of it, or a handler of its events. */
  #free(): Promise<boolean> {
    // There is no cell to be ended: it is over when this question, or a later one, has been answered.
    return this.#stop(() => {}, this.#ping());
  }

  /** Asks the main thread whether it is free. */
  #ping(): () => boolean {
    const sent = ++this.#pings;
    this.#post({ type: 'ping', count: sent });
    return () => this.#ponged >= sent;
  }

  /** No cell begins meanwhile: what is to stop the one before would find it. */
  async #stop(ask: () => void, isOver: () => boolean): Promise<boolean> {
    this.#stopping++;
    try {
      return await this.#interrupter.interrupt(() => this.#ping(), ask, isOver);
    } finally {
      this.#stopping--;
      for (const shell of this.#shells.all()) this.#next(shell);
    }
  }

  /** Passes on what the person answered. `false` when nobody waits for it any more. */
  answerInput(id: string, answer: InputAnswer): boolean {
    return this.#questions.answer(id, answer);
  }

  /** Takes a message of the main thread. */
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
      case 'pong':
        this.#ponged = message.count;
        return;
      case 'done':
        return this.#done(message);
    }
  }

  /** Ends the running cells from outside, because the process is about to end. */
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
