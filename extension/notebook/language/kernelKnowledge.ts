import type * as vscode from 'vscode';
import type { NotebookKernels } from '../controller.ts';

/** A busy kernel does not answer between two statements; nobody waits for it longer. */
export const kernelMilliseconds = 250;
/** How long it is waited for where nobody else answers. */
export const kernelAloneMilliseconds = 800;

type Kernel = NonNullable<Awaited<NonNullable<ReturnType<NotebookKernels['session']>>['kernel']>>;

/**
 * Asks the kernels that run, for what only they know: names of cells that ran out of order or changed since. A kernel is
 * asked one thing at a time, so that a busy one does not gather a question for every letter.
 */
export class KernelKnowledge {
  readonly #kernels: NotebookKernels;
  readonly #waiting = new WeakSet<vscode.NotebookDocument>();

  constructor(kernels: NotebookKernels) {
    this.#kernels = kernels;
  }

  /** The answer, once there is one; `undefined` when no kernel runs or it has not answered what was asked before. */
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
