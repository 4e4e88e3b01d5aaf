import { countText } from '#shared/format/numbers.ts';
import { createButton, createElement, createWrapper } from '../../parts/elements.ts';
import { type ColumnChoices, moveBeside, pin, unpin } from '../columnLayout.ts';
import type { GridColumn } from '../frame.ts';
import { markedText } from '../markedText.ts';
import { columnKind, columnKinds, kindLabels } from './columnKinds.ts';
import css from './columnList.css';
import { createStyles } from '../lazyPart.ts';
import { findColumns, setShown } from './columnSearch.ts';

export type ColumnListDeps = {
  readonly columns: readonly GridColumn[];
  readonly choices: () => ColumnChoices;
  readonly choose: (choices: ColumnChoices) => void;
  /** Scrolls to a column and selects it. */
  readonly goTo: (column: number) => void;
  readonly reset: () => void;
  readonly close: () => void;
};

/** Height of an entry in pixels. */
const entryHeight = 26;
/** Distance in pixels from which on a moved pointer drags. */
const dragStart = 4;

let lists = 0;

/** The list of all columns, to find, show, hide, order and pin them. Only the entries in the view have elements. */
export class ColumnListView {
  readonly element = createElement('div', { className: 'lance-column-list' });
  readonly #deps: ColumnListDeps;
  readonly #id = `lance-columns-${++lists}`;
  readonly #search = createElement('input');
  readonly #kind = createElement('select');
  readonly #list = createElement('div', { className: 'lance-column-entries', role: 'listbox' });
  readonly #content = createWrapper('lance-column-content');
  readonly #marker = createWrapper('lance-column-marker');
  readonly #count = createElement('span', { className: 'lance-column-count', role: 'status' });
  readonly #only: HTMLButtonElement;
  readonly #resizing: ResizeObserver;
  #found: readonly number[] = [];
  #active = 0;

