import { createElement, createWrapper } from '../../parts/elements.ts';
import { isCaptionColumn } from '../galleryColumns.ts';
import type { GalleryHost, TileSize } from '../galleryHost.ts';
import { rotate } from '../rotate.ts';
import { RowScroll } from '../rowScroll.ts';
import type { drawThumbnail } from '../thumbnails.ts';
import css from './gallery.css';
import { createStyles } from '../lazyPart.ts';
import { galleryBar, type GalleryChoice } from './galleryBar.ts';
import { Tile } from './tile.ts';
import { imageBoxes, margin, nextTile, type TileLayout, tileLayout } from './tileLayout.ts';

export type GalleryViewDeps = GalleryHost & {
  /** The columns that may have images. */
  readonly images: readonly number[];
  readonly image: number;
  readonly caption: number | undefined;
  readonly size: TileSize;
  /** The first row in the view. */
  readonly top: number;
  /** The grid's own, because decoded images are kept with it. */
  readonly drawThumbnail: typeof drawThumbnail;
  readonly nameOf: (column: number) => string;
  readonly onState: () => void;
};

let galleries = 0;

/**
 * The images of a table as tiles. Only the tiles in the view have elements, and only their rows are read. All tiles have
 * one size, so a position is a product, and any number of rows is scrolled as in the table.
 */
export class GalleryView {
  readonly #deps: GalleryViewDeps;
  readonly #scroller = createElement('div', { className: 'lance-gallery', role: 'listbox' });
  readonly #content = createWrapper('lance-content');
  readonly #layer = createWrapper('lance-layer');
  readonly #tiles: Tile[] = [];
  readonly #idPrefix = `lance-gallery-${++galleries}`;
  readonly #bar: HTMLElement;
  readonly #resizing: ResizeObserver;
  readonly #rows: RowScroll;
  #choice: GalleryChoice;
  #numRows: number;
  #layout: TileLayout;
  #frameRequest: number | undefined;
  #handlesWheel = false;
  /** The row that has to be in the view once the size is known. */
  #wanted: { top: number; row: number } | undefined;
  #isClosed = false;

