import type { ChangeKind } from '#shared/protocol/changes.ts';
import { createElement } from '../parts/elements.ts';
import type { GridCell } from './block.ts';
import { type DrawnCell, drawCell, releaseCell } from './cells.ts';

/** How a cell differs from another table. The same mark is the same object, so that it is drawn once. */
export type ChangeMark = {
  readonly kind: ChangeKind;
  /** The value before, if the cell has changed. */
  readonly before?: GridCell;
  /** Set for the cell that names the kind of the row. */
  readonly isName?: true;
};

/** A cell and the mark that it has. */
export type MarkedCell = DrawnCell & { mark: ChangeMark | undefined };

/** The signs of added, removed and changed rows: color alone would not tell them apart. */
export const changeSigns: Readonly<Record<ChangeKind, string>> = { added: '+', removed: '−', changed: '~' };

/** Draws a cell with its mark: a sign before the kind of the row, and a changed value after the one before. */
export function drawMarkedCell(
  place: MarkedCell,
  cell: GridCell | undefined,
  mark: ChangeMark | undefined,
  rowHeight: number,
): void {
  if (place.drawn === cell && place.mark === mark) return;
  if (place.mark) removeMark(place);
  drawCell(place, cell, rowHeight);
  place.mark = mark;
  if (!mark || !cell) return;
  const { element } = place;
  element.classList.add('lance-change', `lance-change-${mark.kind}`);
  if (mark.isName) {
    const sign = createElement('span', { className: 'lance-change-sign', text: changeSigns[mark.kind] });
    sign.ariaHidden = 'true';
    element.prepend(sign);
  }
  if (!mark.before) return;
  const before = drawBefore(place, mark.before, rowHeight);
  const arrow = createElement('span', { className: 'lance-change-arrow', text: '→' });
  arrow.ariaHidden = 'true';
  element.prepend(before, arrow);
  element.classList.add('lance-change-cell');
  element.title = `${mark.before.text} → ${cell.text}`;
  element.setAttribute('aria-description', `changed from ${mark.before.text}`);
}

/** Draws the value before: an image as a thumbnail, which ends with the drawing of the cell, and others as text. */
function drawBefore(place: MarkedCell, before: GridCell, rowHeight: number): HTMLElement {
  const element = createElement('del', {
    className: before.kind === 'null' ? 'lance-before lance-null' : 'lance-before',
  });
  if (before.kind !== 'image') {
    element.textContent = before.text;
    return element;
  }
  const drawn: DrawnCell = { element, drawn: null, release: undefined };
  drawCell(drawn, before, rowHeight);
  const { release } = place;
  place.release = () => {
    release?.();
    releaseCell(drawn);
  };
  return element;
}

function removeMark(place: MarkedCell): void {
  const { element, mark } = place;
  place.mark = undefined;
  element.classList.remove('lance-change', 'lance-change-cell', `lance-change-${mark!.kind}`);
  for (const part of element.querySelectorAll(':scope > :is(.lance-change-sign, .lance-before, .lance-change-arrow)'))
    part.remove();
  element.removeAttribute('title');
  element.removeAttribute('aria-description');
}
