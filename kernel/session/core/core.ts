import type { Schema } from '#arrow';
import type { CallOptions } from '#catalog/arguments/options.ts';
import { setUnsafeIntegerListener } from '#catalog/arrow/rowValues.ts';
import { CatalogNames, type NamedCatalog, type NameSources } from '#catalog/names/catalogNames.ts';
import { registerBackfills } from '#catalog/table/tableBackfills.ts';
import { registerTableViews } from '#catalog/table/tableViews.ts';
import { setSignalProvider } from '#processes/calls.ts';
import { createBackfills } from '#session/backfill/backfills.ts';
import { createCluster } from '#session/cluster/cluster.ts';
import { NotebookComms } from '#session/comms/comms.ts';
import type { CellCompiler } from '#session/compiler/compiler.ts';
import { exposeToDebugger } from '#session/debug/debugHook.ts';
import { createNotebookDisplay, type NotebookDisplay } from '#session/display/notebookDisplay.ts';
import { outputTables } from '#session/display/outputTables.ts';
import { pictures } from '#session/display/pictureStore.ts';
import { takeTslabDisplay } from '#session/display/tslabDisplay.ts';
import { createTableViews } from '#session/display/tableViews.ts';
import { createUdf } from '#session/functions/udf.ts';
import { InputRequests } from '#session/input/askUser.ts';
import { answerOfMagics } from '#session/magics/magicQuestions.ts';
import { createMagics, type Magics } from '#session/magics/magics.ts';
import * as preload from '#session/preload.ts';
import { createRay } from '#session/ray/ray.ts';
import { type CellOutcome, CellRunner } from '#session/run/cellRunner.ts';
import { registerKernelModules } from '#session/run/modulesForCells.ts';
import { catalogIn, createSql, otherCatalogIn, otherCatalogsIn } from '#session/sql/sql.ts';
import {
  type CellError,
  type CellResult,
  type ExpressionValue,
  type FromCore,
  type Question,
  type QuestionAnswer,
  type ToCore,
  unsendableOutputError,
} from '#session/threads/coreMessages.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';
import { isAbort, messageOf } from '#shared/errors.ts';
import { type CellSignal, CellWork } from './cellWork.ts';
import { chosenCatalog } from './chosenCatalog.ts';
import { ClientConnections } from './connections.ts';
import { answer } from './language.ts';
import type { Outputs } from './outputs.ts';
import { ClientViews } from './clientViews.ts';
import { listVariables, nameOfValue } from './variables.ts';

type LiveTable = { schema(options?: CallOptions): Promise<Schema> };

const has = (value: unknown, methods: readonly string[]): boolean =>
  typeof value === 'object' &&
  value !== null &&
  methods.every((name) => typeof (value as Record<string, unknown>)[name] === 'function');

const isCatalog = (value: unknown): value is NamedCatalog =>
  has(value, ['listTables', 'listNamespaces', 'describeTable']);
const isTable = (value: unknown): value is LiveTable => has(value, ['schema', 'query', 'countRows']);

/**
 * Returns the names that completion offers: tables of catalogs and columns of tables in variables.
 * @param variables the variables of the notebook; they are read at each request
 */
function createRuntimeNames(variables: Readonly<Record<string, unknown>>): CatalogNames {
  const valueOf = (name: string): unknown => (Object.hasOwn(variables, name) ? variables[name] : undefined);
  const catalogNamed = async (name: string): Promise<NamedCatalog | undefined> => {
    const value = valueOf(name);
    return isCatalog(value) ? value : undefined;
  };
  const sources: NameSources = {
    catalog: catalogNamed,
    otherNames: async () => otherCatalogsIn(variables),
    other: catalogNamed,
    columns: async (name, signal) => {
      const value = valueOf(name);
      if (!isTable(value)) return undefined;
      const { fields } = await value.schema({ signal });
      return fields.map((field) => ({ name: field.name, type: String(field.type) }));
    },
  };
  return new CatalogNames(sources);
}

/** Returns the error shown if the kernel itself fails, because cells have replaced builtins that it uses. */
function kernelDamagedError(cause: unknown): CellError {
  const evalue =
    `The kernel failed in this cell (${sentenceOf(cause)}). A cell has probably replaced a builtin that the kernel uses, ` +
    'such as JSON or Promise. Restart the kernel.';
  return { ename: 'KernelDamaged', evalue, traceback: [evalue] };
}

