const controls = 'button, input, select, textarea, [tabindex]';

/** Moves the focus from the last control of a box to the first one, or back, where Tab would leave the open box behind. */
export function tabWithin(box: HTMLElement, event: KeyboardEvent): void {
  if (event.key !== 'Tab') return;
  const reached = Array.from(box.querySelectorAll<HTMLElement>(controls)).filter(
    (control) => control.tabIndex >= 0 && !control.matches(':disabled') && control.checkVisibility(),
  );
  const [end, start] = event.shiftKey ? [reached[0], reached.at(-1)] : [reached.at(-1), reached[0]];
  if (event.target !== end) return;
  event.preventDefault();
  start?.focus();
}
