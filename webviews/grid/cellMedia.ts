import type { GridFrame } from './frame.ts';
import { LargeImage } from './largeImage.ts';
import { MediaView } from './mediaView.ts';

/** The image, audio or video of a cell in the top layer. At most one is shown. */
export class CellMedia {
  readonly #parent: HTMLElement;
  readonly #frame: GridFrame;
  #shown: LargeImage | MediaView | undefined;

  /** @param parent holds the element, so that the styles of its root apply */
  constructor(parent: HTMLElement, frame: GridFrame) {
    this.#parent = parent;
    this.#frame = frame;
  }

  /** Shows a cell, or its value before a change, beside its thumbnail. Does nothing for a cell without media. */
  show(row: number, column: number, thumbnail: HTMLElement): void {
    const frame = this.#frame;
    const cell = thumbnail.closest('.lance-before') ? frame.mark?.(row, column)?.before : frame.cell(row, column);
    if (cell?.kind !== 'image' && cell?.kind !== 'blob') return;
    const load = cell.kind === 'blob' ? frame.loadBlob?.(row, column, cell.size) : undefined;
    this.hide();
    if (cell.kind === 'image') this.#shown = new LargeImage(this.#parent, thumbnail, cell);
    else if (load) this.#shown = new MediaView(this.#parent, thumbnail, cell, load);
  }

  hide(): void {
    this.#shown?.hide();
    this.#shown = undefined;
  }
}