function sentenceOf(cause: unknown): string {
  try {
    return String(cause);
  } catch {
    return "an error that can't be shown";
  }
}

/** Prints once in each cell that a column has integers that rows hold as bigints. */
function announceBigints(outputs: Outputs): void {
  const told = new WeakSet<CellWork>();
  setUnsafeIntegerListener((column) => {
    const { work } = outputs;
    if (!work || told.has(work)) return;
    told.add(work);
    process.stdout.write(
      `The column ${JSON.stringify(column)} has integers beyond ±(2^53 − 1), which are bigints in its rows; toArray({ int64: 'bigint' }) returns bigints for all 64-bit integers.\n`,
    );
  });
}

type ExecuteMessage = Extract<ToCore, { type: 'execute' }>;

const interrupted: CellResult = {
  value: null,
  error: {
    ename: 'Interrupted',
    evalue: 'The cell was interrupted.',
    traceback: ['The cell was interrupted.'],
  },
  expressions: {},
};

/**
 * Runs cells on the main thread. The core does not know the client's protocol. The worker keeps all state that must not
 * be lost.
 */
export class Core {
  readonly #post: (message: FromCore) => void;
  readonly #outputs: Outputs;
  readonly #runner: CellRunner;
  readonly #asker: InputRequests;
  readonly #connections: ClientConnections;
  readonly #views: ClientViews;
  readonly #comms: NotebookComms;
  readonly #display: NotebookDisplay;
  readonly #magics: Magics;
  /** Names that exist before the first cell. */
  readonly #given: Record<string, unknown>;
  readonly #names: CatalogNames;
  #catalog: CatalogConfig | null = null;
  /** The running cells by their ids, at most one per shell. */
  readonly #running = new Map<string, CellWork>();
  #knownNames = '';

