import { isAbort, messageOf } from '#shared/errors.ts';
import { countText } from '#shared/format/numbers.ts';
import { createButton, createElement } from '../../parts/elements.ts';
import type { CellValue } from '../cellValue.ts';
import type { GridFrame } from '../frame.ts';
import type { SaveFile } from '../saveFile.ts';
import { comparedModes } from './comparedView.ts';
import css from './detail.css';
import { createStyles } from '../lazyPart.ts';
import { type Mode, type ModeName, valueModes } from './modes.ts';
import { ValueActions } from './valueActions.ts';
import type { ValueView } from './valueView.ts';

export type DetailDeps = {
  readonly frame: Pick<GridFrame, 'columns' | 'read' | 'readBefore'>;
  /** `undefined` if files can't be saved. */
  readonly save: SaveFile | undefined;
  /** Moves the active cell by rows. */
  readonly step: (rows: number) => void;
  readonly close: () => void;
};

/** A cell by row and index of its column. */
export type DetailCell = { readonly row: number; readonly column: number };

/** How long the value before stays while the next one is read, milliseconds. */
const patienceMs = 150;

/** The content of the detail pane: the whole value of a cell, in the form that its type calls for. */
export class DetailView {
  readonly element = createElement('div', { className: 'lance-detail' });
  readonly #deps: DetailDeps;
  readonly #name = createElement('strong');
  readonly #type = createElement('span', { className: 'lance-detail-type' });
  readonly #row = createElement('span', { className: 'lance-detail-row' });
  readonly #facts = createElement('p', { className: 'lance-detail-facts' });
  readonly #modes = createElement('div', { className: 'lance-detail-modes', role: 'group' });
  readonly #body = createElement('div', { className: 'lance-detail-body' });
  readonly #bar = createElement('div', { className: 'lance-detail-bar', role: 'toolbar' });
  readonly #close: HTMLElement;
  readonly #actions: ValueActions;
  /** The buttons for the value before a change, and how they went. */
  readonly #beforeActions: ValueActions;
  #cell: DetailCell | undefined;
  #reading: AbortController | undefined;
  #view: ValueView | undefined;
  /** The mode that the user has chosen for each set of modes, so that it stays for the next rows. */
  readonly #chosen = new Map<string, ModeName>();

