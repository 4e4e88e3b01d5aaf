import type * as vscode from 'vscode';
import type { NotebookKernels } from '../controller.ts';

/** Time limit for a kernel's reply: a busy kernel does not reply between two statements. */
export const kernelMilliseconds = 250;
/** Time limit if the language worker does not run, so that the kernel is the only source. */
export const kernelAloneMilliseconds = 800;

type Kernel = NonNullable<Awaited<NonNullable<ReturnType<NotebookKernels['session']>>['kernel']>>;

/**
 * Requests the names that only running kernels know, for example from cells that ran out of order or changed after
 * their run. Sends one request at a time to each kernel, so that a busy kernel does not collect a request for every
 * typed letter.
 */
export class KernelCompletions {
  readonly #kernels: NotebookKernels;
  readonly #waiting = new WeakSet<vscode.NotebookDocument>();

  constructor(kernels: NotebookKernels) {
    this.#kernels = kernels;
  }

  /** Returns the reply; `undefined` if no kernel runs or an earlier request is pending. */
  async ask<T>(notebook: vscode.NotebookDocument, question: (kernel: Kernel) => Promise<T>): Promise<T | undefined> {
    const session = this.#kernels.session(notebook);
    if (!session?.hasRun || this.#waiting.has(notebook)) return undefined;
    this.#waiting.add(notebook);
    try {
      const kernel = await session.kernel;
      return kernel && (await question(kernel));
    } finally {
      this.#waiting.delete(notebook);
    }
  }
}
