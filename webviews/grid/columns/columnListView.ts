import { countText } from '#shared/format/numbers.ts';
import { createButton, createElement, createWrapper } from '../../parts/elements.ts';
import { isFieldKey } from '../../parts/fieldKeys.ts';
import { type ColumnChoices, moveBeside, pin, unpin } from '../columnLayout.ts';
import { collapseColumn, expandColumn, type GridColumn, isWithin } from '../columnTree.ts';
import { markedText } from '../markedText.ts';
import { columnKind, columnKinds, kindLabels } from './columnKinds.ts';
import css from './columnList.css';
import { createStyles } from '../lazyPart.ts';
import { findColumns, listEntries, type ListEntry, setShown } from './columnSearch.ts';

export type ColumnListDeps = {
  readonly columns: readonly GridColumn[];
  /** Returns the columns in the order of the table, with the fields of expanded structs in the place of the struct. */
  readonly all: () => readonly number[];
  readonly choices: () => ColumnChoices;
  readonly choose: (choices: ColumnChoices) => void;
  /** Scrolls to a column and selects it. */
  readonly goTo: (column: number) => void;
  readonly reset: () => void;
  readonly close: () => void;
};

/** Height of an entry in pixels. */
const entryHeight = 26;
/** Width in pixels by which fields are indented, and the number of structs from which on they are not indented further. */
const indent = 14;
const mostIndented = 6;
/** Distance in pixels from which on a moved pointer drags. */
const dragStart = 4;

let lists = 0;

/**
 * The list of all columns, to find, show, hide, order, pin and expand them. It is a tree if the table has structs. Only
 * the entries in the view have elements.
 */
export class ColumnListView {
  readonly element = createElement('div', { className: 'lance-column-list' });
  readonly #deps: ColumnListDeps;
  readonly #id = `lance-columns-${++lists}`;
  readonly #search = createElement('input');
  readonly #kind = createElement('select');
  readonly #list = createElement('div', { className: 'lance-column-entries' });
  /** Whether the table has structs, which can be expanded. */
  readonly #isTree: boolean;
  readonly #content = createWrapper('lance-column-content');
  readonly #marker = createWrapper('lance-column-marker');
  readonly #count = createElement('span', { className: 'lance-column-count', role: 'status' });
  readonly #only: HTMLButtonElement;
  readonly #resizing: ResizeObserver;
  #found: readonly number[] = [];
  #entries: readonly ListEntry[] = [];
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
    this.#isTree = deps.columns.some(({ fields }) => fields.length > 0);
    this.#list.role = this.#isTree ? 'tree' : 'listbox';
    this.#list.tabIndex = 0;
    const keys = 'Space shows or hides, Enter goes to the column, Alt and arrow keys move, P pins.';
    this.#list.ariaLabel = `Columns. ${keys}${this.#isTree ? ' Right and left arrow expand and collapse.' : ''}`;
    this.#list.classList.toggle('lance-is-tree', this.#isTree);
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
    const present = this.#deps.all();
    this.#found = findColumns(columns, present, choices(), { text: this.#search.value, kind });
    this.#entries = listEntries(columns, this.#found);
    this.#active = Math.max(0, Math.min(this.#active, this.#entries.length - 1));
    const hidden = choices().hidden.length;
    const [found, all] = [this.#found.length, present.length];
    this.#only.disabled = found === 0 || found === all;
    this.#count.textContent = `${found === all ? '' : `${countText(found)} of `}${countText(all)} columns${hidden === 0 ? '' : `, ${countText(hidden)} hidden`}`;
    this.#drawEntries();
  }

