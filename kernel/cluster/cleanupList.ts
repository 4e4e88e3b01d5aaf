import { isAbort, messageOf } from '#shared/errors.ts';

export type CleanupAction = {
  /** Removes the object; repeated calls share one removal. */
  remove(): Promise<void>;
  /** Marks the object as known not to exist. */
  forget(): void;
  readonly isGone: boolean;
};

/** Milliseconds to remove one object, so that a stopped run ends soon even if the cluster does not respond. */
const limit = 20_000;

/**
 * The temporary objects of a run in a cluster or a bucket. The end of the run removes those that still exist because
 * the run was stopped or their removal failed.
 */
export class CleanupList {
  readonly #there = new Map<CleanupAction, string>();

  /**
   * Registers an object before it is created, because it may exist even if the request to create it got no response.
   * @param what the label for messages: `the pod geneva/probe-1`
   * @param how removes the object, and succeeds if the object does not exist; its signal is independent of the run
   */
  add(what: string, how: (signal: AbortSignal) => Promise<void>): CleanupAction {
    let removing: Promise<void> | undefined;
    const there = this.#there;
    const leftover: CleanupAction = {
      get isGone() {
        return !there.has(leftover);
      },
      remove: () => {
        removing ??= how(AbortSignal.timeout(limit)).then(
          () => leftover.forget(),
          (error: unknown) => {
            // The failed removal is forgotten, so that the end of the run tries again.
            removing = undefined;
            throw error;
          },
        );
        return removing;
      },
      forget: () => void there.delete(leftover),
    };
    there.set(leftover, what);
    return leftover;
  }

  /** Removes everything that is left, newest first. @returns a sentence for each object that stays */
  async removeAll(): Promise<readonly string[]> {
    const staying: string[] = [];
    for (const [leftover, what] of [...this.#there].toReversed()) {
      try {
        await leftover.remove();
      } catch (error) {
        const why = isAbort(error) || isTimeout(error) ? `it still existed after ${limit / 1000} s` : messageOf(error);
        staying.push(`${what} may still exist: ${why}`);
      }
    }
    return staying;
  }
}

const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === 'TimeoutError';
