import { type Action, createElement } from '../parts/elements.ts';
import { focusedElement, removeWhenClosed } from '../parts/removeWhenClosed.ts';

/** An entry of a menu. */
export type MenuItem = Action & {
  readonly isDisabled?: boolean;
  /** Whether a line separates it from the entries above. */
  readonly startsGroup?: boolean;
  /** Set for one of several choices: whether it is the current one. */
  readonly isChecked?: boolean;
};

/**
 * Opens a menu in the top layer, at an element or a point. Arrow keys move in it, Enter and Space run an entry, Escape
 * and a click outside close it. Then the focus returns.
 * @param parent holds the menu, so that the styles of its root apply
 */
export function openMenu(
  parent: HTMLElement,
  items: readonly MenuItem[],
  at: { readonly x: number; readonly y: number },
  onClosed: () => void,
): void {
  const menu = createElement('div', { className: 'lance-menu', role: 'menu' });
  menu.popover = 'auto';
  // An entry may open a box that takes the focus.
  let hasMovedFocus = false;
  const buttons = items.map(({ label, run, isDisabled = false, startsGroup = false, isChecked }) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.role = isChecked === undefined ? 'menuitem' : 'menuitemradio';
    if (isChecked !== undefined) button.ariaChecked = String(isChecked);
    button.tabIndex = -1;
    button.textContent = label;
    button.disabled = isDisabled;
    if (startsGroup) button.className = 'lance-group';
    // As in the menus of the editor, the mouse and the arrow keys move one mark. The menu may open below a mouse that rests.
    button.addEventListener('pointermove', () => {
      if (!button.matches(':focus')) button.focus();
    });
    button.addEventListener('click', () => {
      menu.hidePopover();
      const before = focusedElement(parent);
      run();
      hasMovedFocus = focusedElement(parent) !== before;
    });
    return button;
  });
  menu.append(...buttons);
  const enabled = buttons.filter(({ disabled }) => !disabled);
  const focused = (): number => enabled.findIndex((button) => button.matches(':focus'));
  menu.addEventListener('keydown', (event) => {
    const to = { ArrowDown: focused() + 1, ArrowUp: focused() - 1, Home: 0, End: -1 }[event.key];
    if (event.key === 'Tab') menu.hidePopover();
    else if (to !== undefined) enabled.at(to % enabled.length)?.focus();
    if (to !== undefined || event.key === 'Tab') event.preventDefault();
    event.stopPropagation();
  });
  removeWhenClosed(menu, () => {
    if (!hasMovedFocus) onClosed();
  });
  parent.append(menu);
  menu.showPopover();
  const { width, height } = menu.getBoundingClientRect();
  menu.style.left = `${Math.max(4, Math.min(at.x, innerWidth - width - 4))}px`;
  menu.style.top = `${Math.max(4, Math.min(at.y, innerHeight - height - 4))}px`;
  enabled[0]?.focus();
}
