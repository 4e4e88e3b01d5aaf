import { countText } from '#shared/format/numbers.ts';
import type { VectorType } from '#shared/vectorTypes.ts';
import { createButton, createElement } from '../parts/elements.ts';
import { isFieldKey } from '../parts/fieldKeys.ts';
import { removeWhenClosed } from '../parts/removeWhenClosed.ts';
import { tabWithin } from '../parts/tabWithin.ts';
import { parseVector } from './typedVector.ts';

export type NearestDialogDeps = {
  /** Holds the box, so that the styles of its root apply. */
  readonly parent: HTMLElement;
  readonly column: string;
  readonly type: VectorType;
  readonly numRows: number;
  /** What the user typed before. */
  readonly typed: string;
  readonly keep: (typed: string) => void;
  /** Searches, and returns why it can't; `undefined` if the rows are shown. */
  readonly find: (wanted: { row: number } | { vectors: number[][] }) => Promise<string | undefined>;
  readonly onClosed: () => void;
};

/**
 * Opens a box for a vector or the number of a row. Enter searches, Shift+Enter starts a line, Escape and a click outside close the
 * box. Wrong input stays, with the reason below it.
 */
export function openNearestDialog(deps: NearestDialogDeps): void {
  const { parent, column, type, numRows, typed, keep, find, onClosed } = deps;
  const box = createElement('form', { className: 'lance-nearest-box', role: 'dialog' });
  box.popover = 'auto';
  box.ariaLabel = 'Find Nearest Rows';
  const input = document.createElement('textarea');
  input.rows = 4;
  input.autocomplete = 'off';
  input.spellcheck = false;
  input.value = typed;
  const what = type.isMulti ? `lists of ${type.dimension} numbers` : `${countText(type.dimension)} numbers`;
  const hint = createElement('label', { text: `Vector of ${what} for "${column}", or a row number` });
  input.id = 'lance-nearest-input';
  hint.htmlFor = input.id;
  input.placeholder = type.isMulti ? '[[0.1, 0.2, …], [0.3, 0.4, …]]' : '[0.1, 0.2, …] or 0.1 0.2 … or 1234';
  const problem = createElement('p', { role: 'alert' });
  problem.id = 'lance-nearest-problem';
  problem.hidden = true;
  input.setAttribute('aria-describedby', problem.id);
  const button = createButton({ label: 'Find', run: () => void run() });
  box.append(hint, input, problem, button);
  const explain = (text: string | undefined): void => {
    problem.textContent = text ?? '';
    problem.hidden = text === undefined;
    input.ariaInvalid = text === undefined ? null : 'true';
  };
  let isRunning = false;
  const run = async (): Promise<void> => {
    if (isRunning) return;
    const parsed = parseVector(input.value, type, numRows);
    if ('problem' in parsed) {
      explain(parsed.problem);
      input.focus();
      return;
    }
    isRunning = true;
    box.ariaBusy = 'true';
    button.disabled = true;
    const failure = await find(parsed);
    isRunning = false;
    box.ariaBusy = null;
    button.disabled = false;
    if (failure === undefined) return box.hidePopover();
    explain(failure);
    if (box.isConnected) input.focus();
  };
  input.addEventListener('input', () => {
    keep(input.value);
    explain(undefined);
  });
  box.addEventListener('submit', (event) => event.preventDefault());
  box.addEventListener('keydown', (event) => {
    // The grid below must not move, and the editor must not take the keys.
    if (isFieldKey(event)) event.stopPropagation();
    tabWithin(box, event);
    if (event.key !== 'Enter' || event.shiftKey || event.target !== input) return;
    event.preventDefault();
    void run();
  });
  removeWhenClosed(box, onClosed);
  parent.append(box);
  box.showPopover();
  const { left, top, width } = parent.getBoundingClientRect();
  box.style.left = `${Math.max(4, left + (width - box.offsetWidth) / 2)}px`;
  box.style.top = `${Math.max(4, top + 40)}px`;
  input.focus();
  input.select();
}
