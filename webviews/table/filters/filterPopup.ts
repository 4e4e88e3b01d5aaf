import type { ColumnValues } from '#shared/protocol/webviewMessages.ts';
import { markedText } from '../../grid/markedText.ts';
import { createButton, createElement, createWrapper } from '../../parts/elements.ts';
import { isFieldKey } from '../../parts/fieldKeys.ts';
import { removeWhenClosed } from '../../parts/removeWhenClosed.ts';
import { tabWithin } from '../../parts/tabWithin.ts';
import {
  type ColumnFilter,
  type Comparison,
  hasValues,
  type Operator,
  operatorsOf,
  valueCount,
  writeFilter,
} from './columnFilter.ts';
import { filterType, type FilterType, typedZone, type FilterColumn } from './columnType.ts';
import { operatorLabel } from './filterLabels.ts';
import { ValueList } from './valueList.ts';

export type FilterPopupDeps = {
  /** Holds the popup. */
  readonly parent: HTMLElement;
  readonly at: { readonly x: number; readonly y: number };
  readonly column: FilterColumn;
  /** The filter that the column has. */
  readonly filter: ColumnFilter | undefined;
  readonly loadValues: (start: string, signal: AbortSignal) => Promise<ColumnValues>;
  /** Sets the filter of the column as SQL, or removes it. */
  readonly apply: (sql: string | undefined) => void;
  readonly onClosed: () => void;
};

/** Opens the popup that sets the filter of a column. Enter applies it, Escape and a click outside close it. */
export function openFilterPopup(deps: FilterPopupDeps): void {
  new FilterPopup(deps).open();
}

/** A condition in the popup. The values of another operator stay, so that the user can go back. */
type Draft = { operator: Operator; values: [string, string] };

const draftOf = ({ operator, values }: Comparison): Draft => ({ operator, values: [values[0] ?? '', values[1] ?? ''] });

class FilterPopup {
  readonly #deps: FilterPopupDeps;
  readonly #type: FilterType;
  readonly #element = createElement('div', { className: 'lance-filter-popup', role: 'dialog' });
  readonly #conditions = createWrapper('lance-conditions');
  readonly #rows = createWrapper('lance-condition-rows');
  readonly #match = createElement('select');
  readonly #ignoreCase = createElement('input');
  readonly #problem = createElement('p', { className: 'lance-popup-problem', role: 'alert' });
  readonly #tabs: readonly [HTMLButtonElement, HTMLButtonElement];
  readonly #list: ValueList;
  #drafts: Draft[];

  constructor(deps: FilterPopupDeps) {
    this.#deps = deps;
    const { column, filter, loadValues } = deps;
    this.#type = filterType(column);
    const comparisons = filter?.conditions.filter((each) => each.kind === 'comparison') ?? [];
    const choice = filter?.conditions.find((each) => each.kind === 'values');
    this.#drafts = comparisons.length > 0 ? comparisons.map(draftOf) : [this.#newDraft()];
    this.#ignoreCase.checked = comparisons.length === 0 || comparisons.some(({ ignoresCase }) => ignoresCase);
    this.#match.value = filter?.match ?? 'all';
    this.#list = new ValueList({ type: this.#type, choice, load: loadValues });
    this.#tabs = [this.#tab('Conditions', false), this.#tab('Values', true)];
    this.#build(filter?.match ?? 'all');
    this.#select(choice !== undefined);
  }

  open(): void {
    const { parent, at } = this.#deps;
    const element = this.#element;
    parent.append(element);
    element.showPopover();
    const { width, height } = element.getBoundingClientRect();
    element.style.left = `${Math.max(4, Math.min(at.x, innerWidth - width - 4))}px`;
    element.style.top = `${Math.max(4, Math.min(at.y, innerHeight - height - 4))}px`;
    this.#focusFirst();
  }

