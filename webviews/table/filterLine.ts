import { createElement, createWrapper } from '../parts/elements.ts';
import { isFieldKey } from '../parts/fieldKeys.ts';
import { type CompletedColumn, completeFilter, type Completion, type Suggestion } from './filterCompletion.ts';
import { type FilterSpan, problemSpan } from './filterProblem.ts';

export type FilterLineActions = {
  /** Filters by this SQL; an empty string shows all rows. */
  readonly run: (where: string) => void;
  /** Moves the focus to the rows. */
  readonly leave: () => void;
};

/**
 * The line of SQL that filters the rows. Enter runs it, Escape returns to the filter of the shown rows. A wrong filter stays in the
 * line, with the reason below it
 * until the user clicks elsewhere.
 */
export class FilterLine {
  readonly element = createWrapper('lance-filter');
  readonly #input = document.createElement('input');
  readonly #clear = createElement('button', { className: 'lance-filter-clear', text: '✕' });
  readonly #problem = createElement('div', { className: 'lance-filter-problem', role: 'alert' });
  /** Has the text of the input, invisible, so that a mark is below the word that is wrong. */
  readonly #marks = createWrapper('lance-filter-marks');
  readonly #list = createElement('div', { className: 'lance-filter-list', role: 'listbox' });
  readonly #actions: FilterLineActions;
  #columns: readonly CompletedColumn[] = [];
  /** The filter of the shown rows. */
  #where = '';
  #completion: Completion | undefined;
  /** The marked suggestion; -1 for none. */
  #marked = -1;

