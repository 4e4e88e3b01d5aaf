/**
 * Removes a box of the top layer once it is closed, and then calls `onClosed`, which returns the focus. The event of a
 * closed box comes a moment later. If the next box or a text field has got the focus meanwhile, it keeps the focus, and
 * `onClosed` is not called.
 */
export function removeWhenClosed(box: HTMLElement, onClosed: () => void): void {
  box.addEventListener('toggle', (event) => {
    if (event.newState !== 'closed') return;
    const focused = focusedElement(box);
    box.remove();
    if (!focused?.matches(':popover-open, :popover-open *, input, textarea')) onClosed();
  });
}

/** Returns the element with the focus in the document, or in the shadow tree of an element. */
export function focusedElement(within: HTMLElement): Element | null {
  const root = within.getRootNode();
  return root instanceof ShadowRoot ? root.activeElement : document.activeElement;
}
