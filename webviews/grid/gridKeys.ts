import type { MoveKey } from './selection.ts';

/** What the keys of the grid do. */
export type KeyActions = {
  readonly selectAll: () => void;
  readonly copy: () => void;
  readonly goToRow: () => void;
  /** Opens the list of columns. */
  readonly openColumns: () => void;
  /** Moves the focus to the detail pane. Returns false if it is closed. */
  readonly focusPane: () => boolean;
  readonly openMenu: () => void;
  /** Opens the filter of the active column. Returns false if it has none. */
  readonly openFilter: () => boolean;
  readonly open: () => void;
  /** Ends what Escape ends. Returns false if there is nothing to end. */
  readonly giveUp: () => boolean;
  /** Moves the active cell. Returns false if the key doesn't move. */
  readonly move: (key: MoveKey) => boolean;
};

/** Runs what a key does. Keys that do nothing here are left to the browser, and to the editor around the page. */
export function runKey(event: KeyboardEvent, actions: KeyActions): void {
  const { key, shiftKey } = event;
  if (event.altKey) {
    if (key !== 'ArrowDown' || shiftKey || !actions.openFilter()) return;
    event.preventDefault();
    event.stopPropagation();
    return;
  }
  const toEdge = event.ctrlKey || event.metaKey;
  const letter = toEdge ? key.toLowerCase() : undefined;
  if (letter === 'a') {
    actions.selectAll();
    event.preventDefault();
  } else if (letter === 'c' && !shiftKey) {
    // The browser may not copy at all without selected text.
    actions.copy();
  } else if (letter === 'g' && !shiftKey) {
    event.preventDefault();
    event.stopPropagation();
    actions.goToRow();
  } else if (letter === 'o' && shiftKey) {
    event.preventDefault();
    event.stopPropagation();
    actions.openColumns();
  } else if (key === 'F6' && !shiftKey && actions.focusPane()) {
    event.preventDefault();
    event.stopPropagation();
  } else if (key === 'ContextMenu' || (key === 'F10' && shiftKey)) {
    event.preventDefault();
    actions.openMenu();
  } else if (key === 'Enter' && !toEdge) {
    event.preventDefault();
    actions.open();
  } else if (key === 'Escape' && actions.giveUp()) {
    // In a notebook, Escape leaves the output only if there is nothing to give up.
    event.stopPropagation();
  } else if (actions.move({ key, toEdge, extend: shiftKey })) event.preventDefault();
}

/**
 * Takes the keyboard focus once the page has it, unless another element has it then: a click in the tree shows a table
 * and stays in the tree.
 */
export function focusWithPage(focus: () => void, signal: AbortSignal): void {
  const focusIfFree = (): void => {
    if (document.activeElement === document.body) focus();
  };
  addEventListener('focus', focusIfFree, { signal });
  requestAnimationFrame(() => {
    if (!signal.aborted && document.hasFocus()) focusIfFree();
  });
}
