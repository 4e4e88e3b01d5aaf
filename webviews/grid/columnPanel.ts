import { countText } from '#shared/format/numbers.ts';
import { createButton, createElement } from '../parts/elements.ts';
import type { ColumnListDeps, ColumnListView } from './columns/columnListView.ts';
import { loadProblem } from './lazyPart.ts';

export type ColumnPanelDeps = Omit<ColumnListDeps, 'close'> & {
  /** Holds the list while it is open. */
  readonly place: HTMLElement;
  readonly focusGrid: () => void;
};

/** The button below the rows and the list of columns that it opens. The list is in a bundle that is loaded then. */
export class ColumnPanel {
  readonly button: HTMLButtonElement;
  readonly #deps: ColumnPanelDeps;
  readonly #element = createElement('section', { className: 'lance-columns' });
  #isOpen = false;
  #view: ColumnListView | undefined;

  constructor(deps: ColumnPanelDeps) {
    this.#deps = deps;
    this.#element.ariaLabel = 'Columns';
    this.button = createButton({ label: 'Columns', run: () => (this.#isOpen ? this.hide() : this.open()) });
    this.button.className = 'lance-columns-button';
    this.button.title = 'Show the list of columns (Ctrl+Shift+O)';
    this.draw();
  }

  /** Opens the list, with the keyboard focus in its search. */
  open(): void {
    if (this.#isOpen) return this.#view?.focus();
    this.#isOpen = true;
    this.#deps.place.classList.add('lance-has-columns');
    this.#deps.place.append(this.#element);
    this.draw();
    void this.#load();
  }

  /** Closes the list and returns the focus to the rows. */
  hide(): void {
    this.close();
    this.draw();
    this.#deps.focusGrid();
  }

  /** Draws after the choices have changed. */
  draw(): void {
    const hidden = this.#deps.choices().hidden.length;
    const columns = `${countText(hidden)} ${hidden === 1 ? 'column' : 'columns'} hidden`;
    const label = hidden === 0 ? 'Columns' : columns;
    if (this.button.textContent !== label) this.button.textContent = label;
    this.button.ariaExpanded = String(this.#isOpen);
    this.#view?.draw();
  }

  close(): void {
    this.#isOpen = false;
    this.#view?.close();
    this.#view = undefined;
    this.#element.replaceChildren();
    this.#element.remove();
    this.#deps.place.classList.remove('lance-has-columns');
  }

  async #load(): Promise<void> {
    try {
      const { ColumnListView: View } = await import('./columns/columnListView.ts');
      if (!this.#isOpen || this.#view) return;
      const root = this.#element.getRootNode();
      this.#view = new View(root instanceof ShadowRoot ? root : document, { ...this.#deps, close: () => this.hide() });
      this.#element.append(this.#view.element);
      this.#view.focus();
    } catch (error) {
      this.#element.replaceChildren(loadProblem('the list of columns', error));
    }
  }
}
