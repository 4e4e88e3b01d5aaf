import type { FilterColumn } from './filters/columnType.ts';
import { cutText } from '#shared/format/markup.ts';
import { joinTerms, splitTerms, type SqlTerm } from '#shared/sqlTerms.ts';
import { createElement } from '../parts/elements.ts';
import { type ReadTerm, readTerm } from './filters/columnFilter.ts';
import { filterLabel } from './filters/filterLabels.ts';
import { markedText } from '../grid/markedText.ts';

/** A term of a filter, and the column whose filter it is, if it is one. */
export type Chip = SqlTerm & { readonly read: ReadTerm | undefined };

export type ChipActions = {
  /** Filters by this SQL. */
  readonly run: (where: string) => void;
  /** Lets the user change a term. */
  readonly edit: (chip: Chip, at: HTMLElement) => void;
  /** Moves the focus to the rows. */
  readonly leave: () => void;
};

/** Returns the terms of a filter. A filter of one term that is written by hand needs no chip: the line has it. */
export function chipsOf(where: string, columns: readonly FilterColumn[]): Chip[] {
  const chips = splitTerms(where).map((term) => ({ ...term, read: readTerm(term.text, columns) }));
  return chips.length > 1 || chips[0]?.read ? chips : [];
}

/** The terms of the filter, each with a button that removes it. A click on a term changes it. */
export class FilterChips {
  readonly element = createElement('div', { className: 'lance-chips', role: 'group' });
  readonly #actions: ChipActions;
  #chips: readonly Chip[] = [];
  #labels = '';

  constructor(actions: ChipActions) {
    this.#actions = actions;
    this.element.ariaLabel = 'Terms of the filter';
    this.element.hidden = true;
    this.element.addEventListener('keydown', (event) => this.#onKey(event));
  }

  /** Moves the focus to the first chip, or to the rows. */
  focus(): void {
    const first = this.#edits()[0];
    if (first) first.focus();
    else this.#actions.leave();
  }

  draw(where: string, columns: readonly FilterColumn[]): void {
    const chips = chipsOf(where, columns);
    const labels = chips.map((chip) => labelOf(chip, columns));
    const drawn = JSON.stringify([where, labels]);
    if (drawn === this.#labels) return;
    const focused = this.#focused();
    this.#labels = drawn;
    this.#chips = chips;
    this.element.hidden = chips.length === 0;
    this.element.replaceChildren(...chips.map((chip, index) => this.#chip(chip, labels[index]!)));
    if (focused < 0) return;
    // The focus stays at the place of a removed term.
    const next = this.#edits()[Math.min(focused, chips.length - 1)];
    if (next) next.focus();
    else this.#actions.leave();
  }

  #chip(chip: Chip, label: string): HTMLElement {
    const element = createElement('span', { className: 'lance-chip', role: 'group' });
    element.ariaLabel = label;
    const edit = createElement('button', { className: 'lance-chip-edit', text: label });
    edit.type = 'button';
    edit.title = chip.text;
    edit.addEventListener('click', () => this.#actions.edit(chip, element));
    const remove = createElement('button', { className: 'lance-chip-remove', text: '✕' });
    remove.type = 'button';
    // The keyboard removes a term with Delete.
    remove.tabIndex = -1;
    remove.title = 'Remove (Delete)';
    remove.ariaLabel = `Remove ${label}`;
    remove.addEventListener('click', () => this.#remove(this.#chips.indexOf(chip)));
    element.append(edit, remove);
    return element;
  }

  #edits(): HTMLElement[] {
    return Array.from(this.element.querySelectorAll<HTMLElement>('.lance-chip-edit'));
  }

  /** Returns the position of the chip that has the focus; -1 if none has it. */
  #focused(): number {
    const { activeElement } = document;
    return Array.from(this.element.children).findIndex((chip) => chip.contains(activeElement));
  }

  #onKey(event: KeyboardEvent): void {
    const index = this.#focused();
    const edits = this.#edits();
    const { key, ctrlKey, metaKey, altKey } = event;
    if (index < 0 || ctrlKey || metaKey || altKey) return;
    const to = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: edits.length - 1 }[key];
    if (to !== undefined) edits[Math.max(0, Math.min(to, edits.length - 1))]?.focus();
    else if (key === 'Delete' || key === 'Backspace') this.#remove(index);
    else if (key === 'Escape') this.#actions.leave();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #remove(index: number): void {
    const left = this.#chips.filter((_, at) => at !== index);
    this.#actions.run(left.length === 0 ? '' : joinTerms(left.map(({ text }) => text)));
  }
}

const maxLabel = 80;

/** Returns what a chip says: the SQL of a term that is written by hand in one line. */
function labelOf({ text, read }: Chip, columns: readonly FilterColumn[]): string {
  const label = read ? filterLabel(columns[read.column]!, read.filter) : text.replaceAll(/\s+/g, ' ');
  return markedText(cutText(label, maxLabel));
}
