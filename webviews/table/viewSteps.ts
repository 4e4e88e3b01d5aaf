import type { PanelView } from '#shared/protocol/webviewMessages.ts';

/** All rows in the order of the table. */
export const wholeTable: PanelView = { where: '', orderBy: [] };

const maxSteps = 100;

export const isSameView = (a: PanelView, b: PanelView): boolean =>
  a.where.trim() === b.where.trim() && JSON.stringify(a.orderBy) === JSON.stringify(b.orderBy);

/** The views of a table that the user has seen, for undo and redo. */
export class ViewSteps {
  readonly #views: PanelView[];
  #at = 0;

  constructor(first: PanelView) {
    this.#views = [first];
  }

  get current(): PanelView {
    return this.#views[this.#at]!;
  }

  /** Adds a view after the current one. The views that were undone are forgotten. */
  add(view: PanelView): void {
    if (isSameView(view, this.current)) return;
    this.#views.splice(this.#at + 1, Infinity, view);
    if (this.#views.length > maxSteps) this.#views.shift();
    this.#at = this.#views.length - 1;
  }

  /** Returns the view before the current one (-1) or after it (1). */
  peek(offset: -1 | 1): PanelView | undefined {
    return this.#views[this.#at + offset];
  }

  move(offset: -1 | 1): void {
    if (this.peek(offset)) this.#at += offset;
  }
}
