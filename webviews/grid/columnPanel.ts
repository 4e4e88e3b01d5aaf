import { countText } from '#shared/format/numbers.ts';
import { createButton, createElement } from '../parts/elements.ts';
import type { ColumnListDeps, ColumnListView } from './columns/columnListView.ts';
import { LazyPart } from './lazyPart.ts';

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
  readonly #part: LazyPart<ColumnListView>;

  constructor(deps: ColumnPanelDeps) {
    this.#deps = deps;
    this.#element.ariaLabel = 'Columns';
    this.#part = new LazyPart({
      element: this.#element,
      name: 'the list of columns',
      load: async () => {
        const { ColumnListView: View } = await import('./columns/columnListView.ts');
        return (root) => new View(root, this.#element, { ...deps, close: () => this.hide() });
      },
    });
    this.button = createButton({ label: 'Columns', run: () => (this.#part.isOpen ? this.hide() : this.open()) });
    this.button.className = 'lance-columns-button';
    this.button.title = 'Show the list of columns (Ctrl+Shift+O)';
    this.draw();
  }

  /** Opens the list, with the keyboard focus in its search. */
  open(): void {
    if (!this.#part.isOpen) {
      this.#deps.place.classList.add('lance-has-columns');
      this.#deps.place.append(this.#element);
      this.#part.open();
      this.draw();
    }
    this.#part.focus();
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
    this.button.ariaExpanded = String(this.#part.isOpen);
    this.#part.view?.draw();
  }

  close(): void {
    this.#part.close();
    this.#deps.place.classList.remove('lance-has-columns');
  }
}