  constructor(actions: FilterLineActions) {
    this.#actions = actions;
    const input = this.#input;
    input.type = 'text';
    input.autocomplete = 'off';
    input.spellcheck = false;
    input.placeholder = "Filter rows by SQL, such as price > 10 AND name LIKE 'A%'";
    input.ariaLabel = 'Filter';
    input.role = 'combobox';
    input.ariaAutoComplete = 'list';
    input.ariaExpanded = 'false';
    this.#list.id = 'lance-filter-list';
    this.#list.ariaLabel = 'Suggestions';
    this.#list.hidden = true;
    this.#problem.id = 'lance-filter-problem';
    this.#problem.hidden = true;
    input.setAttribute('aria-controls', this.#list.id);
    input.setAttribute('aria-describedby', this.#problem.id);
    this.#clear.type = 'button';
    this.#clear.title = 'Clear Filter';
    this.#clear.ariaLabel = 'Clear Filter';
    this.#clear.addEventListener('click', () => this.#actions.run(''));
    this.#marks.ariaHidden = 'true';
    this.element.append(input, this.#marks, this.#clear, this.#problem, this.#list);
    this.#listen();
    this.#drawClear();
  }

  /** Shows the filter of the shown rows. A filter that the user is writing stays, unless it was run. */
  show(where: string, columns: readonly CompletedColumn[]): void {
    const isEdited =
      this.#input.value !== inOneLine(this.#where) && this.#input.value.trim() !== inOneLine(where).trim();
    this.#columns = columns;
    this.#where = where;
    if (!isEdited) this.#input.value = where;
    this.#explain(undefined);
    this.#close();
    this.#drawClear();
  }

  /** Replaces also a filter that the user is writing. */
  write(where: string): void {
    this.#input.value = where;
    this.#drawClear();
  }

  /** Shows why a filter is wrong, with a mark below the word that the reason names. The filter stays in the line. */
  fail(message: string, where?: string): void {
    if (where !== undefined) this.#input.value = where;
    this.#explain(message);
    this.#close();
    this.#drawClear();
  }

  /** Selects a part of the filter of the shown rows, so that the user can change it. */
  edit({ start, end }: FilterSpan): void {
    this.#input.value = this.#where;
    this.#explain(undefined);
    this.#drawClear();
    this.#input.focus();
    const [before, through] = [this.#where.slice(0, start), this.#where.slice(0, end)];
    this.#input.setSelectionRange(inOneLine(before).length, inOneLine(through).length);
  }

  set isBusy(isBusy: boolean) {
    this.element.classList.toggle('lance-is-busy', isBusy);
    this.#input.ariaBusy = String(isBusy);
  }

  #explain(message: string | undefined): void {
    this.#problem.hidden = message === undefined;
    this.#problem.textContent = message ?? '';
    this.#input.ariaInvalid = message === undefined ? null : 'true';
    this.#markProblem(message === undefined ? undefined : problemSpan(this.#input.value, message));
  }

  /** Puts a mark below a part of the text. */
  #markProblem(span: FilterSpan | undefined): void {
    const { value } = this.#input;
    if (!span) return this.#marks.replaceChildren();
    const text = createElement('span');
    const marked = createElement('span', { className: 'lance-filter-mark', text: value.slice(span.start, span.end) });
    text.append(value.slice(0, span.start), marked, value.slice(span.end));
    this.#marks.replaceChildren(text);
    this.#scrollMarks();
  }

  /** Moves the mark with the text, which scrolls if it is longer than the line. */
  #scrollMarks(): void {
    const text = this.#marks.firstElementChild;
    if (text instanceof HTMLElement) text.style.transform = `translateX(${-this.#input.scrollLeft}px)`;
  }

  #listen(): void {
    const input = this.#input;
    input.addEventListener('input', () => {
      this.#explain(undefined);
      this.#suggest(false);
      this.#drawClear();
    });
    input.addEventListener('scroll', () => this.#scrollMarks());
    input.addEventListener('blur', () => this.#close());
    input.addEventListener('focus', () => (this.#problem.hidden = this.#problem.textContent === ''));
    // The reason covers the headers, which the user may want to click.
    document.addEventListener(
      'pointerdown',
      ({ target }) => {
        if (target instanceof Node && !this.element.contains(target)) this.#problem.hidden = true;
      },
      true,
    );
    input.addEventListener('click', () => this.#close());
    input.addEventListener('keydown', (event) => this.#onKey(event));
    // A click must not take the focus from the line.
    this.#list.addEventListener('pointerdown', (event) => event.preventDefault());
    this.#list.addEventListener('click', (event) => {
      const item = event.target instanceof Element ? event.target.closest('[role=option]') : null;
      const index = Array.from(this.#list.children).indexOf(item as Element);
      if (index >= 0) this.#accept(index);
    });
  }

  #onKey(event: KeyboardEvent): void {
    // The editor must not take keys of the line, such as those of the clipboard and of undo.
    if (isFieldKey(event)) event.stopPropagation();
    const count = this.#completion?.suggestions.length ?? 0;
    const isListed = count > 0;
    if (event.key === ' ' && event.ctrlKey) this.#suggest(true);
    else if (isListed && event.key === 'ArrowDown') this.#mark((this.#marked + 1) % count);
    else if (isListed && event.key === 'ArrowUp') this.#mark((Math.max(this.#marked, 0) - 1 + count) % count);
    else if (isListed && event.key === 'Tab' && !event.shiftKey) this.#accept(Math.max(this.#marked, 0));
    else if (isListed && event.key === 'Enter' && this.#marked >= 0) this.#accept(this.#marked);
    else if (isListed && event.key === 'Escape') this.#close();
    else if (event.key === 'Enter') this.#run();
    else if (event.key === 'Escape') this.#giveUp();
    else if (event.key === 'ArrowDown') this.#actions.leave();
    else return;
    event.preventDefault();
  }

  #run(): void {
    this.#close();
    const { value } = this.#input;
    this.#actions.run(value === inOneLine(this.#where) ? this.#where : value.trim());
  }

  /** Returns to the filter of the shown rows, and then to the rows. */
  #giveUp(): void {
    const isChanged = this.#input.value !== inOneLine(this.#where) || !this.#problem.hidden;
    this.#input.value = this.#where;
    this.#explain(undefined);
    this.#drawClear();
    if (!isChanged) this.#actions.leave();
  }

  #drawClear(): void {
    this.#clear.hidden = this.#input.value === '' && this.#where === '';
  }

  // Suggestions

  #suggest(isAsked: boolean): void {
    const { value, selectionStart } = this.#input;
    const completion = completeFilter(value, selectionStart ?? value.length, this.#columns, isAsked);
    if (completion.suggestions.length === 0) return this.#close();
    this.#completion = completion;
    this.#list.replaceChildren(...completion.suggestions.map(optionOf));
    this.#list.hidden = false;
    this.#list.scrollTop = 0;
    this.#input.ariaExpanded = 'true';
    this.#mark(-1);
  }

  #mark(index: number): void {
    this.#marked = index;
    for (const [at, option] of Array.from(this.#list.children).entries()) {
      option.ariaSelected = String(at === index);
      if (at === index) option.scrollIntoView({ block: 'nearest' });
    }
    if (index < 0) this.#input.removeAttribute('aria-activedescendant');
    else this.#input.setAttribute('aria-activedescendant', optionId(index));
  }

  #accept(index: number): void {
    const completion = this.#completion;
    const suggestion = completion?.suggestions[index];
    if (!completion || !suggestion) return;
    const { start, end } = completion;
    this.#input.setRangeText(suggestion.text, start, end, 'end');
    this.#close();
    this.#drawClear();
  }

  #close(): void {
    this.#completion = undefined;
    this.#marked = -1;
    this.#list.hidden = true;
    this.#list.replaceChildren();
    this.#input.ariaExpanded = 'false';
    this.#input.removeAttribute('aria-activedescendant');
  }
}

/** Returns a filter as the line shows it, which has no line breaks. */
const inOneLine = (where: string): string => where.replaceAll(/[\r\n]/g, '');

const optionId = (index: number): string => `lance-filter-option-${index}`;

function optionOf({ text, kind, detail }: Suggestion, index: number): HTMLElement {
  const option = createElement('div', { className: `lance-filter-${kind}`, role: 'option' });
  option.id = optionId(index);
  option.ariaSelected = 'false';
  option.append(
    createElement('span', { text: kind === 'function' ? text.replace('(', '') : text }),
    createElement('span', { className: 'lance-filter-detail', text: detail }),
  );
  return option;
}
