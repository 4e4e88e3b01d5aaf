import { fieldPathText } from '#shared/fieldPath.ts';
import { createElement, createWrapper } from '../parts/elements.ts';
import type { ColumnLayout, ColumnWindow } from './columnLayout.ts';
import type { GridColumn } from './columnTree.ts';
import { markedText } from './markedText.ts';
import { type GridViewing, nextOrder, whyUnordered } from './sorting.ts';

/** What the header shows at the moment. */
export type HeaderView = {
  readonly columns: readonly GridColumn[];
  readonly layout: ColumnLayout;
  readonly window: ColumnWindow;
  /** How far the columns are scrolled, in pixels. */
  readonly left: number;
  /** The shown column whose header is active, or undefined. */
  readonly active: number | undefined;
};

/** What a user does with the header. `index` is a position among the shown columns. */
export type HeaderActions = {
  select(index: number, extend: boolean): void;
  openMenu(index: number, at: HTMLElement): void;
  /** @param isDone whether the user has released the mouse */
  resize(column: number, width: number, isDone: boolean): void;
  fit(index: number): void;
};

/** A column narrower than this has room for one button. It is sorted by its menu. */
const leastForSort = 58;

/** Returns the name of a column. A narrow column cuts the structs around a nested field first. */
function nameElement({ name, ownName, parent }: GridColumn): HTMLElement {
  if (parent === undefined) return createElement('span', { className: 'lance-name', text: markedText(name) });
  const own = fieldPathText([ownName]);
  const element = createElement('span', { className: 'lance-name lance-nested-name' });
  element.append(
    createElement('span', { className: 'lance-struct-name', text: markedText(name.slice(0, -own.length)) }),
    createElement('span', { text: markedText(own) }),
  );
  return element;
}

/** The line of column names and types. Only the columns in the view have elements. */
export class GridHeader {
  readonly element: HTMLElement;
  readonly #pinned = createWrapper('lance-pinned');
  readonly #scrolled = createWrapper('lance-scrolled');
  readonly #actions: HeaderActions;
  readonly #idPrefix: string;
  readonly #viewing: GridViewing | undefined;
  #drawn: { layout: ColumnLayout; start: number; end: number; active: number | undefined } | undefined;