  /**
   * @param root holds the styles: the page, or the shadow root of an output
   * @param place holds the gallery
   */
  constructor(root: Document | ShadowRoot, place: HTMLElement, deps: GalleryViewDeps) {
    adoptStyles(root);
    this.#deps = deps;
    const { frame, images, image, caption, size, label, top, nameOf } = deps;
    this.#choice = { image, caption, size };
    this.#numRows = frame.numRows;
    this.#layout = tileLayout(size, 0);
    this.#rows = new RowScroll(frame.numRows, this.#layout.lineHeight);
    const { active } = deps.selected();
    this.#wanted = { top, row: active };
    const captions = [...frame.columns.keys()].filter((column) => isCaptionColumn(frame.columns[column]!));
    this.#bar = galleryBar({
      images,
      captions,
      nameOf,
      choice: this.#choice,
      choose: (choice) => this.#choose(choice),
    });
    const scroller = this.#scroller;
    scroller.tabIndex = 0;
    scroller.ariaLabel = `Images of ${label}`;
    scroller.ariaMultiSelectable = 'true';
    this.#content.append(this.#layer);
    scroller.append(this.#content);
    place.replaceChildren(this.#bar, scroller);
    this.#listen();
    this.#resizing = new ResizeObserver(() => this.#measure());
    this.#resizing.observe(scroller);
    this.#measure();
  }

  get focusTarget(): HTMLElement {
    return this.#scroller;
  }

  focus(): void {
    this.#scroller.focus({ preventScroll: true });
  }

  get imageColumn(): number {
    return this.#choice.image;
  }

  /** The first row in the view. */
  get topRow(): number {
    return this.#wanted?.top ?? this.#rows.firstRow * this.#layout.perLine;
  }

  get state(): { image: string; caption: string | null; size: TileSize; top: number } {
    const { image, caption, size } = this.#choice;
    const { nameOf } = this.#deps;
    return {
      image: nameOf(image),
      caption: caption === undefined ? null : nameOf(caption),
      size,
      top: this.topRow,
    };
  }

  grow(numRows: number): void {
    this.#numRows = numRows;
    this.#rows.numRows = this.#numLines;
    this.#sizeContent();
    this.draw();
  }

  /** Scrolls as little as needed to show a row. */
  reveal(row: number): void {
    if (this.#wanted) this.#wanted = { ...this.#wanted, row };
    this.#rows.reveal(Math.floor(Math.max(0, row) / this.#layout.perLine));
    this.#scroller.scrollTop = this.#rows.scrollTop;
    this.draw();
  }

  /** Draws in the next frame. */
  draw(): void {
    this.#frameRequest ??= requestAnimationFrame(() => {
      this.#frameRequest = undefined;
      if (!this.#isClosed) this.#drawView();
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#resizing.disconnect();
    if (this.#frameRequest !== undefined) cancelAnimationFrame(this.#frameRequest);
    for (const tile of this.#tiles.splice(0)) tile.release();
    this.#bar.remove();
    this.#scroller.remove();
  }

  get #numLines(): number {
    return Math.ceil(this.#numRows / this.#layout.perLine);
  }

  #listen(): void {
    const scroller = this.#scroller;
    scroller.addEventListener('scroll', () => {
      // A resize moves the scroll bar before the size is measured.
      if (this.#wanted) return;
      this.#rows.follow(scroller.scrollTop);
      this.draw();
      this.#deps.onState();
    });
    scroller.addEventListener('keydown', (event) => this.#onKey(event));
    scroller.addEventListener('pointerdown', (event) => {
      const row = this.#rowAt(event.target);
      if (row === undefined || event.button !== 0) return;
      this.#deps.select({ active: row, anchor: event.shiftKey ? this.#deps.selected().anchor : row });
    });
    scroller.addEventListener('dblclick', (event) => {
      if (this.#rowAt(event.target) !== undefined) this.#deps.openPane();
    });
    scroller.addEventListener('contextmenu', (event) => {
      const row = this.#rowAt(event.target);
      if (row === undefined) return;
      event.preventDefault();
      if (!this.#isSelected(row)) this.#deps.select({ active: row, anchor: row });
      this.#deps.openMenu({ x: event.clientX, y: event.clientY });
    });
  }

  #choose(choice: GalleryChoice): void {
    const top = this.topRow;
    this.#choice = choice;
    this.#wanted = { top, row: -1 };
    this.#measure();
    // The detail pane shows the image of the chosen column.
    this.#deps.select(this.#deps.selected());
    this.#deps.onState();
  }

  /** Computes where tiles are. The first row in the view stays there. */
  #measure(): void {
    const { clientWidth, clientHeight } = this.#scroller;
    if (clientWidth === 0 || clientHeight === 0) return;
    const layout = tileLayout(this.#choice.size, clientWidth);
    const before = this.#layout;
    const isMoved = layout.perLine !== before.perLine || layout.lineHeight !== before.lineHeight;
    const top = this.topRow;
    const row = this.#wanted?.row ?? -1;
    const isFirst = this.#wanted !== undefined;
    this.#wanted = undefined;
    this.#layout = layout;
    this.#rows.rowHeight = layout.lineHeight;
    this.#rows.numRows = this.#numLines;
    this.#rows.resize(clientHeight);
    this.#sizeContent();
    if (isFirst || isMoved) {
      this.#rows.moveTo(Math.floor(top / layout.perLine) * layout.lineHeight);
      const line = Math.floor(row / layout.perLine);
      if (row >= top) this.#rows.reveal(line);
      this.#scroller.scrollTop = this.#rows.scrollTop;
    }
    this.#drawView();
  }

  #sizeContent(): void {
    const { clientHeight, clientWidth } = this.#scroller;
    this.#content.style.height = `${this.#rows.contentHeight}px`;
    this.#layer.style.width = `${clientWidth}px`;
    this.#layer.style.height = `${clientHeight}px`;
    const { width, height } = imageBoxes[this.#choice.size];
    this.#layer.style.setProperty('--lance-image-width', `${width}px`);
    this.#layer.style.setProperty('--lance-image-height', `${height}px`);
    if (this.#handlesWheel || !this.#rows.isScaled) return;
    this.#handlesWheel = true;
    this.#scroller.addEventListener('wheel', (event) => this.#onWheel(event), { passive: false });
  }

  /** Moves by the wheel if the scroll bar is scaled: the browser would skip many lines. */
  #onWheel(event: WheelEvent): void {
    if (event.ctrlKey || event.deltaY === 0 || !this.#rows.isScaled) return;
    const unit = { [WheelEvent.DOM_DELTA_LINE]: 33, [WheelEvent.DOM_DELTA_PAGE]: this.#rows.viewHeight }[
      event.deltaMode
    ];
    const before = this.#rows.top;
    this.#rows.moveBy(event.deltaY * (unit ?? 1));
    if (this.#rows.top === before) return;
    event.preventDefault();
    this.#scroller.scrollTop = this.#rows.scrollTop;
    this.draw();
  }

  #drawView(): void {
    const rows = this.#rows;
    if (rows.viewHeight === 0) return;
    const { perLine, tileWidth, lineHeight } = this.#layout;
    const start = rows.firstRow * perLine;
    const end = Math.max(start, Math.min(this.#numRows, rows.endRow * perLine));
    this.#placeTiles(start, end);
    const { active } = this.#deps.selected();
    const { image, caption, size } = this.#choice;
    for (const [index, tile] of this.#tiles.entries()) {
      const row = start + index;
      const left = margin + (row % perLine) * tileWidth;
      const top = Math.floor(row / perLine) * lineHeight - rows.top;
      const { style } = tile.element;
      const transform = `translate(${left}px, ${top}px)`;
      if (style.transform !== transform) style.transform = transform;
      if (style.width !== `${tileWidth}px`) style.width = `${tileWidth}px`;
      tile.draw({
        row,
        numRows: this.#numRows,
        image,
        caption,
        box: imageBoxes[size],
        isActive: row === active,
        isSelected: this.#isSelected(row),
      });
    }
    if (active >= start && active < end)
      this.#scroller.setAttribute('aria-activedescendant', `${this.#idPrefix}-${active}`);
    else this.#scroller.removeAttribute('aria-activedescendant');
    void this.#deps.frame.show(start, end, caption === undefined ? [image] : [caption, image]);
  }

  /** Gives the elements of tiles that left the view to the tiles that entered it. */
  #placeTiles(start: number, end: number): void {
    const tiles = this.#tiles;
    while (tiles.length > end - start) {
      const tile = tiles.pop()!;
      tile.release();
      tile.element.remove();
    }
    rotate(this.#layer, tiles, start - (tiles[0]?.row ?? start));
    while (tiles.length < end - start) {
      const tile = new Tile({
        frame: this.#deps.frame,
        drawThumbnail: this.#deps.drawThumbnail,
        idPrefix: this.#idPrefix,
      });
      tiles.push(tile);
      this.#layer.append(tile.element);
    }
  }

  #isSelected(row: number): boolean {
    const { active, anchor } = this.#deps.selected();
    return row >= Math.min(active, anchor) && row <= Math.max(active, anchor);
  }

  /** Returns the row of the tile that has an element inside. */
  #rowAt(target: EventTarget | null): number | undefined {
    return target instanceof Node ? this.#tiles.find(({ element }) => element.contains(target))?.row : undefined;
  }

  #onKey(event: KeyboardEvent): void {
    if (event.altKey) return;
    const { active, anchor } = this.#deps.selected();
    if (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) {
      event.preventDefault();
      const tile = this.#tiles.find(({ row }) => row === active);
      const { left, bottom } = (tile?.element ?? this.#scroller).getBoundingClientRect();
      this.#deps.openMenu({ x: left, y: bottom });
      return;
    }
    const toEdge = event.ctrlKey || event.metaKey;
    const next = nextTile(
      Math.max(0, active),
      { key: event.key, toEdge },
      { perLine: this.#layout.perLine, numRows: this.#numRows, pageLines: this.#rows.wholeRows },
    );
    if (next === undefined || this.#numRows === 0) return this.#deps.onKey(event);
    event.preventDefault();
    this.#deps.select({ active: next, anchor: event.shiftKey ? Math.max(0, anchor) : next });
    this.reveal(next);
  }
}

const adoptStyles = createStyles(css);