  constructor(post: (message: FromCore) => void, outputs: Outputs) {
    this.#post = post;
    this.#outputs = outputs;
    const signal = () => outputs.work?.signal;
    this.#runner = new CellRunner(
      (text) => this.#print(text),
      () => outputs.work,
    );
    // A catalog call without a signal gets the signal of its cell, so the call ends with the cell.
    setSignalProvider(signal);
    announceBigints(outputs);
    const cellSignal: CellSignal = () => signal() ?? new AbortController().signal;
    this.#display = createNotebookDisplay({
      send: (output) => outputs.send(output),
      translate: (stack) => this.#runner.translate(stack),
      signal: cellSignal,
      cell: () => outputs.work,
    });
    this.#asker = new InputRequests({ post, cell: () => outputs.cell });
    this.#comms = new NotebookComms({
      send: (message) => post({ type: 'comm', parent: outputs.cell, message }),
      cell: () => outputs.cell,
      failed: (cell, error) => outputs.within(cell ?? outputs.cell ?? '', () => this.reportUncaught(error)),
    });
    const comms = this.#comms.functions();
    this.#connections = new ClientConnections(post);
    this.#views = new ClientViews(post);
    const { locals } = this.#runner;
    const sql = createSql({
      catalog: () => catalogIn(locals),
      otherCatalog: async (name, asked) => otherCatalogIn(locals, name) ?? this.#connections.open(name, asked),
      otherCatalogNames: async (asked) => [
        ...new Set([...otherCatalogsIn(locals), ...(await this.#connections.names(asked))]),
      ],
      signal: cellSignal,
      progress: this.#display.names.progress,
    });
    const cluster = createCluster({
      open: () => this.#display.open(),
      isShown: (value) => this.#display.isShown(value),
      signal: cellSignal,
      catalog: () => this.#catalog,
      input: (question) => this.#asker.functions().input(question),
    });
    registerBackfills(
      createBackfills({
        open: () => this.#display.open(),
        isShown: (value) => this.#display.isShown(value),
        signal: cellSignal,
        ask: this.#asker.functions().input,
      }),
    );
    registerTableViews(
      createTableViews({
        show: (view, asked) => this.#views.show(view, asked),
        display: (value) => this.#display.names.display(value),
        signal: cellSignal,
      }),
    );
    const { compiler, maps } = this.#runner;
    const udf = createUdf({
      notebook: () => ({
        variables: locals,
        declarations: compiler.declarations,
        cellOf: (name) => this.#runner.cellOf(name),
      }),
      folder: () => compiler.folder,
    });
    const ray = createRay({
      open: () => this.#display.open(),
      signal: cellSignal,
      catalog: () => this.#catalog,
      input: (question) => this.#asker.functions().input(question),
    });
    const notebook = {
      ...preload,
      ...this.#asker.functions(),
      ...this.#display.names,
      cellSignal,
      cluster,
      comms,
      ray,
      sql,
      udf,
    };
    registerKernelModules(notebook);
    takeTslabDisplay((output) => outputs.send(output));
    this.#given = { ...notebook, db: chosenCatalog(null) };
    Object.assign(this.#runner.locals, this.#given);
    this.#names = createRuntimeNames(this.#runner.locals);
    exposeToDebugger({ locals, maps, names: () => this.#namesOfCells(), show: (value) => this.#display.show(value) });
    this.#magics = createMagics({
      runner: this.#runner,
      given: this.#given,
      ask: this.#asker.functions().input,
      signal: cellSignal,
      describe: (code, cursor, detail) => this.#describe(code, cursor, detail),
    });
  }

  receive(message: Exclude<ToCore, { type: 'exit' }>): void {
    switch (message.type) {
      case 'start':
        this.#catalog = message.catalog;
        outputTables.isKeeping = message.hasPanels;
        this.#given['db'] = this.#runner.locals['db'] = chosenCatalog(message.catalog);
        return;
      case 'settings':
        if (message.typeCheck !== undefined) this.#runner.compiler.typeCheck = message.typeCheck;
        if (message.language !== undefined) this.#runner.compiler.language = message.language;
        return;
      case 'execute':
        void this.#execute(message);
        return;
      case 'ask':
        void this.#tell(message.id, message.question);
        return;
      case 'inputReply':
        return this.#asker.settle(message.id, message.answer);
      case 'connectionReply':
        return this.#connections.settle(message.id, message.answer);
      case 'viewReply':
        return this.#views.settle(message.id, message.answer);
      case 'comm':
        this.#outputs.within(message.id, () => this.#comms.receive(message.message));
        return this.#post({ type: 'commDone', id: message.id });
      case 'interrupt':
        return this.#interrupt(message.ids);
      case 'ping':
        return this.#post({ type: 'pong', count: message.count });
    }
  }

  async #tell(id: string, question: Question): Promise<void> {
    this.#post({ type: 'answer', id, answer: await this.#answer(question) });
  }

  async #answer(question: Question): Promise<QuestionAnswer> {
    if (question.kind === 'variables')
      return { kind: 'variables', list: listVariables(this.#runner.locals, this.#given) };
    if (question.kind === 'picture') {
      const found = pictures.find(question.place);
      return { kind: 'picture', image: found ? Buffer.from(found).toString('base64') : null };
    }
    if (question.kind === 'table' || question.kind === 'rows') return this.#answerTable(question);
    const parts = { compiler: this.#runner.compiler, names: this.#names };
    return answerOfMagics(question) ?? answer(parts, question);
  }

  async #answerTable(question: Extract<Question, { kind: 'table' | 'rows' }>): Promise<QuestionAnswer> {
    try {
      if (question.kind === 'table') {
        const table = await outputTables.find(question.request, (value) => nameOfValue(this.#runner.locals, value));
        return { kind: 'table', table };
      }
      const rows = await outputTables.rows(question.request);
      return { kind: 'rows', rows: rows && Buffer.from(rows).toString('base64') };
    } catch (error) {
      return { kind: 'failed', message: messageOf(error) };
    }
  }

  /** Returns the description of the name at a position as plain text. */
  async #describe(code: string, cursor: number, detail: 0 | 1): Promise<string | undefined> {
    const found = await this.#answer({ kind: 'inspect', code, cursor, detail });
    const text = found.kind === 'inspect' ? found.data?.['text/plain'] : undefined;
    return typeof text === 'string' ? text : undefined;
  }

  get isBusy(): boolean {
    return this.#running.size > 0;
  }

  get compiler(): CellCompiler {
    return this.#runner.compiler;
  }

  /** Reports an error of a timer, or of a promise without a handler. */
  reportUncaught(error: unknown): void {
    // An interrupt rejects the promises that the cell waited for; so a rejection that results from an interrupt is not
    // reported.
    if (isAbort(error) && this.#outputs.work?.signal.aborted) return;
    const { ename, evalue, traceback } = this.#runner.describe(error);
    const [first = evalue, ...frames] = traceback;
    const said = first.startsWith('Uncaught ') ? first : `Uncaught ${first}`;
    this.#outputs.send({ type: 'error', content: { ename, evalue, traceback: [said, ...frames] } });
  }

  #print(text: string): void {
    this.#outputs.send({ type: 'stream', content: { name: 'stderr', text } });
  }

  async #execute(message: ExecuteMessage): Promise<void> {
    const work = new CellWork(message.id);
    this.#running.set(work.id, work);
    let result: CellResult;
    try {
      result = await this.#outputs.within(work, () => {
        this.#display.begin(message.cell ?? message.code);
        return this.#evaluate(message);
      });
    } catch (error) {
      result = { value: null, error: kernelDamagedError(error), expressions: {} };
    }
    // If the cell was interrupted, the result counts as interrupted, because the code of the interrupt may have been
    // terminated halfway.
    this.#finish(message.id, work.signal.aborted ? interrupted : result);
  }

  async #evaluate({ code, count, expressions }: ExecuteMessage): Promise<CellResult> {
    const values: Record<string, ExpressionValue> = {};
    const { value, error } = await this.#run(this.#magics.run(code, count) ?? this.#runner.run(code, count));
    if (!error) {
      for (const [name, expression] of Object.entries(expressions)) {
        if (this.#outputs.work?.signal.aborted) break;
        const { value: shown, error: failed } = await this.#run(this.#runner.run(expression, count));
        values[name] = failed
          ? { status: 'error', ...failed }
          : { status: 'ok', ...(shown ?? { data: { 'text/plain': 'undefined' }, metadata: {} }) };
      }
    }
    return { value, error, expressions: values };
  }

  async #run(running: Promise<CellOutcome>): Promise<Pick<CellResult, 'value' | 'error'>> {
    try {
      const { value: last, error } = await running;
      if (error) return { value: null, error };
      // `display(x)` as the last line has already shown x; so the promise that it returned is not shown.
      const isThere = this.#display.isOwn(last?.shown);
      const value = last && !isThere ? await this.#display.show(last.shown) : null;
      await this.#display.settled();
      return { value, error: null };
    } catch (error) {
      return { value: null, error: this.#runner.describe(error) };
    }
  }

  #interrupt(ids: readonly string[]): void {
    const works = ids.flatMap((id) => this.#running.get(id) ?? []);
    if (works.length === 0) return;
    try {
      for (const work of works) work.interrupt();
      this.#runner.interrupt();
      for (const { id } of works) this.#asker.forget(id);
    } finally {
      // This is in `finally`, because the cells must finish even if a step above throws: a cell may have broken a
      // function that the step uses.
      for (const { id } of works) this.#finish(id, interrupted);
    }
  }

  /** The notebook's variables, except those that still hold the kernel's initial values. */
  #namesOfCells(): string[] {
    const { locals } = this.#runner;
    return Object.keys(locals).filter(
      (name) => !Object.hasOwn(this.#given, name) || locals[name] !== this.#given[name],
    );
  }

  /** The names of variables that cells declared, or undefined if they have not changed. */
  #changedNames(): string[] | undefined {
    const names = Object.keys(this.#runner.locals).filter((name) => !Object.hasOwn(this.#given, name));
    const all = names.join();
    if (all === this.#knownNames) return undefined;
    this.#knownNames = all;
    return names;
  }

  // Only the first end of a cell counts: a cell that an interrupt has ended may still settle later.
  #finish(id: string, result: CellResult): void {
    if (!this.#running.delete(id)) return;
    // The cell may have changed tables, or assigned another catalog to a variable.
    this.#names.clear();
    try {
      const names = this.#changedNames();
      this.#post({ type: 'done', id, result, ...(names && { names }) });
    } catch (error) {
      // If the result can't be posted, the cell still has to finish, with an error.
      this.#post({
        type: 'done',
        id,
        result: { value: null, error: unsendableOutputError('result', error), expressions: {} },
      });
    }
  }
}
