import type { KernelProcess } from '#client/kernelProcess.ts';
import { isCatalogError, messageOf } from '#shared/errors.ts';
import type { KernelOutput } from '#shared/kernelMessages.ts';

/** Why a cell did not go through. */
export type CellFailure = {
  ename: string;
  evalue: string;
  traceback: readonly string[];
  /** Why it was stopped, where it did not fail by itself. */
  remark?: string;
  /** Whether there is no kernel any more for the cells below. */
  hasEnded?: boolean;
};

export type CellEnd = { failure: CellFailure | null; times: Record<string, string>; executionCount: number | null };

export type CellLimits = {
  /** Seconds that the cell may take. */
  timeout?: number | undefined;
  signal?: AbortSignal | undefined;
};

/**
 * Runs one cell and stops it when its time is up or `signal` says so: by an interrupt, which keeps what it has given so
 * far, and where that does not help by ending the kernel. Never rejects.
 */
export async function runCell(
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
