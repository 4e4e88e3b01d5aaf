import type { KernelProcess } from '#client/kernelProcess.ts';
import type { KernelOutput } from '#shared/kernelMessages.ts';
import { CellOutputs, type Places } from './cellOutputs.ts';
import { isCodeCell, tagsOf, type CodeCell, type Notebook, type NotebookCell } from './notebookFile.ts';
import { runCell, type CellFailure } from './runCell.ts';

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

export type RunOptions = {
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
