import type { KernelProcess } from '#processes/kernelProcess.ts';
import { isCatalogError, messageOf } from '#shared/errors.ts';
import type { KernelOutput } from '#shared/protocol/kernelMessages.ts';
import { CellOutputs, type Places } from './cellOutputs.ts';
import { type CodeCell, isCodeCell, type Notebook, type NotebookCell, tagsOf } from './notebookFile.ts';

/** Why a cell did not go through. */
type CellFailure = {
  ename: string;
  evalue: string;
  traceback: readonly string[];
  /** Why it was stopped, where it did not fail by itself. */
  remark?: string;
  /** Whether there is no kernel any more for the cells below. */
  hasEnded?: boolean;
};

type CellEnd = { failure: CellFailure | null; times: Record<string, string>; executionCount: number | null };

type CellLimits = {
  /** Seconds that the cell may take. */
  timeout?: number | undefined;
  signal?: AbortSignal | undefined;
};

/**
 * Runs one cell and stops it when its time is up or `signal` says so: by an interrupt, which keeps what it has given so
 * far, and where that does not help by ending the kernel. Never rejects.
 */
async function runCell(
  kernel: KernelProcess,
  code: string,
  onOutput: (output: KernelOutput) => void,
  { timeout, signal }: CellLimits,
): Promise<CellEnd> {
  const times: Record<string, string> = {};
  const take = (output: KernelOutput): void => {
    const name = timeNames[output.type];
    if (name !== undefined) times[name] ??= new Date().toISOString();
    onOutput(output);
  };
  const timer = timeout === undefined ? undefined : AbortSignal.timeout(timeout * 1000);
  const stop = AbortSignal.any([signal, timer].filter((each) => each !== undefined));
  const onStop = (): void => void interrupt(kernel);
  const remark = (): { remark?: string } => {
    if (!timer?.aborted) return {};
    const text = `The cell took longer than ${timeout} s and was stopped.`;
    onOutput({ type: 'stream', parent: '', content: { name: 'stderr', text: `${text}\n` } });
    return { remark: text };
  };
  stop.addEventListener('abort', onStop, { once: true });
  try {
    const running = kernel.execute(code, take);
    if (stop.aborted) onStop();
    const reply = await running;
    times['shell.execute_reply'] = new Date().toISOString();
    switch (reply.status) {
      case 'ok':
        return { failure: null, times, executionCount: reply.executionCount };
      case 'error': {
        const { ename, evalue, traceback, executionCount } = reply;
        return { failure: { ename, evalue, traceback, ...remark() }, times, executionCount };
      }
      case 'aborted':
        return { failure: plain('Interrupted', 'The cell was stopped before it ran.'), times, executionCount: null };
    }
  } catch (error) {
    // The kernel is gone: nothing else makes an execution fail.
    const content = plain('KernelEnded', reasonOf(error));
    onOutput({ type: 'error', parent: '', content });
    return { failure: { ...content, hasEnded: true, ...remark() }, times, executionCount: null };
  } finally {
    stop.removeEventListener('abort', onStop);
  }
}

/** When a cell's messages came, under the names by which JupyterLab and nbclient keep it. */
const timeNames: { readonly [T in KernelOutput['type']]?: string } = {
  status: 'iopub.status.busy',
  execute_input: 'iopub.execute_input',
};

const plain = (ename: string, evalue: string) => ({ ename, evalue, traceback: [evalue] });

/** Without what to do next, which is said to people in front of a notebook. */
const reasonOf = (error: unknown): string => (isCatalogError(error) ? error.toJSON().error : messageOf(error));

async function interrupt(kernel: KernelProcess): Promise<void> {
  const { status } = await kernel.interrupt().catch(() => ({ status: 'failed' }));
  // It blocks in native code. Nobody is there to ask, so the kernel goes, and with it the cell.
  if (status === 'failed') kernel.dispose();
}

