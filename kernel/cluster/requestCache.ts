import { isClusterError } from './errors.ts';

/**
 * Caches each result for a run, so that checks share requests. A transient failure is dropped, so that a retry sends
 * the request again; other failures stay cached.
 */
export class RequestCache {
  readonly #answers = new Map<string, Promise<unknown>>();

  ask<T>(question: string, how: () => Promise<T>): Promise<T> {
    const known = this.#answers.get(question);
    // The key determines the type, because the same key is always used with the same `T`.
    if (known) return known as Promise<T>;
    const answer = how();
    this.#answers.set(question, answer);
    answer.catch((error: unknown) => {
      if (isClusterError(error) && error.isTransient) this.#answers.delete(question);
    });
    return answer;
  }
}
