import { countText } from '#shared/format/numbers.ts';
import { createElement } from '../parts/elements.ts';
import { isFieldKey } from '../parts/fieldKeys.ts';
import { removeWhenClosed } from '../parts/removeWhenClosed.ts';
import { tabWithin } from '../parts/tabWithin.ts';

/** Maximum length of a wrong number that is repeated in the message. */
const maxShown = 40;

/**
 * Returns the row of a typed number, from 0, or why the number is not valid. Rows count from 1 on the screen. Commas,
 * spaces and underscores between digits are ignored, so that a copied number works.
 */
export function parseRow(typed: string, numRows: number): { row: number } | { problem: string } {
  if (numRows === 0) return { problem: 'The table has no rows.' };
  const digits = typed.trim().replaceAll(/(?<=\d)[,_\s'](?=\d)/g, '');
  const row = /^\d{1,15}$/.test(digits) ? Number(digits) : Number.NaN;
  if (row >= 1 && row <= numRows) return { row: row - 1 };
  const shown = typed.trim().length > maxShown ? `${typed.trim().slice(0, maxShown)}…` : typed.trim();
  const got = shown === '' ? 'nothing' : `"${shown}"`;
  return { problem: `Expected a row number from 1 to ${countText(numRows)}, got ${got}.` };
}

export type GoToRowDeps = {
  /** Holds the box, so that the styles of its root apply. */
  readonly parent: HTMLElement;
  /** Is asked when a number is entered, because rows may be added meanwhile. */
  readonly numRows: () => number;
  readonly go: (row: number) => void;
  readonly onClosed: () => void;
};

/** Opens a box for the number of a row. Enter goes to the row, Escape and a click outside close the box. */
export function openGoToRow({ parent, numRows, go, onClosed }: GoToRowDeps): void {
  const box = createElement('div', { className: 'lance-go', role: 'dialog' });
  box.popover = 'auto';
  box.ariaLabel = 'Go to Row';
  const input = document.createElement('input');
  input.type = 'text';
  input.inputMode = 'numeric';
  input.autocomplete = 'off';
  input.spellcheck = false;
  input.placeholder = `Row number from 1 to ${countText(numRows())}`;
  input.ariaLabel = input.placeholder;
  const problem = createElement('p', { role: 'alert' });
  problem.hidden = true;
  box.append(input, problem);
  const clear = (): void => {
    problem.hidden = true;
    input.ariaInvalid = null;
  };
  input.addEventListener('input', clear);
  box.addEventListener('keydown', (event) => {
    // The grid below must not move, and the editor must not take the keys.
    if (isFieldKey(event)) event.stopPropagation();
    tabWithin(box, event);
    if (event.key !== 'Enter') return;
    event.preventDefault();
    const parsed = parseRow(input.value, numRows());
    if ('row' in parsed) {
      box.hidePopover();
      go(parsed.row);
      return;
    }
    problem.textContent = parsed.problem;
    problem.hidden = false;
    input.ariaInvalid = 'true';
    input.select();
  });
  removeWhenClosed(box, onClosed);
  parent.append(box);
  box.showPopover();
  const { left, top, width } = parent.getBoundingClientRect();
  box.style.left = `${Math.max(4, left + (width - box.offsetWidth) / 2)}px`;
  box.style.top = `${Math.max(4, top + 4)}px`;
  input.focus();
}
