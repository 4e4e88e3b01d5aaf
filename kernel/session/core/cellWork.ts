// How code of a notebook observes interrupts. The type checker reads the declarations of this file for every notebook,
// so the file imports nothing.

/** Returns the signal of the calling cell, which aborts when that cell is interrupted. */
export type CellSignal = () => AbortSignal;

/** How long an interrupted cell may still clean up and print. */
const endingMs = 1000;

/** Printed once when an interrupted cell still prints after `endingMs`. Later output of the cell is dropped. */
export const stillRuns =
  'Code of this cell still runs although it was interrupted; its further output is not shown. ' +
  'Stop such code with cellSignal(), or restart the kernel.\n';

/**
 * One run of a cell. Everything that the cell starts belongs to it, including timers and promises that outlive the
 * cell.
 */
export class CellWork {
  readonly id: string;
  readonly #stop = new AbortController();
  #stoppedAt: number | undefined;
  #isTold = false;

  constructor(id: string) {
    this.id = id;
  }

  /** Aborts when the cell is interrupted. An interrupt after the cell has finished does not abort it. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Cancels the operations that the cell waits for; from now on the cell can't set timers. */
  interrupt(): void {
    if (this.#stoppedAt !== undefined) return;
    this.#stoppedAt = performance.now();
    this.#stop.abort(new DOMException('The cell was interrupted.', 'AbortError'));
  }

  get isEnding(): boolean {
    return this.#stoppedAt !== undefined && performance.now() - this.#stoppedAt < endingMs;
  }

  /**
   * Whether to show output of the cell; `last` means that the notice `stillRuns` is printed instead of the output.
   * `last` is returned once; after that the result is `no`.
   */
  hear(): 'yes' | 'last' | 'no' {
    if (this.#stoppedAt === undefined || this.isEnding) return 'yes';
    const heard = this.#isTold ? 'no' : 'last';
    this.#isTold = true;
    return heard;
  }
}
