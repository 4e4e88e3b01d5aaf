import { isAbort, messageOf } from '#shared/errors.ts';

/** Something that was made for a moment. */
export type Leftover = {
  /** Removes it, once however often that is asked for. @throws whatever removing it throws */
  remove(): Promise<void>;
  /** It is known not to be there. */
  forget(): void;
  readonly isGone: boolean;
};

/** Milliseconds for removing one thing: a run that was stopped ends soon, whatever the cluster does. */
const limit = 20_000;

/**
 * What a run has made in a cluster or a bucket and must not leave there. Whoever makes something says first how it is removed;
 * what is still there when the run ends, because it was stopped or because removing it failed, is removed then.
 */
export class Leftovers {
  readonly #there = new Map<Leftover, string>();

  /**
   * Takes note of something, before it is made: what was asked for may be there though no answer came.
   * @param what for people: `the pod geneva/probe-1`
   * @param how removes it, and does not mind when it is not there; its signal is its own, not the run's
   */
  add(what: string, how: (signal: AbortSignal) => Promise<void>): Leftover {
    let removing: Promise<void> | undefined;
    const there = this.#there;
    const leftover: Leftover = {
      get isGone() {
        return !there.has(leftover);
      },
      remove: () => {
        removing ??= how(AbortSignal.timeout(limit)).then(
          () => leftover.forget(),
          (error: unknown) => {
            // So that the end of the run tries once more.
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

  /** Removes all that is left, what was made last first. @returns a sentence for each thing that stays */
  async removeAll(): Promise<readonly string[]> {
    const staying: string[] = [];
    for (const [leftover, what] of [...this.#there].toReversed()) {
      try {
        await leftover.remove();
      } catch (error) {
        const why = isAbort(error) || isTimeout(error) ? `it was not gone after ${limit / 1000} s` : messageOf(error);
        staying.push(`${what} may still be there: ${why}`);
      }
    }
    return staying;
  }
}

const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === 'TimeoutError';
