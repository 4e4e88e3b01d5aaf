import { createButton, createElement } from '../parts/elements.ts';

/** The choice between the rows of a table and its images. Hidden for a table without images. */
export class ViewSwitch {
  readonly element = createElement('div', { className: 'lance-switch', role: 'group' });
  readonly #table: HTMLButtonElement;
  readonly #gallery: HTMLButtonElement;

  constructor(choose: (isGallery: boolean) => void) {
    this.#table = createButton({ label: 'Table', run: () => choose(false) });
    this.#gallery = createButton({ label: 'Gallery', run: () => choose(true) });
    this.element.ariaLabel = 'Show as';
    this.element.hidden = true;
    this.element.append(this.#table, this.#gallery);
  }

  draw({ isOffered, isOpen }: { readonly isOffered: boolean; readonly isOpen: boolean }): void {
    this.element.hidden = !isOffered && !isOpen;
    this.#table.ariaPressed = String(!isOpen);
    this.#gallery.ariaPressed = String(isOpen);
  }
}