/** A cell that is run: its place among those that are, from 1, which is the kernel's count of it too. */
export type RunningCell = { number: number; total: number; source: string };

/** What became of a cell. `isAllowed`: the run goes on. */
export type FailedCell = CellFailure & { cell: RunningCell; isAllowed: boolean };

/** Whoever shows how a run gets on. */
export type RunListener = {
  begin(cell: RunningCell): void;
  output(output: KernelOutput): void;
  end(cell: RunningCell, failed: FailedCell | null): void | Promise<void>;
};

type RunOptions = {
  /** Seconds that one cell may take. */
  timeout?: number | undefined;
  /** Whether the run goes on behind a cell that fails. */
  allowErrors?: boolean;
  signal?: AbortSignal;
};

/** Tags by which Jupyter's own programs take a cell. */
const skipTag = 'skip-execution';
const mayFailTag = 'raises-exception';

/**
 * Runs the cells of code in order and puts what they give into the notebook, in place of what was there. Cells without
 * code are left out, and those tagged `skip-execution`; one tagged `raises-exception` may fail. Stops at the first cell
 * that fails otherwise, when the kernel ends, and behind a cell that `signal` has stopped.
 * @returns the cells that failed, the one that stopped the run last
 */
export async function runNotebook(
  notebook: Notebook,
  kernel: KernelProcess,
  listener: RunListener,
  { timeout, allowErrors = false, signal }: RunOptions = {},
): Promise<FailedCell[]> {
  const cells = notebook.cells.filter(isRun);
  for (const cell of notebook.cells) if (isCodeCell(cell) && !isSkipped(cell)) clear(cell);
  const gathered = new Gathered();
  const late = kernel.onOrphanOutput((output) => {
    gathered.take(output);
    listener.output(output);
  });
  const failures: FailedCell[] = [];
  try {
    for (const [index, cell] of cells.entries()) {
      if (signal?.aborted) break;
      const { source } = cell;
      const running = { number: index + 1, total: cells.length, source };
      listener.begin(running);
      const into = gathered.begin(cell);
      const onOutput = (output: KernelOutput): void => {
        gathered.know(output.parent, into);
        into.take(output);
        listener.output(output);
      };
      const { failure, times, executionCount } = await runCell(kernel, source, onOutput, { timeout, signal });
      cell.execution_count = executionCount;
      cell.metadata = { ...cell.metadata, execution: times };
      const mayFail = allowErrors || tagsOf(cell).includes(mayFailTag);
      const failed = failure && { ...failure, cell: running, isAllowed: mayFail && failure.hasEnded !== true };
      if (failed) failures.push(failed);
      await listener.end(running, failed);
      if (failed && !failed.isAllowed) break;
    }
    return failures;
  } finally {
    late.dispose();
  }
}

const isSkipped = (cell: NotebookCell): boolean => tagsOf(cell).includes(skipTag);
const isRun = (cell: NotebookCell): cell is CodeCell =>
  isCodeCell(cell) && !isSkipped(cell) && cell.source.trim() !== '';

/** Nothing of an earlier run is to look like a result of this one. */
function clear(cell: CodeCell): void {
  const { execution: _, ...metadata } = cell.metadata;
  Object.assign(cell, { outputs: [], execution_count: null, metadata });
}

/** The outputs of all cells, so that what comes late is found the cell it belongs to. */
class Gathered {
  readonly #places: Places = new Map();
  readonly #byRequest = new Map<string, CellOutputs>();
  #latest: CellOutputs | undefined;

  begin(cell: CodeCell): CellOutputs {
    const into = new CellOutputs(this.#places);
    cell.outputs = into.list;
    this.#latest = into;
    return into;
  }

  know(request: string, cell: CellOutputs): void {
    if (request) this.#byRequest.set(request, cell);
  }

  take(output: KernelOutput): void {
    (this.#byRequest.get(output.parent) ?? this.#latest)?.take(output);
  }
}
