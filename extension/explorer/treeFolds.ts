import { asRecord } from '#shared/records.ts';
import type { State } from '../host/state.ts';

/** Maximum number of rows whose state is kept. The rows that changed first are forgotten. */
const maxRows = 500;

type FoldDeps = {
  state: Pick<State, 'treeFolds' | 'setTreeFolds'>;
  report: (what: string, error: unknown) => void;
};

/**
 * Remembers which rows of the catalog tree the user has expanded or collapsed. VS Code forgets this when the window
 * reloads.
 */
export class TreeFolds {
  readonly #deps: FoldDeps;
  readonly #folds: Map<string, boolean>;

  constructor(deps: FoldDeps) {
    this.#deps = deps;
    const kept = Object.entries(asRecord(deps.state.treeFolds()));
    this.#folds = new Map(kept.filter((entry): entry is [string, boolean] => typeof entry[1] === 'boolean'));
  }

  /** Returns whether the user has left the row expanded; undefined if the user has never changed it. */
  isExpanded(id: string): boolean | undefined {
    return this.#folds.get(id);
  }

  set(id: string, isExpanded: boolean): void {
    this.#folds.delete(id);
    this.#folds.set(id, isExpanded);
    for (const oldest of this.#folds.keys()) {
      if (this.#folds.size <= maxRows) break;
      this.#folds.delete(oldest);
    }
    this.#deps.state
      .setTreeFolds(Object.fromEntries(this.#folds))
      .catch((error: unknown) => this.#deps.report('keeping which rows of the tree are expanded', error));
  }
}
