import { imageMime } from '#shared/format/images.ts';
import type { GridCell } from './block.ts';

type ImageCell = Extract<GridCell, { kind: 'image' }>;

const loading = 'Loading the whole image…';
const thumbnailOnly = 'This is a thumbnail. Run the cell again to see the whole image.';

/**
 * The image of a cell in its size. It is in the top layer, because the cell would clip it, and beside the cell, because
 * the center of a notebook's page may be out of sight. If the cell has only a thumbnail, the whole image is loaded.
 */
export class LargeImage {
  readonly #thumbnail: HTMLElement;
  readonly #element = document.createElement('div');
  readonly #image = document.createElement('img');
  readonly #note = document.createElement('p');
  #url: string | undefined;

  /** @param parent holds the element, so that the styles of its root apply */
  constructor(parent: HTMLElement, thumbnail: HTMLElement, cell: ImageCell) {
    this.#thumbnail = thumbnail;
    this.#element.className = 'lance-large';
    this.#element.popover = 'auto';
    this.#image.alt = cell.text;
    this.#image.addEventListener('load', () => this.#place());
    this.#note.role = 'status';
    this.#note.hidden = true;
    this.#element.append(this.#image, this.#note);
    this.#element.addEventListener('toggle', (event) => {
      if (event.newState === 'closed') this.hide();
    });
    parent.append(this.#element);
    this.#show(cell.bytes, cell.mime);
    this.#element.showPopover();
    this.#place();
    if ('load' in cell) void this.#loadWhole(cell);
  }

  hide(): void {
    this.#element.remove();
    if (this.#url !== undefined) URL.revokeObjectURL(this.#url);
    this.#url = undefined;
  }

  async #loadWhole({ load, mime }: Extract<ImageCell, { load: unknown }>): Promise<void> {
    this.#say(loading);
    const whole = await load().catch(() => undefined);
    if (this.#url === undefined) return;
    if (whole) this.#show(whole, imageMime(whole) ?? mime);
    this.#say(whole ? '' : thumbnailOnly);
  }

  #show(bytes: Uint8Array, mime: string): void {
    if (this.#url !== undefined) URL.revokeObjectURL(this.#url);
    this.#url = URL.createObjectURL(new Blob([bytes as Uint8Array<ArrayBuffer>], { type: mime }));
    this.#image.src = this.#url;
  }

  #say(note: string): void {
    this.#note.textContent = note;
    this.#note.hidden = note === '';
    this.#place();
  }

  #place(): void {
    const { left, top, bottom } = this.#thumbnail.getBoundingClientRect();
    const { width, height } = this.#element.getBoundingClientRect();
    const isBelow = bottom + 4 + height <= innerHeight;
    this.#element.style.left = `${Math.max(4, Math.min(left, innerWidth - width - 4))}px`;
    this.#element.style.top = `${isBelow ? bottom + 4 : Math.max(4, top - height - 4)}px`;
  }
}
