import type { PanelTable } from '#shared/protocol/webviewMessages.ts';
import { createWrapper } from '../parts/elements.ts';
import type { LazyParts } from './lazyParts.ts';
import type { NearestBar, NearestBarDeps } from './nearestBar.ts';

/** The bar of a search by vector, whose code is loaded with the first search. */
export class LazyNearestBar {
  readonly element = createWrapper('lance-part');
  readonly #parts: LazyParts;
  readonly #deps: NearestBarDeps;
  #bar: NearestBar | undefined;
  #table: PanelTable | undefined;

  constructor(parts: LazyParts, deps: NearestBarDeps) {
    this.#parts = parts;
    this.#deps = deps;
  }

  /** Shows the search of a table, or nothing if it has none. */
  show(table: PanelTable): void {
    this.#table = table;
    if (table.view?.nearest || this.#bar) this.#use((bar) => this.#table && bar.show(this.#table));
  }

  /** Says why a search failed. The rows stay as they are. */
  fail(message: string): void {
    this.#use((bar) => bar.fail(message));
  }

  #use(run: (bar: NearestBar) => void): void {
    this.#parts.use((parts) => {
      if (!this.#bar) {
        this.#bar = new parts.NearestBar(this.#deps);
        this.element.append(this.#bar.element);
      }
      run(this.#bar);
    });
  }
}
