import { isClusterError } from './errors.ts';

/**
 * Asks each question once for a whole run, however many checks want the answer. A failure that may pass by itself is
 * forgotten, so that a retry asks again; any other failure is the answer.
 */
export class Once {
  readonly #answers = new Map<string, Promise<unknown>>();

  ask<T>(question: string, how: () => Promise<T>): Promise<T> {
    const known = this.#answers.get(question);
    // The key is the question: one and the same asks for one and the same type.
    if (known) return known as Promise<T>;
    const answer = how();
    this.#answers.set(question, answer);
    answer.catch((error: unknown) => {
      if (isClusterError(error) && error.isTransient) this.#answers.delete(question);
    });
    return answer;
  }
}
