import { describeError } from '#session/compile/cellError.ts';
import { CellCompiler, keepGlobalsOfCompiler } from '#session/compiler/compiler.ts';
import { problemsError, problemsText } from '#session/compile/problemText.ts';
import type { CellError } from '#session/threads/coreMessages.ts';
import { cellGlobals } from './cellGlobals.ts';
import { CellModules } from './cellModules.ts';
import type { CellWork } from '#session/core/cellWork.ts';
import { CellExecutor } from './executor.ts';
import { ScriptMaps } from './scriptMaps.ts';
import { Variables } from './variables.ts';

export type CellOutcome =
  { value: { shown: unknown } | undefined; error: null } | { value: undefined; error: CellError };

type RunWrapper = <T>(body: () => Promise<T>) => Promise<T>;

/** The state of a notebook, and the compiler, modules and executor that run its cells in one working directory. */
export class CellRunner {
  readonly locals: Record<string, unknown>;
  readonly compiler = new CellCompiler();
  readonly maps = new ScriptMaps();
  readonly #modules: CellModules;
  readonly #executor: CellExecutor;
  readonly #warn: (text: string) => void;
  readonly #work: () => CellWork | undefined;
  /** The number of the cell that declared a name. */
  readonly #cells = new Map<string, number>();

  /**
   * @param warn prints into the output of the running cell
   * @param work returns the cell run that the calling code belongs to
   */
  constructor(warn: (text: string) => void, work: () => CellWork | undefined) {
    this.#warn = warn;
    this.#work = work;
    keepGlobalsOfCompiler();
    const globals = cellGlobals(work);
    const variables = new Variables();
    const locals = (this.locals = variables.asObject());
    const folder = () => this.compiler.folder;
    const { maps } = this;
    const compilerOptions = () => this.compiler.folderOptions;
    this.#modules = new CellModules({ variables, maps, folder, compilerOptions, ofCells: globals.module });
    this.#executor = new CellExecutor({ variables, locals, maps, folder, globals, modules: this.#modules });
    Error.prepareStackTrace = (error, sites) => maps.format(error, sites);
  }

  /**
   * Runs code without magics.
   * @param count identifies the cell in stack traces
   * @param around wraps the execution, without the compilation
   */
  async run(code: string, count: number, around: RunWrapper = (body) => body()): Promise<CellOutcome> {
    const stop = this.#work()?.signal;
    try {
      const { problems, output, names, remark, checkedBy } = this.compiler.compile(code, count);
      if (remark !== undefined) this.#warn(`${remark}\n`);
      if (output === undefined) return { value: undefined, error: problemsError(problems, count, checkedBy) };
      for (const name of names) this.#cells.set(name, count);
      if (problems.length > 0) this.#warn(problemsText(problems, count));
      for (const problem of await this.#modules.refresh()) this.#warn(`${problem}\n`);
      // Checks for an interrupt, because reloading files may have taken time.
      stop?.throwIfAborted();
      return { ...(await around(() => this.#executor.execute(output, count))), error: null };
    } catch (error) {
      return { value: undefined, error: this.describe(error) };
    }
  }

  /** Returns the number of the last cell that declared a name. */
  cellOf(name: string): number | undefined {
    return this.#cells.get(name);
  }

  /** Describes an error that code threw, with positions in the user's code. */
  describe(error: unknown): CellError {
    return describeError(error, (stack) => this.translate(stack), this.#executor.placeOf(error));
  }

  translate(stack: string): string {
    return this.maps.translate(stack);
  }

  /** Cancels the running cells; the worker thread stops code that is busy. */
  interrupt(): void {
    this.compiler.recover();
    this.#modules.forgetUnfinished();
    this.#executor.interrupt();
  }
}