  /** @param root holds the styles: the page, or the shadow root of an output */
  constructor(root: Document | ShadowRoot, deps: DetailDeps) {
    this.#deps = deps;
    this.#actions = new ValueActions(deps.save);
    this.#beforeActions = new ValueActions(deps.save);
    adoptStyles(root);
    const head = createElement('div', { className: 'lance-detail-head' });
    const title = createElement('p', { className: 'lance-detail-title' });
    title.append(this.#name, this.#type, this.#row);
    this.#bar.ariaLabel = 'Value';
    this.#close = iconButton('✕', 'Close', deps.close);
    this.#bar.append(
      iconButton('↑', 'Previous Row', () => deps.step(-1)),
      iconButton('↓', 'Next Row', () => deps.step(1)),
      ...this.#actions.buttons,
      this.#close,
    );
    head.append(title, this.#bar);
    this.#modes.ariaLabel = 'Show as';
    this.#body.tabIndex = -1;
    const line = createElement('div', { className: 'lance-detail-line' });
    line.append(this.#facts, this.#modes);
    this.element.append(head, line, this.#body, this.#beforeActions.status, this.#actions.status);
    this.element.addEventListener('keydown', (event) => this.#onKey(event));
  }

  /** Shows a cell; `undefined` if no cell is active. */
  show(cell: DetailCell | undefined): void {
    const known = this.#cell;
    if (cell && known?.row === cell.row && known.column === cell.column) return;
    this.#cell = cell;
    this.#reading?.abort();
    this.#actions.show(undefined);
    this.#beforeActions.show(undefined);
    const column = cell && this.#deps.frame.columns[cell.column];
    this.#name.textContent = column?.name ?? '';
    this.#name.title = column?.name ?? '';
    this.#type.textContent = column?.type ?? '';
    this.#type.title = column?.type ?? '';
    this.#row.textContent = cell ? `Row ${countText(cell.row + 1)}` : '';
    if (cell && column) void this.#read(cell);
    else this.#note('Select a cell to see its value.');
  }

  focus(): void {
    (this.#view?.focusTarget ?? this.element.querySelector('button'))?.focus();
  }

  close(): void {
    this.#reading?.abort();
    this.#actions.close();
    this.#beforeActions.close();
    this.#view?.close?.();
    this.element.remove();
  }

  async #read(cell: DetailCell): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    this.#reading = controller;
    this.#body.ariaBusy = 'true';
    const timer = setTimeout(() => this.#note('Loading…'), patienceMs);
    try {
      const { frame } = this.#deps;
      const [value, before] = await Promise.all([
        frame.read(cell.row, cell.column, signal),
        frame.readBefore?.(cell.row, cell.column, signal),
      ]);
      if (!signal.aborted) this.#draw({ value, before }, cell);
    } catch (error) {
      if (signal.aborted) return;
      const text = isAbort(error) ? 'The read was canceled.' : `Can't read the value: ${messageOf(error)}`;
      this.#note(text, () => {
        this.#cell = undefined;
        this.show(cell);
      });
    } finally {
      clearTimeout(timer);
      if (!signal.aborted) this.#body.ariaBusy = null;
    }
  }

  /** @param before the value before a change, if the cell has changed */
  #draw({ value, before }: { value: CellValue; before: CellValue | undefined }, { row, column }: DetailCell): void {
    const name = this.#deps.frame.columns[column]!.name;
    const baseName = `${name}-${row + 1}`;
    this.#actions.show({ value, baseName });
    if (before) {
      this.#beforeActions.show({ value: before, baseName: `${baseName}-before` });
      return this.#drawFirst(
        comparedModes(
          { value: before, buttons: this.#beforeActions.buttons },
          { value, buttons: this.#actions.buttons },
        ),
      );
    }
    if (value.kind === 'omitted') return this.#note(`${value.text}. ${value.reason}`);
    this.#drawFirst(valueModes(value));
  }

  /** Draws the form that the user has chosen, or the best one. */
  #drawFirst(modes: readonly Mode[]): void {
    const names = modes.map((mode) => mode.name).join(' ');
    const wanted = this.#chosen.get(names);
    this.#drawMode(modes.find((mode) => mode.name === wanted) ?? modes[0]!, modes);
  }

  #drawMode(mode: Mode, modes: readonly Mode[]): void {
    const hasFocus = this.#body.matches(':focus-within');
    this.#view?.close?.();
    // A view measures its place, so its element is on the page before it draws.
    const view = mode.create(this.#body.clientWidth);
    this.#view = view;
    this.#body.replaceChildren(view.element);
    this.#placeActions();
    if (hasFocus) view.focusTarget.focus();
    this.#setFacts(view.facts);
    view.onFacts?.((facts) => {
      if (this.#view === view) this.#setFacts(facts);
    });
    const names = modes.map(({ name }) => name).join(' ');
    const buttons = modes.map((other) => {
      const button = createButton({
        label: other.name,
        run: () => {
          this.#chosen.set(names, other.name);
          this.#drawMode(other, modes);
          this.#modes.querySelector<HTMLElement>('[aria-pressed=true]')?.focus();
        },
      });
      button.ariaPressed = String(other === mode);
      return button;
    });
    this.#modes.replaceChildren(...(modes.length > 1 ? buttons : []));
  }

  /** Shows a sentence instead of a value, and a button for another try if there may be one. */
  #note(text: string, retry?: () => void): void {
    const hasFocus = this.#body.matches(':focus-within');
    this.#view?.close?.();
    this.#view = undefined;
    this.#setFacts([]);
    this.#modes.replaceChildren();
    const note = createElement('p', { className: 'lance-note', text });
    this.#body.replaceChildren(note, ...(retry ? [createButton({ label: 'Try Again', run: retry })] : []));
    this.#placeActions();
    // Without an element that has the focus, no key would reach the pane.
    if (hasFocus) this.#body.focus();
  }

  /** The buttons are in the bar, unless they are beside the value after a change. */
  #placeActions(): void {
    const isApart = this.#body.contains(this.#actions.buttons[0]!);
    if (!isApart && this.#actions.buttons[0]!.parentElement !== this.#bar) this.#close.before(...this.#actions.buttons);
  }

  #setFacts(facts: readonly string[]): void {
    this.#facts.textContent = facts.join(' · ');
  }

  #onKey(event: KeyboardEvent): void {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (by === undefined || !event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.#deps.step(by);
  }
}

function iconButton(sign: string, label: string, run: () => void): HTMLButtonElement {
  const button = createButton({ label: sign, run });
  button.className = 'lance-icon-button';
  button.ariaLabel = label;
  button.title = label;
  return button;
}

const adoptStyles = createStyles(css);
