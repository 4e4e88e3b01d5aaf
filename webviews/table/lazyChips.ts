import { createWrapper } from '../parts/elements.ts';
import type { ChipActions, FilterChips } from './filterChips.ts';
import type { FilterColumn } from './filters/columnType.ts';
import type { LazyParts } from './lazyParts.ts';

/** The chips of a filter, whose code is loaded with the first filter. */
export class LazyChips {
  readonly element = createWrapper('lance-part');
  readonly #parts: LazyParts;
  readonly #actions: ChipActions;
  #chips: FilterChips | undefined;
  #filter: { readonly where: string; readonly columns: readonly FilterColumn[] } = { where: '', columns: [] };

  constructor(parts: LazyParts, actions: ChipActions) {
    this.#parts = parts;
    this.#actions = actions;
  }

  /** Draws the terms of a filter. */
  draw(where: string, columns: readonly FilterColumn[]): void {
    this.#filter = { where, columns };
    if (where.trim() === '' && !this.#chips) return;
    this.#parts.use((parts) => {
      if (!this.#chips) {
        this.#chips = new parts.FilterChips(this.#actions);
        this.element.append(this.#chips.element);
      }
      // The filter may have changed while the code was loaded.
      this.#chips.draw(this.#filter.where, this.#filter.columns);
    });
  }

  /** Moves the focus to the first chip, or to the rows. */
  focus(): void {
    if (this.#chips) this.#chips.focus();
    else this.#actions.leave();
  }
}