  #build(match: ColumnFilter['match']): void {
    const { column, filter, onClosed } = this.#deps;
    const element = this.#element;
    element.popover = 'auto';
    element.ariaLabel = `Filter ${column.name}`;
    const title = createElement('div', { className: 'lance-popup-title' });
    title.append(
      createElement('span', { className: 'lance-name', text: markedText(column.name) }),
      createElement('span', { className: 'lance-type', text: column.type }),
    );
    const tabs = createElement('div', { className: 'lance-popup-tabs', role: 'tablist' });
    tabs.append(...this.#tabs);
    tabs.hidden = !hasValues(this.#type);
    this.#match.ariaLabel = 'Which conditions';
    this.#match.append(new Option('All of these', 'all'), new Option('Any of these', 'any'));
    this.#match.value = match;
    this.#buildConditions();
    const apply = createButton({ label: 'Apply', run: () => this.#apply() });
    apply.className = 'primary';
    const remove = createButton({ label: 'Remove Filter', run: () => this.#finish(undefined) });
    remove.hidden = filter === undefined;
    const bottom = createWrapper('lance-popup-bottom');
    bottom.append(remove, apply);
    this.#problem.id = 'lance-popup-problem';
    this.#problem.hidden = true;
    element.append(title, tabs, this.#conditions, this.#list.element, this.#problem, bottom);
    element.addEventListener('keydown', (event) => this.#onKey(event));
    element.addEventListener('toggle', (event) => {
      if (event.newState === 'closed') this.#list.close();
    });
    removeWhenClosed(element, onClosed);
  }

  #buildConditions(): void {
    const add = createButton({ label: 'Add Condition', run: () => this.#add() });
    const tools = createWrapper('lance-condition-tools');
    tools.append(add, this.#match);
    this.#ignoreCase.type = 'checkbox';
    const ignoreCase = createElement('label', { className: 'lance-popup-check' });
    ignoreCase.append(this.#ignoreCase, 'Ignore case');
    ignoreCase.hidden = this.#type.kind !== 'text';
    const hint = createElement('p', { className: 'lance-popup-hint', text: this.#hint() });
    hint.hidden = hint.textContent === '';
    this.#conditions.append(this.#rows, tools, ignoreCase, hint);
    this.#drawRows();
  }

  /** What the user should know about the values of the column. */
  #hint(): string {
    const zone = typedZone(this.#type);
    if (this.#type.kind === 'timestamp')
      return zone === undefined ? '' : `Times in ${zone}. A day has all of its times.`;
    return this.#type.kind === 'float' ? 'A range never has NaN.' : '';
  }

  #newDraft(): Draft {
    return { operator: operatorsOf[this.#type.kind][0]!, values: ['', ''] };
  }

  #drawRows(): void {
    this.#match.hidden = this.#drafts.length < 2;
    this.#rows.replaceChildren(...this.#drafts.map((draft, index) => this.#row(draft, index)));
  }

  #row(draft: Draft, index: number): HTMLElement {
    const row = createElement('div', { className: 'lance-condition', role: 'group' });
    const number = this.#drafts.length > 1 ? ` ${index + 1}` : '';
    row.ariaLabel = `Condition${number}`;
    const operator = createElement('select');
    operator.ariaLabel = 'Operator';
    const { kind } = this.#type;
    operator.append(...operatorsOf[kind].map((each) => new Option(operatorLabel(each, kind), each)));
    operator.value = draft.operator;
    operator.addEventListener('change', () => {
      draft.operator = operatorsOf[kind].find((each) => each === operator.value) ?? draft.operator;
      this.#explain(undefined);
      this.#drawRows();
      this.#rows.children[index]?.querySelector('select')?.focus();
    });
    const count = valueCount(draft.operator);
    const inputs = Array.from({ length: count }, (_, at) => this.#input(draft, at, count));
    row.append(operator, ...inputs);
    if (this.#drafts.length > 1) {
      const remove = createButton({ label: '✕', run: () => this.#remove(index) });
      remove.className = 'lance-condition-remove';
      remove.ariaLabel = `Remove condition${number}`;
      remove.title = 'Remove Condition';
      row.append(remove);
    }
    return row;
  }

  #input(draft: Draft, at: number, count: number): HTMLInputElement {
    const input = createElement('input');
    input.type = 'text';
    input.autocomplete = 'off';
    input.spellcheck = false;
    input.value = draft.values[at] ?? '';
    input.ariaLabel = count === 1 ? 'Value' : at === 0 ? 'From' : 'To';
    input.placeholder = count === 1 ? (placeholders[this.#type.kind] ?? '') : at === 0 ? 'From' : 'To';
    input.setAttribute('aria-describedby', this.#problem.id);
    input.addEventListener('input', () => {
      draft.values[at] = input.value;
      this.#explain(undefined);
    });
    return input;
  }

  #add(): void {
    this.#drafts.push(this.#newDraft());
    this.#drawRows();
    this.#focusRow(this.#drafts.length - 1);
  }

  #remove(index: number): void {
    this.#drafts.splice(index, 1);
    this.#explain(undefined);
    this.#drawRows();
    this.#focusRow(Math.min(index, this.#drafts.length - 1));
  }

  #focusRow(index: number): void {
    const row = this.#rows.children[index];
    (row?.querySelector('input') ?? row?.querySelector('select'))?.focus();
  }

  #focusFirst(): void {
    if (this.#hasValueList) this.#list.focus();
    else this.#focusRow(0);
  }

  // Tabs

  #tab(label: string, isList: boolean): HTMLButtonElement {
    const tab = createButton({ label, run: () => this.#select(isList) });
    tab.role = 'tab';
    tab.addEventListener('keydown', ({ key }) => {
      if (key !== 'ArrowLeft' && key !== 'ArrowRight') return;
      this.#select(!isList);
      this.#tabs[isList ? 0 : 1].focus();
    });
    tab.addEventListener('click', () => this.#focusFirst());
    return tab;
  }

  get #hasValueList(): boolean {
    return !this.#list.element.hidden;
  }

  #select(isList: boolean): void {
    this.#conditions.hidden = isList;
    this.#list.element.hidden = !isList;
    if (isList) this.#list.start();
    this.#explain(undefined);
    for (const [index, tab] of this.#tabs.entries()) {
      const isSelected = (index === 1) === isList;
      tab.ariaSelected = String(isSelected);
      tab.tabIndex = isSelected ? 0 : -1;
    }
  }

  // Applying

  #onKey(event: KeyboardEvent): void {
    // The grid below must not move, and the editor must not take the keys.
    if (isFieldKey(event)) event.stopPropagation();
    tabWithin(this.#element, event);
    const isButton = event.target instanceof HTMLButtonElement;
    if (event.key !== 'Enter' || isButton || event.defaultPrevented) return;
    event.preventDefault();
    this.#apply();
  }

  #apply(): void {
    const choice = this.#hasValueList ? this.#list.choice : undefined;
    if (this.#hasValueList && !choice) return this.#finish(undefined);
    const ignoresCase = this.#type.kind === 'text' && this.#ignoreCase.checked;
    const conditions = choice
      ? [choice]
      : this.#drafts.map(({ operator, values }): Comparison => {
          const count = valueCount(operator);
          return {
            kind: 'comparison',
            operator,
            values: values.slice(0, count),
            ignoresCase: ignoresCase && count > 0,
          };
        });
    const empty = conditions.findIndex(isEmpty);
    if (empty >= 0) return this.#explain('Expected a value, got nothing.', empty);
    const written = writeFilter(this.#deps.column, { match: this.#match.value === 'any' ? 'any' : 'all', conditions });
    if ('problem' in written) return this.#explain(written.problem, written.condition);
    this.#finish(written.sql);
  }

  #explain(problem: string | undefined, condition = 0): void {
    this.#problem.hidden = problem === undefined;
    this.#problem.textContent = problem ?? '';
    for (const input of this.#rows.querySelectorAll('input')) input.ariaInvalid = null;
    if (problem === undefined) return;
    const inputs = this.#rows.children[condition]?.querySelectorAll('input') ?? [];
    for (const input of inputs) input.ariaInvalid = 'true';
    inputs[0]?.focus();
  }

  #finish(sql: string | undefined): void {
    this.#element.hidePopover();
    this.#deps.apply(sql);
  }
}

/** Whether a condition on a part of the text has none, so that every row would meet it. */
const isEmpty = (condition: ColumnFilter['conditions'][number]): boolean =>
  condition.kind === 'comparison' &&
  condition.values[0] === '' &&
  ['contains', 'lacks', 'startsWith', 'endsWith'].includes(condition.operator);

const placeholders: Partial<Record<FilterType['kind'], string>> = {
  date: '2026-01-31',
  time: '13:45:00',
  timestamp: '2026-01-31 13:45:00',
};
