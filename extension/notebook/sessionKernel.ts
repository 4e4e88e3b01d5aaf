import type { KernelProcess } from '#processes/kernelProcess.ts';
import { isAbort } from '#shared/errors.ts';
import type { KernelOutput } from '#shared/protocol/kernelMessages.ts';
import { logFailure } from '../host/log.ts';
import type { SessionParts, StartedKernel } from './sessionTypes.ts';

type KernelEvents = {
  /** A kernel is being started, or the one that the notebook had is sought. */
  onStarting: () => void;
  onStarted: (started: StartedKernel) => void;
  /**
   * It ended, or never came up. `hasRun`: with it went what cells had declared.
   * @param reason a sentence, when nobody had asked it to end
   */
  onGone: (hasRun: boolean, reason?: string) => void;
  /** What a cell prints that is over. */
  onOrphanOutput: (message: KernelOutput) => void;
};

/** The kernel process of a notebook: started when it is wanted, replaced after it ended. */
export class SessionKernel {
  readonly #parts: () => SessionParts;
  readonly #events: KernelEvents;
  #process: Promise<KernelProcess> | undefined;
  #lifetime = new AbortController();
  #isReady = false;
  #hasRun = false;
  /** The list of connections changed while it started. */
  #isOutdated = false;

  constructor(parts: () => SessionParts, events: KernelEvents) {
    this.#parts = parts;
    this.#events = events;
  }

  /** The running kernel, or the one that starts; `undefined` while there is none. */
  get process(): Promise<KernelProcess> | undefined {
    return this.#process;
  }

  /** Whether it is up. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether a cell ran in it, so that there is something to lose. */
  get hasRun(): boolean {
    return this.#hasRun;
  }

  /** The kernel, started when there is none. @throws what kept it from starting */
  ensure(): Promise<KernelProcess> {
    if (this.#process) return this.#process;
    const { start, notebook, cwd, ask, log } = this.#parts();
    const starting = start(notebook, cwd, ask, this.#lifetime.signal).then((started) => {
      const { kernel } = started;
      kernel.onOrphanOutput((message) => this.#events.onOrphanOutput(message));
      kernel.onDidExit(({ isExpected, reason }) => {
        if (!isExpected) log.warn(reason);
        if (this.#process === starting) this.#forget(isExpected ? undefined : reason);
      });
      if (this.#process === starting) this.#started(started);
      return kernel;
    });
    this.#process = starting;
    starting.catch(() => {
      if (this.#process !== starting) return;
      const isOutdated = this.#isOutdated;
      this.#forget();
      if (isOutdated) this.warm();
    });
    this.#events.onStarting();
    return starting;
  }

  /** Starts the kernel before the first cell needs it. What goes wrong is told when a cell runs. */
  warm(): void {
    this.ensure().catch((error: unknown) => {
      if (!isAbort(error)) logFailure(this.#parts().log, 'starting the kernel', error);
    });
  }

  /**
   * The kernel for a cell, which counts as used from now on. One that is replaced while it starts is not waited for, as
   * long as the cell `isWanted`.
   */
  async forCell(isWanted: () => boolean): Promise<KernelProcess> {
    for (;;) {
      const starting = this.ensure();
      const isReplaced = (): boolean => isWanted() && this.#process !== undefined && this.#process !== starting;
      try {
        const kernel = await starting;
        if (isReplaced()) continue;
        if (this.#process === starting) this.#use();
        return kernel;
      } catch (error) {
        if (!isReplaced()) throw error;
      }
    }
  }

  /**
   * Starts it anew when nothing ran in it yet: `db` follows the list of connections until it is used. A cell that waits for
   * the kernel gets the new one. One that starts is let come up first, as it may be one with variables that waited for this
   * window.
   */
  renew(): void {
    if (this.#hasRun || !this.#process) return;
    if (!this.#isReady) {
      this.#isOutdated = true;
      return;
    }
    this.end();
    this.warm();
  }

  /** Ends it. */
  end(): void {
    const kernel = this.#process;
    const { onEnd, notebook } = this.#parts();
    if (kernel) onEnd(notebook);
    this.#lifetime.abort();
    this.#lifetime = new AbortController();
    this.#forget();
    // A kernel that never started has nothing to close.
    void kernel?.then(
      (started) => started.dispose(),
      () => undefined,
    );
  }

  /** The window goes away, and may come back: a kernel that was used waits for it. */
  leave(): void {
    const kernel = this.#process;
    this.#process = undefined;
    if (kernel) void kernel.then((running) => running.leave()).catch(() => undefined);
    else this.#lifetime.abort();
  }

  #use(): void {
    const { onUse, notebook } = this.#parts();
    if (!this.#hasRun) onUse(notebook);
    this.#hasRun = true;
  }

  #started(started: StartedKernel): void {
    this.#isReady = true;
    this.#hasRun = started.executionCount > 0;
    this.#events.onStarted(started);
    if (this.#isOutdated) this.renew();
  }

  #forget(reason?: string): void {
    const hasRun = this.#hasRun;
    this.#process = undefined;
    this.#isReady = this.#hasRun = this.#isOutdated = false;
    this.#events.onGone(hasRun, reason);
  }
}
