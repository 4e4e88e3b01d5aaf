import { ageEvery } from '#shared/format/times.ts';

/** Calls a function at intervals, so that a displayed age stays current while it is visible. */
export class AgeTimer {
  readonly #tell: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(tell: () => void) {
    this.#tell = tell;
  }

  get isNeeded(): boolean {
    return this.#timer !== undefined;
  }

  set isNeeded(isNeeded: boolean) {
    if (isNeeded === this.isNeeded) return;
    clearInterval(this.#timer);
    this.#timer = isNeeded ? setInterval(this.#tell, ageEvery).unref() : undefined;
  }

  dispose(): void {
    this.isNeeded = false;
  }
}