  /** @param viewing set if the rows can be sorted */
  constructor(idPrefix: string, actions: HeaderActions, viewing: GridViewing | undefined) {
    this.#idPrefix = idPrefix;
    this.#viewing = viewing;
    this.#actions = actions;
    this.element = createElement('div', { className: 'lance-head', role: 'row' });
    this.element.ariaRowIndex = '1';
    const corner = createElement('div', { className: 'lance-row-number', role: 'columnheader' });
    corner.ariaColIndex = '1';
    corner.ariaLabel = 'Row';
    const clip = createWrapper('lance-clip');
    clip.append(this.#scrolled);
    this.element.append(corner, this.#pinned, clip);
  }

  draw({ columns, layout, window: { start, end }, left, active }: HeaderView): void {
    this.#scrolled.style.transform = `translateX(${-left}px)`;
    const before = this.#drawn;
    const isSame = before?.layout === layout && before.start === start && before.end === end;
    if (isSame && before.active === active) return;
    this.#drawn = { layout, start, end, active };
    const heads = (from: number, to: number): HTMLElement[] =>
      Array.from({ length: to - from }, (_, index) => this.#head(columns, layout, from + index, active));
    this.#pinned.replaceChildren(...heads(0, layout.numPinned));
    this.#scrolled.replaceChildren(...heads(start, end));
  }

  idOf(index: number): string {
    return `${this.#idPrefix}-head-${index}`;
  }

  /** Returns the element of a column that is in the view. */
  headElement(index: number): HTMLElement | undefined {
    return [...this.#pinned.children, ...this.#scrolled.children].find(({ id }) => id === this.idOf(index)) as
      HTMLElement | undefined;
  }

  #head(columns: readonly GridColumn[], layout: ColumnLayout, index: number, active: number | undefined): HTMLElement {
    const { column, left, width } = layout.place(index);
    const { name, type, nullable, numeric, fields } = columns[column]!;
    const head = createElement('div', { role: 'columnheader' });
    head.id = this.idOf(index);
    head.ariaColIndex = String(index + 2);
    head.className = `lance-header${numeric ? ' lance-right' : ''}${index === active ? ' lance-active' : ''}`;
    head.title = `${name}: ${type}${nullable ? '' : ', not null'}`;
    head.style.left = `${left}px`;
    head.style.width = `${width}px`;
    // The menu expands it.
    if (fields.length > 0) head.ariaExpanded = 'false';
    head.append(
      nameElement(columns[column]!),
      ...this.#sortButton(head, columns[column]!, column, width),
      createElement('span', { className: 'lance-type', text: type }),
      this.#menuButton(index, name),
      this.#resizer(index, column, width),
    );
    head.addEventListener('click', (event) => this.#actions.select(index, event.shiftKey));
    head.addEventListener('contextmenu', (event) => {
      event.preventDefault();
      this.#actions.openMenu(index, head);
    });
    return head;
  }

  /** Returns the button that sorts by a column and shows its order; none if it can't be sorted. */
  #sortButton(head: HTMLElement, info: GridColumn, column: number, width: number): HTMLElement[] {
    const viewing = this.#viewing;
    if (!viewing || whyUnordered(info) !== undefined) return [];
    const { sorted } = viewing;
    const position = sorted.findIndex((each) => each.column === column);
    const order = sorted[position];
    if (!order && width < leastForSort) return [];
    if (order) head.ariaSort = order.isDescending ? 'descending' : 'ascending';
    const arrow = order === undefined ? '↕' : order.isDescending ? '↓' : '↑';
    const button = createElement('button', {
      className: `lance-sort-button${order ? ' lance-sorted' : ''}`,
      text: sorted.length > 1 && order ? `${arrow}${position + 1}` : arrow,
    });
    button.type = 'button';
    // The keyboard sorts by the menu of the header.
    button.tabIndex = -1;
    button.ariaLabel = `Sort by ${info.name}`;
    button.title = sorted.length === 0 ? 'Sort' : 'Sort; with Shift, also by the columns before';
    button.addEventListener('click', (event) => {
      event.stopPropagation();
      viewing.sort(nextOrder(sorted, column, event.shiftKey));
    });
    return [button];
  }

  #menuButton(index: number, name: string): HTMLElement {
    const button = createElement('button', { className: 'lance-menu-button', text: '⋮' });
    button.type = 'button';
    // The keyboard opens the menu with Enter or Shift+F10 in the header.
    button.tabIndex = -1;
    button.ariaLabel = `Menu of ${name}`;
    button.title = 'Column menu';
    button.addEventListener('click', (event) => {
      event.stopPropagation();
      this.#actions.openMenu(index, button);
    });
    return button;
  }

  #resizer(index: number, column: number, width: number): HTMLElement {
    const resizer = createElement('div', { className: 'lance-resizer' });
    resizer.ariaHidden = 'true';
    resizer.addEventListener('click', (event) => event.stopPropagation());
    resizer.addEventListener('dblclick', (event) => {
      event.stopPropagation();
      this.#actions.fit(index);
    });
    resizer.addEventListener('pointerdown', (event) => {
      event.preventDefault();
      event.stopPropagation();
      // The header is drawn again while the column is resized, so the window and not this element follows the pointer.
      const ended = new AbortController();
      const { signal } = ended;
      const widthAt = (moved: PointerEvent): number => width + moved.clientX - event.clientX;
      addEventListener('pointermove', (moved) => this.#actions.resize(column, widthAt(moved), false), { signal });
      const end = (last: PointerEvent): void => {
        ended.abort();
        if (last.clientX !== event.clientX) this.#actions.resize(column, widthAt(last), true);
      };
      addEventListener('pointerup', end, { signal });
      addEventListener('pointercancel', () => ended.abort(), { signal });
    });
    return resizer;
  }
}
