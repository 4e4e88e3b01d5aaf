import type { PanelReview, ReviewAction } from '#shared/protocol/webviewMessages.ts';
import { markedText } from '../grid/markedText.ts';
import { createButton, createElement } from '../parts/elements.ts';

const labels: Readonly<Record<ReviewAction, string>> = {
  showRows: 'Show Rows',
  alwaysShowRows: "Show Rows and Don't Ask Again",
  connect: 'Connect…',
  manageTrust: 'Manage Workspace Trust',
  openText: 'Open as Text',
};

/**
 * Shows what a view file names, before anything of it runs. Everything is text, and characters that can't be seen have
 * marks, so that the text is what will run.
 */
export function reviewElement(
  { title, facts, sql, note, actions }: PanelReview,
  act: (action: ReviewAction) => void,
): HTMLElement {
  const element = createElement('main', { className: 'lance-review' });
  element.append(createElement('h1', { text: markedText(title) }));
  if (facts.length > 0) {
    const list = document.createElement('dl');
    for (const { label, text } of facts)
      list.append(createElement('dt', { text: markedText(label) }), createElement('dd', { text: markedText(text) }));
    element.append(list);
  }
  if (sql !== null) {
    const code = createElement('pre', { text: sql.split('\n').map(markedLine).join('\n') });
    code.tabIndex = 0;
    code.ariaLabel = 'SQL';
    code.role = 'region';
    element.append(code);
  }
  const buttons = createElement('div', { className: 'lance-review-buttons' });
  for (const action of actions) buttons.append(createButton({ label: labels[action], run: () => act(action) }));
  buttons.firstElementChild?.classList.add('primary');
  element.append(createElement('p', { text: note, role: 'status' }), buttons);
  return element;
}

/** Spaces at the start of a line are indentation. */
const markedLine = (line: string): string => {
  const text = line.trim();
  const start = line.length - line.trimStart().length;
  return text === '' ? '' : ' '.repeat(start) + markedText(text);
};
