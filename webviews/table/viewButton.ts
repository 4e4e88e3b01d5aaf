import type { SavedViewState } from '#shared/protocol/webviewMessages.ts';
import { createElement } from '../parts/elements.ts';

/** The button of the toolbar that lists the saved views. It names the one that is shown, with a mark if it was changed. */
export class ViewButton {
  readonly element = createElement('button', { className: 'lance-view-button' });
  readonly #name = document.createElement('bdi');

  constructor(choose: () => void) {
    this.element.type = 'button';
    this.element.addEventListener('click', choose);
    this.element.append(this.#name);
    this.show({ name: null, isChanged: false });
  }

  show({ name, isChanged }: SavedViewState): void {
    const { element } = this;
    this.#name.textContent = name ?? 'Views';
    element.classList.toggle('lance-is-changed', isChanged);
    element.classList.toggle('lance-is-named', name !== null);
    const changed = isChanged ? ', changed since it was saved' : '';
    element.title = name === null ? 'Save and show views: filter, order and columns' : `View "${name}"${changed}`;
    element.ariaLabel = name === null ? 'Views' : `View ${name}${changed}`;
  }
}
