import type { KernelProcess } from '#processes/kernelProcess.ts';
import { isAbort } from '#shared/errors.ts';
import type { KernelOutput } from '#shared/protocol/kernelMessages.ts';
import { logFailure } from '../host/log.ts';
import type { SessionDeps, StartedKernel } from './sessionTypes.ts';

type KernelEvents = {
  /** Called when a kernel is being started or reattached. */
  onStarting: () => void;
  onStarted: (started: StartedKernel) => void;
  /**
   * Called when the kernel has ended or did not start. `hasRun`: variables of cells were lost.
   * @param reason a sentence, if the end was not requested
   */
  onGone: (hasRun: boolean, reason?: string) => void;
  /** Called with output of a cell that has ended. */
  onOrphanOutput: (message: KernelOutput) => void;
};

/** The kernel process of a notebook, started on demand and replaced after it ended. */
export class SessionKernel {
  readonly #parts: () => SessionDeps;
  readonly #events: KernelEvents;
  #process: Promise<KernelProcess> | undefined;
  #lifetime = new AbortController();
  #isReady = false;
  #hasRun = false;
  /** Whether the list of connections has changed while the kernel started. */
  #isOutdated = false;

  constructor(parts: () => SessionDeps, events: KernelEvents) {
    this.#parts = parts;
    this.#events = events;
  }

  /** The running or starting kernel. */
  get process(): Promise<KernelProcess> | undefined {
    return this.#process;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether a cell ran in the kernel, so that a restart would lose variables. */
  get hasRun(): boolean {
    return this.#hasRun;
  }

  /** Returns the kernel; starts it if there is none. @throws the reason if it can't start */
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

  /** Starts the kernel before the first cell needs it. A failure is reported when a cell runs. */
  warm(): void {
    this.ensure().catch((error: unknown) => {
      if (!isAbort(error)) logFailure(this.#parts().log, 'starting the kernel', error);
    });
  }

  /**
   * Returns the kernel for a cell and marks it as used. If the kernel is replaced while it starts, waits for the new
   * kernel, but only while `isWanted` returns true.
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
   * Restarts the kernel if no cell has run in it, because `db` follows the list of connections until then. A cell that
   * waits for the kernel gets the new kernel. Waits for a starting kernel first, because it may be a reattached kernel
   * with variables.
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

  /** Disconnects from the kernel when the window closes. A used kernel waits, because the window may reload. */
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
