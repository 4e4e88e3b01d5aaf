import { isAbort } from '#shared/errors.ts';
import { countText } from '#shared/format/numbers.ts';
import { createElement, createWrapper } from '../../parts/elements.ts';
import type { GridCell } from '../block.ts';
import type { GridFrame } from '../frame.ts';
import type { drawThumbnail, ThumbnailBox } from '../thumbnails.ts';

/** What tiles have in common. */
export type TileDeps = {
  readonly frame: GridFrame;
  readonly drawThumbnail: typeof drawThumbnail;
  readonly idPrefix: string;
};

/** What a tile shows. */
export type TileContent = {
  readonly row: number;
  readonly numRows: number;
  readonly image: number;
  /** `undefined` for the number of the row. */
  readonly caption: number | undefined;
  readonly box: ThumbnailBox;
  readonly isActive: boolean;
  readonly isSelected: boolean;
};

/** An SVG image is a document, so it is not drawn. */
const svgMime = 'image/svg+xml';
/** A larger image in a blob is not loaded for its thumbnail. */
const maxBlobBytes = 32 * 2 ** 20;

/** An image with its caption. An element shows one row after another. */
export class Tile {
  readonly element = createElement('div', { className: 'lance-tile', role: 'option' });
  readonly #deps: TileDeps;
  readonly #box = createWrapper('lance-tile-image');
  readonly #caption = createElement('span', { className: 'lance-tile-caption' });
  #row = -1;
  /** The drawn cell of the image; `undefined` if it isn't loaded, `null` before the first drawing. */
  #drawn: GridCell | undefined | null = null;
  #drawnBox: ThumbnailBox | undefined;
  #drawing: AbortController | undefined;
  #captionCell: GridCell | undefined;
  /** What is shown instead of an image. */
  #noteText: string | undefined;
  #state = '';
  /** What assistive technology reads. */
  #label = '';

  constructor(deps: TileDeps) {
    this.#deps = deps;
    // Assistive technology would join the words of both without the space.
    this.element.append(this.#box, ' ', this.#caption);
  }

  get row(): number {
    return this.#row;
  }

  draw(content: TileContent): void {
    const { row, numRows, image, caption, box, isActive, isSelected } = content;
    const { frame, idPrefix } = this.#deps;
    const { element } = this;
    if (row !== this.#row) {
      this.#row = row;
      element.id = `${idPrefix}-${row}`;
      element.setAttribute('aria-posinset', String(row + 1));
    }
    if (element.getAttribute('aria-setsize') !== String(numRows)) element.setAttribute('aria-setsize', String(numRows));
    const text = caption === undefined ? undefined : frame.cell(row, caption);
    this.#captionCell = text;
    this.#drawCaption(caption === undefined, text);
    this.#drawImage(frame.cell(row, image), image, box);
    this.#describe();
    const state = `${isActive ? 'a' : ''}${isSelected ? 's' : ''}`;
    if (state === this.#state) return;
    this.#state = state;
    element.classList.toggle('lance-active', isActive);
    element.classList.toggle('lance-selected', isSelected);
    element.ariaSelected = String(isSelected);
  }

  /** Ends what is loaded or decoded for the tile. */
  release(): void {
    this.#drawing?.abort();
    this.#drawing = undefined;
    this.#drawn = null;
  }

  #drawCaption(isNumber: boolean, cell: GridCell | undefined): void {
    const text = isNumber ? countText(this.#row + 1) : (cell?.text ?? '');
    if (this.#caption.textContent !== text) {
      this.#caption.textContent = text;
      this.#caption.title = text;
    }
    this.#caption.classList.toggle('lance-null', cell?.kind === 'null');
    this.#caption.classList.toggle('lance-quiet-number', isNumber);
  }

  #describe(): void {
    const caption = this.#captionCell?.kind === 'null' ? undefined : this.#captionCell?.text;
    const shown = this.#noteText === undefined ? [caption, this.#drawn?.text ?? 'loading'] : [this.#noteText, caption];
    const [first, ...rest] = shown.filter((text) => text !== undefined && text !== '');
    const label = [`Row ${countText(this.#row + 1)}: ${first}`, ...rest].join(', ');
    if (label !== this.#label) this.element.ariaLabel = label;
    this.#label = label;
  }

  #drawImage(cell: GridCell | undefined, column: number, box: ThumbnailBox): void {
    if (this.#drawn === cell && this.#drawnBox === box) return;
    this.release();
    this.#drawn = cell;
    this.#drawnBox = box;
    this.#noteText = undefined;
    this.element.ariaBusy = cell === undefined ? 'true' : null;
    if (cell === undefined) return this.#box.replaceChildren();
    if (cell.kind === 'image' && cell.mime !== svgMime) return this.#paint(cell, box);
    if (cell.kind === 'blob' && cell.reason === undefined && cell.mime?.startsWith('image/') === true)
      return void this.#paintBlob(cell, column, box);
    if (cell.kind === 'null') return this.#note('No image');
    if (cell.kind === 'failed') return this.#note('Not loaded', cell.reason);
    this.#note(cell.text, 'reason' in cell ? cell.reason : undefined);
  }

  /** Shows quiet text instead of an image. */
  #note(text: string, title = text): void {
    const note = createElement('span', { className: 'lance-tile-note', text });
    note.title = title;
    this.#box.replaceChildren(note);
    this.#noteText = text;
    this.#describe();
  }

  #paint({ bytes, mime, text }: { bytes: Uint8Array; mime: string; text: string }, box: ThumbnailBox): void {
    const canvas = document.createElement('canvas');
    canvas.className = 'lance-decoding';
    canvas.ariaHidden = 'true';
    // A canvas is 300 pixels wide until it is drawn.
    [canvas.width, canvas.height] = [1, 1];
    this.#box.replaceChildren(canvas);
    this.#box.title = text;
    const drawing = new AbortController();
    this.#drawing = drawing;
    const end = this.#deps.drawThumbnail(canvas, { bytes, mime }, box, (reason) => this.#note(`${text}, ${reason}`));
    drawing.signal.addEventListener('abort', end, { once: true });
  }

  /** Loads a large image from its blob. The load ends when the tile leaves the view. */
  async #paintBlob(cell: Extract<GridCell, { kind: 'blob' }>, column: number, box: ThumbnailBox): Promise<void> {
    const load = this.#deps.frame.loadBlob?.(this.#row, column, cell.size);
    if (!load || cell.size > maxBlobBytes) return this.#note(cell.text);
    this.#box.replaceChildren();
    this.element.ariaBusy = 'true';
    const drawing = new AbortController();
    this.#drawing = drawing;
    try {
      const bytes = await load(drawing.signal, () => {});
      if (!drawing.signal.aborted) this.#paint({ bytes, mime: cell.mime!, text: cell.text }, box);
    } catch (error) {
      if (drawing.signal.aborted) return;
      this.#note(isAbort(error) ? cell.text : `${cell.text}, not loaded`, String(error));
    } finally {
      if (this.#drawn === cell) this.element.ariaBusy = null;
    }
  }
}
