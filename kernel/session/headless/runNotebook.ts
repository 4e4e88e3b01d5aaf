import type { KernelProcess } from '#processes/kernelProcess.ts';
import { isCatalogError, messageOf } from '#shared/errors.ts';
import type { KernelOutput } from '#shared/protocol/kernelMessages.ts';
import { CellOutputs, type Places } from './cellOutputs.ts';
import { type CodeCell, isCodeCell, type Notebook, type NotebookCell, tagsOf } from './notebookFile.ts';

type CellFailure = {
  ename: string;
  evalue: string;
  traceback: readonly string[];
  /** The reason why the cell was stopped, if it did not fail by itself. */
  remark?: string;
  /** Whether the kernel has ended, so that later cells can't run. */
  hasEnded?: boolean;
};

type CellEnd = { failure: CellFailure | null; times: Record<string, string>; executionCount: number | null };

type CellLimits = {
  /** Time limit in seconds. */
  timeout?: number | undefined;
  signal?: AbortSignal | undefined;
};

/**
 * Runs one cell. After the time limit, or when `signal` aborts, the cell is interrupted; outputs so far are kept. If
 * the interrupt does not stop the cell, the kernel is ended. Never rejects.
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
    // An execution rejects only if the kernel has ended.
    const content = plain('KernelEnded', reasonOf(error));
    onOutput({ type: 'error', parent: '', content });
    return { failure: { ...content, hasEnded: true, ...remark() }, times, executionCount: null };
  } finally {
    stop.removeEventListener('abort', onStop);
  }
}

/** Names under which JupyterLab and nbclient store the times of a cell's messages. */
const timeNames: { readonly [T in KernelOutput['type']]?: string } = {
  status: 'iopub.status.busy',
  execute_input: 'iopub.execute_input',
};

const plain = (ename: string, evalue: string) => ({ ename, evalue, traceback: [evalue] });

/** Returns the reason of an error without the hint, because the hint is for users of a notebook editor. */
const reasonOf = (error: unknown): string => (isCatalogError(error) ? error.toJSON().error : messageOf(error));

async function interrupt(kernel: KernelProcess): Promise<void> {
  const { status } = await kernel.interrupt().catch(() => ({ status: 'failed' }));
  // If the cell blocks in native code, an interrupt has no effect. There is no user to ask, so the kernel is ended.
  if (status === 'failed') kernel.dispose();
}

/** A cell that is run: `number` counts executed cells from 1 and equals the kernel's execution count. */
export type RunningCell = { number: number; total: number; source: string };

/** A failed cell. The run continues if `isAllowed` is true. */
export type FailedCell = CellFailure & { cell: RunningCell; isAllowed: boolean };

export type RunListener = {
  begin(cell: RunningCell): void;
  output(output: KernelOutput): void;
  end(cell: RunningCell, failed: FailedCell | null): void | Promise<void>;
  /** Called after the output that arrives after the end of the last cell. */
  finish?(): void;
};

type RunOptions = {
  /** Time limit per cell in seconds. */
  timeout?: number | undefined;
  /** Whether the run continues after a failed cell. */
  allowErrors?: boolean;
  signal?: AbortSignal;
};

/** How long a run waits for code of its cells that still runs after the last cell. */
const lingerMs = 1000;

/**
 * Code that waits for everything that keeps the event loop alive and ends by itself: timers, requests, files and
 * processes. It does not wait for ports, pipes and servers, which stay open for as long as the kernel runs. The names
 * are taken from `globalThis`, because cells may declare their own.
 */
const lingerCode = `{
  const end = globalThis.performance.now() + ${lingerMs};
  const stays = ['MessagePort', 'PipeWrap', 'TTYWrap', 'TCPServerWrap'];
  const isBusy = () => globalThis.process.getActiveResourcesInfo().some((name) => !stays.includes(name));
  while (globalThis.performance.now() < end && isBusy()) await new Promise((go) => globalThis.setTimeout(go, 20));
}`;

/** Waits for code of the cells that still runs. Never rejects. */
async function linger(
  kernel: KernelProcess,
  onOutput: (output: KernelOutput) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  // If cells have replaced the globals that this code needs, it fails, and the run does not wait.
  const take = (output: KernelOutput): void => {
    if (output.type !== 'error') onOutput(output);
  };
  await kernel.execute(lingerCode, take, { storeHistory: false, ...(signal && { signal }) }).catch(() => undefined);
}

/** Cell tags that Jupyter's own programs define. */
const skipTag = 'skip-execution';
const mayFailTag = 'raises-exception';

/**
 * Runs the code cells in order and replaces their outputs in the notebook. Skips cells without code and cells tagged
 * `skip-execution`; a cell tagged `raises-exception` may fail. Stops after any other failed cell, after a cell that
 * `signal` stopped, and when the kernel ends. At the end it waits up to a second for code that cells have left running.
 * @returns the failed cells; the cell that stopped the run is the last
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
  const onLate = (output: KernelOutput): void => {
    gathered.take(output);
    listener.output(output);
  };
  const late = kernel.onOrphanOutput(onLate);
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
    // A program ends when its last timer has run, so the output of a timer is part of the run. A run does not wait
    // longer, because the timers of some notebooks never end.
    if (kernel.isAlive && !signal?.aborted) await linger(kernel, onLate, signal);
    return failures;
  } finally {
    late.dispose();
    listener.finish?.();
  }
}

const isSkipped = (cell: NotebookCell): boolean => tagsOf(cell).includes(skipTag);
const isRun = (cell: NotebookCell): cell is CodeCell =>
  isCodeCell(cell) && !isSkipped(cell) && cell.source.trim() !== '';

/** Clears the cell, so that outputs of an earlier run are not mistaken for outputs of this run. */
function clear(cell: CodeCell): void {
  const { execution: _, ...metadata } = cell.metadata;
  Object.assign(cell, { outputs: [], execution_count: null, metadata });
}

/** The outputs of all cells; assigns late outputs to the cell that sent them. */
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
