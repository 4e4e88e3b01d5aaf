import { type Action, createButton, createElement } from './elements.ts';

/** A message, and what the user can do about it. */
export type Notice = { readonly text: string; readonly actions: readonly Action[] };

const labels = (actions: readonly Action[]): string => actions.map(({ label }) => label).join('\n');

/**
 * A message with buttons, which may change many times a second. A button stays the same element while its label stays,
 * because a click on an element that is replaced meanwhile is lost.
 */
export class NoticeLine {
  readonly element = createElement('span', { className: 'lance-notice' });
  readonly #text = createElement('span');
  #actions: readonly Action[] = [];

  show(notice: Notice | undefined): void {
    const actions = notice?.actions ?? [];
    const isSame = labels(actions) === labels(this.#actions);
    this.#actions = actions;
    this.#text.textContent = notice?.text ?? '';
    this.element.hidden = notice === undefined;
    if (isSame && this.#text.isConnected) return;
    const buttons = actions.map(({ label }, index) => createButton({ label, run: () => this.#actions[index]?.run() }));
    this.element.replaceChildren(this.#text, ...buttons);
  }
}
