import { type Action, createButton, createElement } from '../parts/elements.ts';
import { type Notice, NoticeLine } from '../parts/noticeLine.ts';
import type { GridFrame } from './frame.ts';

/** What is below the rows: messages, and a button for what the user can do. */
export type Footer = { readonly texts: readonly string[]; readonly button?: Action | undefined };

/** The line below the rows. If visible rows could not be read, it shows why, and offers another try. */
export class GridFooter {
  readonly element = createElement('div', { className: 'lance-footer', role: 'status' });
  readonly #notice = new NoticeLine();

  /** @param facts further messages, about what the user has selected and hidden */
  draw(frame: GridFrame, { texts, button }: Footer, facts: readonly string[], notice: Notice | undefined): void {
    const problem = frame.problem();
    if (problem) {
      const text = createElement('span', { text: `Can't read rows ${problem.rows}: ${problem.message}` });
      text.title = problem.message;
      const line = createElement('span', { className: 'lance-problem' });
      line.append(text, createButton({ label: 'Try Again', run: () => frame.retry() }));
      this.element.replaceChildren(line);
      return;
    }
    const spans = [...texts, ...facts].map((text) => {
      const span = createElement('span', { text, className: 'lance-footer-text' });
      // A narrow output cuts the end off.
      span.title = text;
      return span;
    });
    this.#notice.show(notice);
    // A notice that changes stays on the page, so that a click on its button isn't lost.
    const { element } = this.#notice;
    for (const child of Array.from(this.element.childNodes)) if (child !== element) child.remove();
    if (element.parentElement !== this.element) this.element.append(element);
    element.before(...spans);
    if (button) element.after(createButton(button));
  }
}