  constructor(root: Document | ShadowRoot, parent: HTMLElement, deps: ColumnListDeps) {
    adoptStyles(root);
    this.#deps = deps;
    this.#search.type = 'search';
    this.#search.placeholder = 'Find columns';
    this.#search.ariaLabel = 'Find columns by name';
    this.#search.addEventListener('input', () => this.#find());
    this.#kind.ariaLabel = 'Kind of columns';
    this.#fillKinds();
    this.#kind.addEventListener('change', () => this.#find());
    const close = createButton({ label: '✕', run: deps.close });
    close.className = 'lance-column-close';
    close.ariaLabel = 'Close the list of columns';
    close.title = 'Close (Escape)';
    const top = createWrapper('lance-column-top');
    top.append(this.#search, close);
    const all = createButton({ label: 'Show All', run: () => this.#setShown(this.#found, true) });
    const none = createButton({ label: 'Hide All', run: () => this.#setShown(this.#found, false) });
    this.#only = createButton({ label: 'Only Found', run: () => this.#showOnly() });
    const buttons = createWrapper('lance-column-buttons');
    buttons.append(all, none, this.#only);
    const filter = createWrapper('lance-column-top');
    filter.append(this.#kind, createButton({ label: 'Reset Columns', run: deps.reset }));
    this.#list.tabIndex = 0;
    this.#list.ariaLabel = 'Columns. Space shows or hides, Enter goes to the column, Alt and arrow keys move, P pins.';
    this.#content.append(this.#marker);
    this.#marker.hidden = true;
    this.#list.append(this.#content);
    this.element.append(top, filter, buttons, this.#list, this.#count);
    parent.append(this.element);
    this.element.addEventListener('keydown', (event) => this.#onKey(event));
    this.#list.addEventListener('scroll', () => this.#drawEntries());
    this.#list.addEventListener('pointerdown', (event) => this.#onPointer(event));
    this.#resizing = new ResizeObserver(() => this.#drawEntries());
    this.#resizing.observe(this.#list);
    this.#find();
  }

  focus(): void {
    this.#search.focus({ preventScroll: true });
  }

  /** Draws after the choices have changed. */
  draw(): void {
    this.#update();
  }

  close(): void {
    this.#resizing.disconnect();
    this.element.remove();
  }

  /** Offers the kinds that the table has. */
  #fillKinds(): void {
    const has = new Set(this.#deps.columns.map(({ type }) => columnKind(type)));
    const options = columnKinds.filter((kind) => has.has(kind)).map((kind) => new Option(kindLabels[kind], kind));
    this.#kind.append(new Option('All kinds', ''), ...options);
  }

  #find(): void {
    this.#active = 0;
    this.#list.scrollTop = 0;
    this.#update();
  }

  #update(): void {
    const { columns, choices } = this.#deps;
    const kind = columnKinds.find((one) => one === this.#kind.value);
    this.#found = findColumns(columns, choices(), { text: this.#search.value, kind });
    this.#active = Math.max(0, Math.min(this.#active, this.#found.length - 1));
    const hidden = choices().hidden.length;
    const [found, all] = [this.#found.length, columns.length];
    this.#only.disabled = found === 0 || found === all;
    this.#count.textContent = `${found === all ? '' : `${countText(found)} of `}${countText(all)} columns${hidden === 0 ? '' : `, ${countText(hidden)} hidden`}`;
    this.#drawEntries();
  }

  #drawEntries(): void {
    const { scrollTop, clientHeight } = this.#list;
    this.#content.style.height = `${this.#found.length * entryHeight}px`;
    const start = Math.max(0, Math.floor(scrollTop / entryHeight) - 2);
    const end = Math.min(this.#found.length, Math.ceil((scrollTop + clientHeight) / entryHeight) + 2);
    const choices = this.#deps.choices();
    const [hidden, pinned] = [new Set(choices.hidden), new Set(choices.pinned)];
    const entries = this.#found.slice(start, end).map((column, offset) => {
      const index = start + offset;
      return this.#entry(index, column, { isShown: !hidden.has(column), isPinned: pinned.has(column) });
    });
    this.#content.replaceChildren(...entries, this.#marker);
    const active = entries[this.#active - start];
    if (active) this.#list.setAttribute('aria-activedescendant', active.id);
    else this.#list.removeAttribute('aria-activedescendant');
  }

  #entry(index: number, column: number, state: { isShown: boolean; isPinned: boolean }): HTMLElement {
    const { name, type } = this.#deps.columns[column]!;
    const entry = createElement('div', { className: 'lance-column-entry', role: 'option' });
    entry.id = `${this.#id}-${index}`;
    entry.dataset['index'] = String(index);
    entry.style.top = `${index * entryHeight}px`;
    entry.ariaChecked = String(state.isShown);
    entry.ariaSelected = String(index === this.#active);
    entry.ariaSetSize = String(this.#found.length);
    entry.ariaPosInSet = String(index + 1);
    entry.ariaLabel = `${name}, ${type}${state.isPinned ? ', pinned' : ''}`;
    entry.title = `${name}: ${type}`;
    entry.classList.toggle('lance-active', index === this.#active);
    entry.classList.toggle('lance-is-hidden', !state.isShown);
    entry.append(
      createElement('span', { className: 'lance-column-check', text: state.isShown ? '✓' : '' }),
      createElement('span', { className: 'lance-name', text: markedText(name) }),
      createElement('span', { className: 'lance-type', text: type }),
      createElement('span', { className: 'lance-column-pin', text: state.isPinned ? 'Unpin' : 'Pin' }),
    );
    return entry;
  }

  // Keyboard

  #onKey(event: KeyboardEvent): void {
    // Keys of the list are not keys of the rows, and Escape does not leave a notebook's output.
    event.stopPropagation();
    if (event.key === 'Escape') {
      event.preventDefault();
      this.#deps.close();
    } else if (event.target === this.#search) {
      if (event.key === 'ArrowDown') this.#list.focus();
      else if (event.key === 'Enter') this.#goTo(this.#active);
      else return;
      event.preventDefault();
    } else if (event.target === this.#list && this.#onListKey(event)) event.preventDefault();
  }

  #onListKey({ key, altKey, ctrlKey, metaKey }: KeyboardEvent): boolean {
    if (ctrlKey || metaKey) return false;
    const page = Math.max(1, Math.floor(this.#list.clientHeight / entryHeight) - 1);
    const step = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity }[key];
    if (step !== undefined && altKey) {
      if (Math.abs(step) === 1) this.#move(this.#active, this.#active + step, step > 0);
    } else if (step !== undefined) this.#activate(this.#active + step);
    else if (key === ' ') this.#toggle(this.#active);
    else if (key === 'Enter') this.#goTo(this.#active);
    else if (key.toLowerCase() === 'p') this.#togglePin(this.#active);
    else return false;
    return true;
  }

  #activate(index: number): void {
    this.#active = Math.max(0, Math.min(index, this.#found.length - 1));
    const top = this.#active * entryHeight;
    const { scrollTop, clientHeight } = this.#list;
    if (top < scrollTop) this.#list.scrollTop = top;
    else if (top + entryHeight > scrollTop + clientHeight) this.#list.scrollTop = top + entryHeight - clientHeight;
    this.#drawEntries();
  }

  // What the user does with columns

  #setShown(columns: readonly number[], isShown: boolean): void {
    this.#deps.choose(setShown(this.#deps.choices(), this.#deps.columns.length, columns, isShown));
  }

  #showOnly(): void {
    const { columns, choices, choose } = this.#deps;
    const found = new Set(this.#found);
    choose({ ...choices(), hidden: [...columns.keys()].filter((column) => !found.has(column)) });
  }

  #toggle(index: number): void {
    const column = this.#found[index];
    if (column !== undefined) this.#setShown([column], this.#deps.choices().hidden.includes(column));
  }

  #togglePin(index: number): void {
    const column = this.#found[index];
    if (column === undefined) return;
    const { choices, choose } = this.#deps;
    choose(choices().pinned.includes(column) ? unpin(choices(), column) : pin(choices(), column));
    this.#activate(this.#found.indexOf(column));
  }

  #move(from: number, to: number, isAfter: boolean): void {
    const [column, target] = [this.#found[from], this.#found[to]];
    if (column === undefined || target === undefined) return;
    const { choices, choose, columns } = this.#deps;
    choose(moveBeside(choices(), { numColumns: columns.length, column, target, isAfter }));
    this.#activate(this.#found.indexOf(column));
  }

  #goTo(index: number): void {
    const column = this.#found[index];
    if (column === undefined) return;
    if (this.#deps.choices().hidden.includes(column)) this.#setShown([column], true);
    this.#deps.goTo(column);
  }

  // Pointer

  #onPointer(event: PointerEvent): void {
    const entry = event.target instanceof Element ? event.target.closest<HTMLElement>('.lance-column-entry') : null;
    if (!entry || event.button !== 0 || !(event.target instanceof Element)) return;
    const from = Number(entry.dataset['index']);
    const part = event.target.className;
    this.#list.focus({ preventScroll: true });
    event.preventDefault();
    this.#activate(from);
    const ended = new AbortController();
    const { signal } = ended;
    let drop: number | undefined;
    addEventListener(
      'pointermove',
      ({ clientY }) => {
        if (drop === undefined && Math.abs(clientY - event.clientY) < dragStart) return;
        drop = this.#dropAt(clientY);
      },
      { signal },
    );
    const end = (): void => {
      ended.abort();
      this.#marker.hidden = true;
    };
    addEventListener(
      'pointerup',
      () => {
        end();
        if (drop !== undefined) this.#drop(from, drop);
        else if (part === 'lance-column-check') this.#toggle(from);
        else if (part === 'lance-column-pin') this.#togglePin(from);
        else this.#goTo(from);
      },
      { signal },
    );
    addEventListener('pointercancel', end, { signal });
  }

  /** Marks where a dragged column comes, and returns the number of entries before it. */
  #dropAt(clientY: number): number {
    const { top, height } = this.#list.getBoundingClientRect();
    if (clientY < top + entryHeight) this.#list.scrollTop -= entryHeight / 2;
    else if (clientY > top + height - entryHeight) this.#list.scrollTop += entryHeight / 2;
    const before = Math.round((clientY - top + this.#list.scrollTop) / entryHeight);
    const drop = Math.max(0, Math.min(before, this.#found.length));
    this.#marker.style.top = `${drop * entryHeight - 1}px`;
    this.#marker.hidden = false;
    return drop;
  }

  #drop(from: number, before: number): void {
    if (before > from) this.#move(from, before - 1, true);
    else this.#move(from, before, false);
  }
}

const adoptStyles = createStyles(css);
