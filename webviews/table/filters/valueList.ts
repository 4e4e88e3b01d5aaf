import { isAbort, messageOf } from '#shared/errors.ts';
import { pluralize } from '#shared/format/markup.ts';
import { countText } from '#shared/format/numbers.ts';
import { type ColumnValue, type ColumnValues, maxColumnValues } from '#shared/protocol/webviewMessages.ts';
import { markedText } from '../../grid/markedText.ts';
import { createButton, createElement, createWrapper } from '../../parts/elements.ts';
import type { ValueChoice } from './columnFilter.ts';
import type { FilterType } from './columnType.ts';
import { literalText } from './literals.ts';

export type ValueListDeps = {
  readonly type: FilterType;
  /** The values that are chosen at first. */
  readonly choice: ValueChoice | undefined;
  /** Counts the values that start with a string, or all. */
  readonly load: (start: string, signal: AbortSignal) => Promise<ColumnValues>;
};

/** Time without a key after which values are searched, in milliseconds. */
const searchMs = 250;

type Entry = {
  readonly id: string;
  readonly text: string;
  readonly count: number | undefined;
  readonly isMark: boolean;
};

/** The values of a column with the numbers of their rows, to choose some. They are counted when the list is shown. */
export class ValueList {
  readonly element = createWrapper('lance-values');
  readonly #deps: ValueListDeps;
  readonly #mode = createElement('select');
  readonly #search = createElement('input');
  readonly #list = createElement('div', { className: 'lance-value-list', role: 'listbox' });
  readonly #status = createElement('div', { className: 'lance-value-status', role: 'status' });
  /** By the SQL of the value, its text. */
  readonly #chosen = new Map<string, Entry>();
  #loaded: readonly Entry[] | undefined;
  #isMore = false;
  #found: readonly Entry[] = [];
  #active = 0;
  #loading: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(deps: ValueListDeps) {
    this.#deps = deps;
    const { choice, type } = deps;
    this.#mode.ariaLabel = 'Which rows';
    this.#mode.append(new Option('Only rows with', 'only'), new Option('Only rows without', 'without'));
    this.#mode.value = choice?.isExcluded === true ? 'without' : 'only';
    this.#search.type = 'search';
    this.#search.placeholder = 'Find values';
    this.#search.ariaLabel = 'Find values';
    this.#search.addEventListener('input', () => this.#onSearch());
    this.#list.tabIndex = 0;
    this.#list.ariaLabel = 'Values';
    this.#list.ariaMultiSelectable = 'true';
    this.#list.addEventListener('click', (event) => this.#onClick(event));
    this.element.addEventListener('keydown', (event) => this.#onKey(event));
    for (const literal of choice?.literals ?? [])
      this.#choose({ id: literal, text: literalText(type, literal) ?? literal, count: undefined, isMark: false });
    if (choice?.hasNaN === true) this.#choose({ ...nan, count: undefined });
    if (choice?.hasNull === true) this.#choose({ ...nothing, count: undefined });
    const all = createButton({ label: 'All', run: () => this.#setFound(true) });
    const none = createButton({ label: 'None', run: () => this.#setFound(false) });
    all.title = 'Choose all found values';
    none.title = 'Choose none of the found values';
    const top = createWrapper('lance-value-top');
    top.append(this.#mode, all, none);
    this.element.append(top, this.#search, this.#list, this.#status);
  }

  /** Counts the values, unless they are counted. */
  start(): void {
    if (!this.#loaded && !this.#loading) void this.#load('');
  }

  focus(): void {
    this.#search.focus();
  }

  /** What the user has chosen; undefined for nothing. */
  get choice(): ValueChoice | undefined {
    if (this.#chosen.size === 0) return undefined;
    const marks = new Set<string>([nan.id, nothing.id]);
    return {
      kind: 'values',
      isExcluded: this.#mode.value === 'without',
      literals: [...this.#chosen.keys()].filter((id) => !marks.has(id)),
      hasNaN: this.#chosen.has(nan.id),
      hasNull: this.#chosen.has(nothing.id),
    };
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#loading?.abort();
  }

  async #load(start: string): Promise<void> {
    this.#loading?.abort();
    const controller = new AbortController();
    this.#loading = controller;
    this.#list.ariaBusy = 'true';
    this.#draw('Counting values…');
    try {
      const { values, isMore } = await this.#deps.load(start, controller.signal);
      if (controller.signal.aborted) return;
      this.#loaded = values.map(entryOf);
      this.#isMore = isMore || start !== '';
      this.#find();
      if (isMore) this.#draw(this.#moreText());
    } catch (error) {
      if (controller.signal.aborted || isAbort(error)) return;
      this.#draw(`Can't count the values: ${messageOf(error)}`);
    } finally {
      if (this.#loading === controller) {
        this.#loading = undefined;
        this.#list.ariaBusy = null;
      }
    }
  }

  #moreText(): string {
    const hint = this.#deps.type.kind === 'text' ? 'Type how a value starts.' : 'Use conditions instead.';
    return `More than ${countText(maxColumnValues)} values. ${hint}`;
  }

  #onSearch(): void {
    clearTimeout(this.#timer);
    // Values that were not counted are searched in the table.
    if (this.#isMore && this.#deps.type.kind === 'text')
      this.#timer = setTimeout(() => void this.#load(this.#search.value), searchMs);
    else this.#find();
  }

  #find(): void {
    const text = this.#search.value.toLowerCase();
    const loaded = this.#loaded ?? [];
    const known = new Set(loaded.map(({ id }) => id));
    const others = [...this.#chosen.values()].filter(({ id }) => !known.has(id));
    this.#found = [...others, ...loaded].filter((entry) => entry.text.toLowerCase().includes(text));
    this.#active = 0;
    this.#draw(this.#found.length === 0 ? 'No values found' : undefined);
  }

  #draw(status?: string): void {
    const chosen = this.#chosen.size;
    const counts = this.#loaded ? pluralize(this.#found.length, 'value') : '';
    this.#status.textContent = status ?? `${counts}${chosen === 0 ? '' : ` · ${countText(chosen)} chosen`}`;
    this.#list.replaceChildren(...this.#found.map((entry, index) => this.#option(entry, index)));
    this.#activate(this.#active);
  }

  #option({ id, text, count, isMark }: Entry, index: number): HTMLElement {
    const option = createElement('div', { className: 'lance-value', role: 'option' });
    option.id = `lance-value-${index}`;
    option.ariaSelected = String(this.#chosen.has(id));
    const shown = isMark ? text : markedText(text);
    const name = createElement('span', { className: `lance-value-text${isMark ? ' lance-null' : ''}`, text: shown });
    name.title = shown;
    const number = createElement('span', { className: 'lance-value-count' });
    if (count !== undefined) number.textContent = countText(count);
    option.append(createElement('span', { className: 'lance-value-check' }), name, number);
    return option;
  }

  #activate(index: number): void {
    const options = this.#list.children;
    options[this.#active]?.classList.remove('lance-active');
    this.#active = Math.max(0, Math.min(index, options.length - 1));
    const active = options[this.#active];
    active?.classList.add('lance-active');
    if (active) this.#list.setAttribute('aria-activedescendant', active.id);
    else this.#list.removeAttribute('aria-activedescendant');
  }

  #choose(entry: Entry): void {
    this.#chosen.set(entry.id, entry);
  }

  #toggle(index: number): void {
    const entry = this.#found[index];
    const option = this.#list.children[index];
    if (!entry || !option) return;
    if (!this.#chosen.delete(entry.id)) this.#choose(entry);
    option.ariaSelected = String(this.#chosen.has(entry.id));
    this.#activate(index);
    this.#status.textContent = `${countText(this.#chosen.size)} chosen`;
  }

  #setFound(isChosen: boolean): void {
    for (const entry of this.#found)
      if (isChosen) this.#choose(entry);
      else this.#chosen.delete(entry.id);
    this.#draw();
  }

  #onClick({ target }: MouseEvent): void {
    const option = target instanceof Element ? target.closest('[role=option]') : null;
    const index = option ? Array.from(this.#list.children).indexOf(option) : -1;
    if (index >= 0) this.#toggle(index);
  }

  #onKey(event: KeyboardEvent): void {
    const { key, target } = event;
    if (target === this.#search) {
      if (key !== 'ArrowDown') return;
      this.#list.focus();
    } else if (target === this.#list) {
      const page = 8;
      const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[key];
      if (key === ' ') this.#toggle(this.#active);
      else if (step === undefined) return;
      else {
        this.#activate(this.#active + step);
        this.#list.children[this.#active]?.scrollIntoView({ block: 'nearest' });
      }
    } else return;
    event.preventDefault();
  }
}

// No SQL of a value is one of these ids.
const nan = { id: 'NaN', text: 'NaN', isMark: true };
const nothing = { id: 'null', text: '(null)', isMark: true };

const entryOf = ({ kind, text, literal, count }: ColumnValue): Entry =>
  kind === 'null'
    ? { ...nothing, count }
    : kind === 'nan'
      ? { ...nan, count }
      : { id: literal, text, count, isMark: false };
