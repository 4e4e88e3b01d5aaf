import { pluralize } from '#shared/format/markup.ts';
import { countText } from '#shared/format/numbers.ts';
import {
  type ChangedColumn,
  type ChangeKind,
  changeKinds,
  countOfKind,
  type PanelChanges,
  type ShownChanges,
} from '#shared/protocol/changes.ts';
import type { PanelAction, PanelTable } from '#shared/protocol/webviewMessages.ts';
import { changeSigns } from '../grid/changeMarks.ts';
import { createButton, createElement } from '../parts/elements.ts';

type ChangesBarActions = {
  readonly showKind: (kind: ChangeKind | null) => void;
  readonly leave: () => void;
  readonly act: (action: PanelAction) => void;
};

const kinds = [null, ...changeKinds] as const;

/**
 * The bar of a comparison, above its rows: what is compared, a filter for each kind of row with its number, progress, and
 * the columns that differ. Its buttons stay on the page while the numbers grow, so that they keep the focus.
 */
export class ChangesBar {
  readonly #element = createElement('div', { className: 'lance-changes-bar', role: 'group' });
  readonly #title = createElement('span', { className: 'lance-changes-title' });
  readonly #kinds: readonly { kind: ChangeKind | null; button: HTMLButtonElement; text: HTMLElement }[];
  readonly #status = createElement('span', { className: 'lance-changes-status', role: 'status' });
  readonly #problem = createElement('span', { className: 'lance-changes-problem', role: 'alert' });
  readonly #columns = createElement('div', { className: 'lance-changes-columns' });
  readonly #again: HTMLButtonElement;

  constructor({ showKind, leave, act }: ChangesBarActions) {
    this.#element.ariaLabel = 'Comparison';
    this.#kinds = kinds.map((kind) => {
      const button = createButton({ label: '', run: () => showKind(kind) });
      button.className = kind === null ? 'lance-changes-kind' : `lance-changes-kind lance-change-${kind}`;
      const text = createElement('span', {});
      if (kind !== null) {
        const sign = createElement('span', { className: 'lance-change-sign', text: changeSigns[kind] });
        sign.ariaHidden = 'true';
        button.append(sign);
      }
      button.append(text);
      return { kind, button, text };
    });
    const close = createButton({ label: '×', run: leave });
    close.className = 'lance-changes-close';
    close.ariaLabel = 'Leave Comparison';
    close.title = 'Leave Comparison';
    this.#again = createButton({ label: 'Compare With…', run: () => act('compare') });
    this.#again.className = 'lance-changes-again';
    const group = createElement('span', { className: 'lance-changes-kinds', role: 'group' });
    group.ariaLabel = 'Rows to show';
    group.append(...this.#kinds.map(({ button }) => button));
    this.#element.append(this.#title, group, this.#status, this.#problem, this.#again, close, this.#columns);
  }

  /** Shows the comparison of a table below the toolbar; removes the bar if the table is not one. */
  show({ changes, view }: Pick<PanelTable, 'changes' | 'view'>, toolbar: HTMLElement): void {
    if (!changes || !view?.changes) return this.#element.remove();
    this.#draw(changes, view.changes);
    if (!this.#element.isConnected) toolbar.after(this.#element);
  }

  #draw({ before, after, columnChanges, state }: ShownChanges, { kind, key }: PanelChanges): void {
    const { counts, end, problem } = state;
    this.#title.textContent = `${before} → ${after}, by ${key === null ? 'row ids' : key.join(', ')}`;
    this.#title.title = this.#title.textContent;
    for (const one of this.#kinds) {
      const count = countText(countOfKind(counts, one.kind));
      one.text.textContent = one.kind === null ? `All ${count}` : `${count} ${one.kind}`;
      one.button.ariaPressed = String(one.kind === kind);
    }
    this.#status.textContent = statusText(state);
    this.#problem.textContent = problem ?? '';
    this.#problem.hidden = problem === undefined;
    this.#again.hidden = end !== 'failed';
    this.#columns.textContent =
      columnChanges.length === 0 ? '' : `Columns: ${columnChanges.map(columnText).join(', ')}`;
    this.#columns.title = this.#columns.textContent;
    this.#columns.hidden = columnChanges.length === 0;
  }
}

/** `1,000,000 rows compared`; while rows are read, the part of them. */
function statusText({ end, compared, rowsRead, rowsTotal }: ShownChanges['state']): string {
  if (end === 'failed') return '';
  if (end === 'complete') return `${pluralize(compared, 'row')} compared`;
  const part = Math.min(100, Math.floor((100 * rowsRead) / Math.max(rowsTotal, 1)));
  return end === 'canceled' ? `Canceled at ${part} %` : `Comparing… ${part} %`;
}

/** `more added (int64)`, `less removed (utf8)`, `price: float → double`. */
function columnText({ name, before, after }: ChangedColumn): string {
  if (before === undefined) return `${name} added (${after ?? ''})`;
  if (after === undefined) return `${name} removed (${before})`;
  return `${name}: ${before} → ${after}`;
}
