import { isSameView } from '#shared/protocol/panelViews.ts';
import { isPanelView, type PanelView } from '#shared/protocol/webviewMessages.ts';
import { isCount, listOf, shapeFor } from '#shared/shape.ts';

const maxSteps = 100;
/** Maximum length of the steps that a page keeps, in characters of JSON. */
const maxKeptLength = 256 * 1024;

/** Steps as a page keeps them; `at` is the position of the current one. */
export type KeptSteps = { readonly views: readonly PanelView[]; readonly at: number };

const isKeptSteps = shapeFor<{ views: PanelView[]; at: number }>({ views: listOf(isPanelView), at: isCount });

/** The views of a table that the user has seen, for undo and redo. */
export class ViewSteps {
  readonly #views: PanelView[];
  #at = 0;

  constructor(first: PanelView) {
    this.#views = [first];
  }

  /** Returns steps that a page has kept; undefined if they are not steps, or lead to another view. */
  static from(kept: unknown, current: PanelView): ViewSteps | undefined {
    if (!isKeptSteps(kept) || kept.views.length > maxSteps) return undefined;
    const at = kept.views[kept.at];
    if (!at || !isSameView(at, current)) return undefined;
    const steps = new ViewSteps(current);
    steps.#views.splice(0, 1, ...kept.views);
    steps.#at = kept.at;
    return steps;
  }

  /** The steps to keep: those nearest to the current one, if all are too long. */
  get kept(): KeptSteps {
    let [views, at] = [this.#views, this.#at];
    while (views.length > 1 && JSON.stringify(views).length > maxKeptLength) {
      const isFirst = at > views.length / 2;
      views = isFirst ? views.slice(1) : views.slice(0, -1);
      if (isFirst) at--;
    }
    return { views, at };
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
