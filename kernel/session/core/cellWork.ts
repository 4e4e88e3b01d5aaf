// What a notebook sees of interrupts. The declarations of this file are part of what cells are checked against, so it
// needs nothing else.

/** The signal of the cell whose code calls it; it aborts when that cell is interrupted. */
export type CellSignal = () => AbortSignal;

/** How long an interrupted cell may still do what brings it to its end, and say so. */
const endingMs = 1000;

/** What is said in place of the output of a cell that goes on after that. */
export const stillRuns =
  'Code of this cell goes on although it was interrupted, and what it prints and shows from here is left out. ' +
  'Let such code end by cellSignal(), or restart the kernel.\n';

/** One run of a cell, as all that it starts knows it: timers and promises of it too, long after it is done. */
export class CellWork {
  readonly id: string;
  readonly #stop = new AbortController();
  #stoppedAt: number | undefined;
  #isTold = false;

  constructor(id: string) {
    this.id = id;
  }

  /** Aborts when the cell is interrupted; not any more once it is done. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Gives the cell up: what it waits for is cancelled, and it sets no timer any more. */
  interrupt(): void {
    if (this.#stoppedAt !== undefined) return;
    this.#stoppedAt = performance.now();
    this.#stop.abort(new DOMException('The cell was interrupted.', 'AbortError'));
  }

  /** Whether it was interrupted just now. */
  get isEnding(): boolean {
    return this.#stoppedAt !== undefined && performance.now() - this.#stoppedAt < endingMs;
  }

  /** Whether output of it is to be shown; `last` once, for output that is not, and is to be explained. */
  hear(): 'yes' | 'last' | 'no' {
    if (this.#stoppedAt === undefined || this.isEnding) return 'yes';
    const heard = this.#isTold ? 'no' : 'last';
    this.#isTold = true;
    return heard;
  }
}
