import type { PanelSearch, SearchedColumns } from '#shared/protocol/webviewMessages.ts';
import { createElement, createWrapper } from '../parts/elements.ts';
import { isFieldKey } from '../parts/fieldKeys.ts';

export type SearchBoxActions = {
  /** Searches the rows; without a search, shows all of them. */
  readonly run: (search: PanelSearch | undefined) => void;
  /** Moves the focus to the rows. */
  readonly leave: () => void;
};

/**
 * The box that searches all columns of text. Enter runs the search, Escape returns to the one of the shown rows. A button
 * chooses between full-text indexes, if the table has some, and reading all text.
 */
export class SearchBox {
  readonly element = createWrapper('lance-search');
  readonly #input = createElement('input');
  readonly #mode = createElement('button', { className: 'lance-search-mode' });
  readonly #problem = createElement('div', { className: 'lance-filter-problem', role: 'alert' });
  readonly #actions: SearchBoxActions;
  /** The search of the shown rows. */
  #search: PanelSearch | undefined;
  #searched: SearchedColumns | undefined;

  constructor(actions: SearchBoxActions) {
    this.#actions = actions;
    const input = this.#input;
    input.type = 'search';
    input.autocomplete = 'off';
    input.spellcheck = false;
    input.placeholder = 'Search text';
    input.ariaLabel = 'Search text';
    input.title = 'Search all columns of text (Ctrl+F)';
    this.#problem.id = 'lance-search-problem';
    this.#problem.hidden = true;
    input.setAttribute('aria-describedby', this.#problem.id);
    this.#mode.type = 'button';
    this.#mode.addEventListener('click', () => this.#toggleMode());
    this.element.append(input, this.#mode, this.#problem);
    input.addEventListener('keydown', (event) => this.#onKey(event));
    input.addEventListener('input', () => {
      this.#explain(undefined);
      this.#drawOpen();
    });
    // The browser sends this event also when its button clears the box.
    input.addEventListener('search', () => {
      if (input.value === '' && this.#search) this.#actions.run(undefined);
    });
    input.addEventListener('blur', () => {
      this.#problem.hidden = true;
      this.#drawOpen();
    });
    this.#draw();
  }

  /** Shows the search of the shown rows. */
  show(search: PanelSearch | undefined, searched: SearchedColumns | undefined): void {
    const isEdited = this.#input.value !== (this.#search?.text ?? '') && this.#input.value.trim() !== search?.text;
    this.#search = search;
    this.#searched = searched;
    if (!isEdited) this.#input.value = search?.text ?? '';
    this.#explain(undefined);
    this.#draw();
  }

  /** Replaces also what the user is writing. */
  write(search: PanelSearch | undefined): void {
    this.#input.value = search?.text ?? '';
    this.#drawOpen();
  }

  /** Shows why a search has failed. What the user has written stays. */
  fail(message: string): void {
    this.#explain(message);
  }

  /** Moves the focus to the box, with its text selected. */
  focus(): void {
    // A narrow panel shows the box only with the focus or with text.
    this.element.classList.add('lance-is-open');
    this.#input.focus();
    this.#input.select();
  }

  #draw(): void {
    const search = this.#search;
    const usesIndex = this.#searched?.isIndex === true;
    this.#mode.hidden = !search || !(usesIndex || search.isScan);
    this.#mode.textContent = usesIndex ? 'Index' : 'All text';
    this.#mode.title = usesIndex
      ? `Full-text index on ${this.#searched?.columns.join(', ')}: whole words. Click to search all text.`
      : 'All columns of text were read. Click to use the full-text index.';
    this.#mode.ariaLabel = usesIndex ? 'Index: search all text instead' : 'All text: use the full-text index instead';
    this.#drawOpen();
  }

  #drawOpen(): void {
    const isOpen = this.#input.value !== '' || document.activeElement === this.#input;
    this.element.classList.toggle('lance-is-open', isOpen);
  }

  #explain(message: string | undefined): void {
    this.#problem.hidden = message === undefined;
    this.#problem.textContent = message ?? '';
    this.#input.ariaInvalid = message === undefined ? null : 'true';
  }

  #toggleMode(): void {
    const search = this.#search;
    if (search) this.#actions.run({ ...search, isScan: !search.isScan });
  }

  #onKey(event: KeyboardEvent): void {
    // The editor must not take keys of the box, such as those of the clipboard and of undo.
    if (isFieldKey(event)) event.stopPropagation();
    const { key } = event;
    if (key === 'Enter') this.#run();
    else if (key === 'Escape') this.#giveUp();
    else if (key === 'ArrowDown') this.#actions.leave();
    else return;
    event.preventDefault();
  }

  #run(): void {
    const text = this.#input.value.trim();
    this.#actions.run(text === '' ? undefined : { text, isScan: this.#search?.isScan ?? false });
  }

  /** Returns to the search of the shown rows, and then to the rows. */
  #giveUp(): void {
    const text = this.#search?.text ?? '';
    const isChanged = this.#input.value !== text || !this.#problem.hidden;
    this.#input.value = text;
    this.#explain(undefined);
    if (!isChanged) this.#actions.leave();
  }
}
