/** Creates an element. The text is never markup. */
export function createElement<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  { className, role, text }: { className?: string; role?: string; text?: string } = {},
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (className !== undefined) element.className = className;
  if (role !== undefined) element.role = role;
  if (text !== undefined) element.textContent = text;
  return element;
}

/** Creates an element that has no meaning for assistive technology, only a place for others. */
export const createWrapper = (className: string): HTMLDivElement =>
  createElement('div', { className, role: 'presentation' });

/** What a button says and does. */
export type Action = { readonly label: string; readonly run: () => void };

export function createButton({ label, run }: Action): HTMLButtonElement {
  const button = createElement('button', { text: label });
  button.type = 'button';
  button.addEventListener('click', run);
  return button;
}
