import type { ChangeKind } from '#shared/protocol/changes.ts';
import { createElement } from '../parts/elements.ts';
import type { GridCell } from './block.ts';
import { type DrawnCell, drawCell } from './cells.ts';

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
  const before = createElement('del', { text: mark.before.text });
  before.className = mark.before.kind === 'null' ? 'lance-before lance-null' : 'lance-before';
  const arrow = createElement('span', { className: 'lance-change-arrow', text: '→' });
  arrow.ariaHidden = 'true';
  element.prepend(before, arrow);
  element.classList.add('lance-change-cell');
  element.title = `${mark.before.text} → ${cell.text}`;
  element.setAttribute('aria-description', `changed from ${mark.before.text}`);
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
