import type { GridPosition } from './selection.ts';

/** What is opened by a click or Enter. */
const opened = '.lance-image, .lance-openable';

/** What the pointer does in the rows. */
export type PointerActions = {
  /** Returns the position of the cell, or of the row number, that has an element inside. */
  readonly positionOf: (target: EventTarget | null) => { row: number; column: number | undefined } | undefined;
  readonly selectRow: (row: number, extend: boolean) => void;
  readonly selectCell: (cell: GridPosition, extend: boolean) => void;
  /** Shows the image, audio or video of the cell that was clicked. */
  readonly openMedia: (thumbnail: HTMLElement) => void;
  readonly openPane: () => void;
  readonly openMenu: (cell: GridPosition, at: { x: number; y: number }) => void;
};

/** Selects by click and drag, opens by a click on an image or a double click, and opens the menu of a cell. */
export function followPointer(rows: HTMLElement, actions: PointerActions): void {
  const cellOf = (target: EventTarget | null): GridPosition | undefined => {
    const at = actions.positionOf(target);
    return at?.column === undefined ? undefined : { row: at.row, column: at.column };
  };
  rows.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    const cell = cellOf(event.target);
    if (cell) {
      actions.selectCell(cell, event.shiftKey);
      extendUntilReleased(cell, cellOf, (to) => actions.selectCell(to, true));
      return;
    }
    const at = actions.positionOf(event.target);
    if (at) actions.selectRow(at.row, event.shiftKey);
  });
  rows.addEventListener('click', ({ target }) => {
    const thumbnail = target instanceof Element ? target.closest<HTMLElement>(opened) : null;
    if (thumbnail) actions.openMedia(thumbnail);
  });
  rows.addEventListener('dblclick', ({ target }) => {
    const isMedia = target instanceof Element && target.closest(opened) !== null;
    if (!isMedia && cellOf(target)) actions.openPane();
  });
  rows.addEventListener('contextmenu', (event) => {
    const cell = cellOf(event.target);
    if (!cell) return;
    event.preventDefault();
    actions.openMenu(cell, { x: event.clientX, y: event.clientY });
  });
}

/** Extends the selection to the cell under the pointer until the button is released. */
function extendUntilReleased(
  from: GridPosition,
  cellOf: (target: EventTarget | null) => GridPosition | undefined,
  extendTo: (cell: GridPosition) => void,
): void {
  const ended = new AbortController();
  const { signal } = ended;
  let last = from;
  addEventListener(
    'pointermove',
    (event) => {
      const [target] = event.composedPath();
      const cell = cellOf(target ?? null);
      if (!cell || (cell.row === last.row && cell.column === last.column)) return;
      last = cell;
      extendTo(cell);
    },
    { signal },
  );
  addEventListener('pointerup', () => ended.abort(), { signal });
  addEventListener('pointercancel', () => ended.abort(), { signal });
}
