import { type Action, createButton, createElement } from '../parts/elements.ts';
import type { GridFrame } from './frame.ts';

/** What is below the rows: messages, and a button for what the user can do. */
export type Footer = { readonly texts: readonly string[]; readonly button?: Action | undefined };

/** The line below the rows. If visible rows could not be read, it shows why, and offers another try. */
export class GridFooter {
  readonly element = createElement('div', { className: 'lance-footer', role: 'status' });

  /** @param facts further messages, about what the user has selected and hidden */
  draw(frame: GridFrame, { texts, button }: Footer, facts: readonly string[]): void {
    const problem = frame.problem();
    if (problem) {
      const text = createElement('span', { text: `Can't read rows ${problem.rows}: ${problem.message}` });
      text.title = problem.message;
      const line = createElement('span', { className: 'lance-problem' });
      line.append(text, createButton({ label: 'Try Again', run: () => frame.retry() }));
      this.element.replaceChildren(line);
      return;
    }
    const spans = [...texts, ...facts].map((text) => createElement('span', { text }));
    this.element.replaceChildren(...spans, ...(button ? [createButton(button)] : []));
  }
}