  #drawEntries(): void {
    const { scrollTop, clientHeight } = this.#list;
    this.#content.style.height = `${this.#entries.length * entryHeight}px`;
    const start = Math.max(0, Math.floor(scrollTop / entryHeight) - 2);
    const end = Math.min(this.#entries.length, Math.ceil((scrollTop + clientHeight) / entryHeight) + 2);
    const choices = this.#deps.choices();
    const [hidden, pinned] = [new Set(choices.hidden), new Set(choices.pinned)];
    const entries = this.#entries.slice(start, end).map((entry, offset) => {
      const fields = this.#columnsOf(entry);
      const shown = fields.filter((column) => !hidden.has(column)).length;
      return this.#entry(start + offset, entry, {
        shown: shown === fields.length ? 'all' : shown > 0 ? 'some' : 'none',
        isPinned: fields.every((column) => pinned.has(column)),
      });
    });
    this.#content.replaceChildren(...entries, this.#marker);
    const active = entries[this.#active - start];
    if (active) this.#list.setAttribute('aria-activedescendant', active.id);
    else this.#list.removeAttribute('aria-activedescendant');
  }

  /** Returns the columns of an entry: the column, or the columns in a struct. */
  #columnsOf({ column, isExpanded }: ListEntry): readonly number[] {
    const { columns, all } = this.#deps;
    return isExpanded ? all().filter((one) => isWithin(columns, one, column)) : [column];
  }

  #entry(
    index: number,
    { column, level, isExpanded }: ListEntry,
    { shown, isPinned }: { shown: 'all' | 'some' | 'none'; isPinned: boolean },
  ): HTMLElement {
    const { name, ownName, type, fields } = this.#deps.columns[column]!;
    const entry = createElement('div', { className: 'lance-column-entry', role: this.#isTree ? 'treeitem' : 'option' });
    entry.id = `${this.#id}-${index}`;
    entry.dataset['index'] = String(index);
    entry.style.top = `${index * entryHeight}px`;
    entry.ariaChecked = { all: 'true', some: 'mixed', none: 'false' }[shown];
    entry.ariaSelected = String(index === this.#active);
    if (this.#isTree) {
      entry.ariaLevel = String(level + 1);
      entry.style.paddingInlineStart = `${8 + Math.min(level, mostIndented) * indent}px`;
      if (fields.length > 0) entry.ariaExpanded = String(isExpanded);
    } else {
      entry.ariaSetSize = String(this.#entries.length);
      entry.ariaPosInSet = String(index + 1);
    }
    entry.ariaLabel = `${name}, ${type}${isPinned ? ', pinned' : ''}`;
    entry.title = `${name}: ${type}`;
    entry.classList.toggle('lance-active', index === this.#active);
    entry.classList.toggle('lance-is-hidden', shown === 'none');
    const twistie = fields.length === 0 ? '' : isExpanded ? '▾' : '▸';
    entry.append(
      ...(this.#isTree ? [mark('lance-column-twistie', twistie)] : []),
      mark('lance-column-check', { all: '✓', some: '–', none: '' }[shown]),
      createElement('span', { className: 'lance-name', text: markedText(ownName) }),
      // Without it, the text of the entry is one word, which its label has not.
      ' ',
      createElement('span', { className: 'lance-type', text: isExpanded ? 'struct' : type }),
      mark('lance-column-pin', isPinned ? 'Unpin' : 'Pin'),
    );
    return entry;
  }

  // Keyboard

  #onKey(event: KeyboardEvent): void {
    // Keys of the list are not keys of the rows, and Escape does not leave a notebook's output.
    if (isFieldKey(event)) event.stopPropagation();
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
    else if (key === 'ArrowRight' && this.#isTree) this.#expandOrEnter();
    else if (key === 'ArrowLeft' && this.#isTree) this.#collapseOrLeave();
    else return false;
    return true;
  }

  #activate(index: number): void {
    this.#active = Math.max(0, Math.min(index, this.#entries.length - 1));
    const top = this.#active * entryHeight;
    const { scrollTop, clientHeight } = this.#list;
    if (top < scrollTop) this.#list.scrollTop = top;
    else if (top + entryHeight > scrollTop + clientHeight) this.#list.scrollTop = top + entryHeight - clientHeight;
    this.#drawEntries();
  }

  // What the user does with columns

  #setShown(columns: readonly number[], isShown: boolean): void {
    const { choices, choose, all } = this.#deps;
    choose(setShown(choices(), all().length, columns, isShown));
  }

  #showOnly(): void {
    const { all, choices, choose } = this.#deps;
    const found = new Set(this.#found);
    choose({ ...choices(), hidden: all().filter((column) => !found.has(column)) });
  }

  #toggle(index: number): void {
    const entry = this.#entries[index];
    if (!entry) return;
    const [columns, hidden] = [this.#columnsOf(entry), this.#deps.choices().hidden];
    this.#setShown(
      columns,
      columns.some((column) => hidden.includes(column)),
    );
  }

  #togglePin(index: number): void {
    const entry = this.#entries[index];
    if (!entry) return;
    const { choices, choose } = this.#deps;
    const columns = this.#columnsOf(entry);
    const change = columns.every((column) => choices().pinned.includes(column)) ? unpin : pin;
    choose(columns.reduce(change, choices()));
    this.#activateColumn(entry.column);
  }

  #activateColumn(column: number): void {
    this.#activate(this.#entries.findIndex((entry) => entry.column === column));
  }

  #move(from: number, to: number, isAfter: boolean): void {
    const moved = this.#entries[from];
    if (!moved || moved.isExpanded) return;
    const { choices, choose, all } = this.#deps;
    const { column } = moved;
    // The first field of a struct leaves it upwards.
    const last = this.#entries.slice(0, to + 1).findLastIndex((entry) => !this.#isFirstIn(entry, column));
    const target = this.#entries[isAfter ? to : last];
    const beside = target && this.#columnsOf(target).at(isAfter ? -1 : 0);
    if (beside === undefined || beside === column) return;
    choose(moveBeside(choices(), { all: all(), column, target: beside, isAfter }));
    this.#activateColumn(column);
  }

  #isFirstIn(entry: ListEntry | undefined, column: number): boolean {
    return entry?.isExpanded === true && this.#columnsOf(entry)[0] === column;
  }

  #goTo(index: number): void {
    const entry = this.#entries[index];
    const column = entry && this.#columnsOf(entry)[0];
    if (column === undefined) return;
    if (this.#deps.choices().hidden.includes(column)) this.#setShown([column], true);
    this.#deps.goTo(column);
  }

  /** Shows the fields of the active struct, or moves to the first of them. */
  #expandOrEnter(): void {
    const entry = this.#entries[this.#active];
    if (entry?.isExpanded === true) this.#activate(this.#active + 1);
    else this.#toggleFields(this.#active);
  }

  /** Shows the active struct instead of its fields, or moves to the struct around the active field. */
  #collapseOrLeave(): void {
    const entry = this.#entries[this.#active];
    if (entry?.isExpanded === true) return this.#toggleFields(this.#active);
    const parent = entry && this.#deps.columns[entry.column]!.parent;
    if (parent === undefined) return;
    const above = this.#entries.slice(0, this.#active).findLastIndex(({ column }) => column === parent);
    if (above >= 0) this.#activate(above);
  }

  #toggleFields(index: number): void {
    const entry = this.#entries[index];
    if (!entry) return;
    const { columns, choices, choose } = this.#deps;
    const change = entry.isExpanded ? collapseColumn : expandColumn;
    choose(change(choices(), columns, entry.column));
    this.#activateColumn(entry.column);
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
        else if (part === 'lance-column-twistie') this.#toggleFields(from);
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
    const drop = Math.max(0, Math.min(before, this.#entries.length));
    this.#marker.style.top = `${drop * entryHeight - 1}px`;
    this.#marker.hidden = false;
    return drop;
  }

  #drop(from: number, before: number): void {
    const above = this.#entries[before - 1];
    // Below the name of a struct is before its first field.
    if (before > from && above?.isExpanded !== true) this.#move(from, before - 1, true);
    else this.#move(from, before, false);
  }
}

/**
 * Returns a part of an entry that is for the pointer. Its text is drawn by the style sheet, so that it isn't read with
 * the name of the column: assistive technology reads the state of the entry.
 */
function mark(className: string, text: string): HTMLElement {
  const element = createElement('span', { className });
  element.dataset['text'] = text;
  return element;
}

const adoptStyles = createStyles(css);
