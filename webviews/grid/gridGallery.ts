import { createWrapper } from '../parts/elements.ts';
import type { GridCell } from './block.ts';
import { guessCaption, isImageColumn } from './galleryColumns.ts';
import type { GalleryView } from './gallery/galleryView.ts';
import type { GalleryHost, TileSize } from './galleryHost.ts';
import { drawThumbnail } from './thumbnails.ts';
import { LazyPart } from './lazyPart.ts';

/** What a grid keeps about its gallery. Columns are names, because a newer version may have others. */
export type GalleryState = {
  readonly isOpen: boolean;
  readonly image?: string;
  /** `null` for the number of the row. */
  readonly caption?: string | null;
  readonly size?: TileSize;
  /** The first row in the view. */
  readonly top?: number;
};

export type GridGalleryDeps = GalleryHost & {
  /** Holds the gallery while it is open. */
  readonly place: HTMLElement;
  readonly state: GalleryState | undefined;
  /** Returns the first row in the view of the table. */
  readonly topRow: () => number;
  /** Called after the gallery was opened or closed, with the first row in its view. */
  readonly onSwitch: (isOpen: boolean, topRow: number) => void;
  readonly onState: () => void;
};

/** Names of columns that probably have images. Others are found when their values are loaded. */
const imageName = /image|photo|picture|thumb|jpe?g|png|webp|frame|^im(?:g|age)?s?$|_img|img_/i;

/**
 * The images of a table as tiles, in the place of its rows. What draws them is in a bundle that is loaded when the
 * gallery is opened.
 */
export class GridGallery {
  readonly #deps: GridGalleryDeps;
  readonly #element = createWrapper('lance-gallery-place');
  /** The columns that may have images, and those among them that have some. */
  readonly #candidates: readonly number[];
  readonly #found = new Set<number>();
  #state: GalleryState;
  readonly #part: LazyPart<GalleryView>;

  constructor(deps: GridGalleryDeps) {
    this.#deps = deps;
    const { columns } = deps.frame;
    this.#candidates = [...columns.keys()].filter((column) => isImageColumn(columns[column]!));
    for (const column of this.#candidates) if (imageName.test(columns[column]!.name)) this.#found.add(column);
    this.#state = { ...sanitize(deps.state), isOpen: false };
    this.#part = new LazyPart({ element: this.#element, name: 'the gallery', load: () => this.#load() });
  }

  /** Opens the gallery if it was open when its state was kept. */
  restore(): void {
    const { state } = this.#deps;
    if (state?.isOpen === true && this.#candidates.length > 0) this.#open(this.#state.top ?? 0);
  }

  get isOpen(): boolean {
    return this.#part.isOpen;
  }

  get state(): GalleryState {
    return { ...this.#state, ...this.#part.view?.state, isOpen: this.isOpen };
  }

  /** Whether a column is known to have images. */
  get isOffered(): boolean {
    return this.#found.size > 0;
  }

  /** The column of the images. */
  get column(): number {
    return this.#part.view?.imageColumn ?? this.#imageColumn();
  }

  /** Whether the gallery has the keyboard focus. */
  hasFocus(root: Node): boolean {
    const { view } = this.#part;
    return 'activeElement' in root && view !== undefined && root.activeElement === view.focusTarget;
  }

  /** Looks for images among the loaded values of a few rows. Returns whether the first one was found. */
  look(start: number): boolean {
    const { frame } = this.#deps;
    const wasOffered = this.isOffered;
    for (const column of this.#candidates)
      for (let row = start; row < start + lookRows && row < frame.numRows && !this.#found.has(column); row++)
        if (isImage(frame.cell(row, column))) this.#found.add(column);
    return this.isOffered && !wasOffered;
  }

  toggle(isOpen: boolean): void {
    if (isOpen === this.isOpen) return;
    if (isOpen) this.#open(this.#deps.topRow());
    else {
      const topRow = this.#part.view?.topRow ?? 0;
      this.#remove();
      this.#deps.onSwitch(false, topRow);
    }
    this.#deps.onState();
  }

  /** Draws after rows were loaded, or the selection has changed. */
  draw(): void {
    this.#part.view?.draw();
  }

  grow(numRows: number): void {
    this.#part.view?.grow(numRows);
  }

  /** Scrolls as little as needed to show a row. */
  reveal(row: number): void {
    this.#part.view?.reveal(row);
  }

  focus(): void {
    this.#part.focus();
  }

  /** Frees what the gallery holds. */
  close(): void {
    this.#remove();
  }

  #open(top: number): void {
    const { place, onSwitch } = this.#deps;
    this.#state = { ...this.#state, top };
    place.prepend(this.#element);
    this.#part.open();
    onSwitch(true, top);
  }

  #remove(): void {
    this.#state = this.state;
    this.#part.close();
  }

  async #load(): Promise<(root: Document | ShadowRoot) => GalleryView> {
    const { GalleryView: View } = await import('./gallery/galleryView.ts');
    const { columns } = this.#deps.frame;
    return (root) =>
      new View(root, this.#element, {
        ...this.#deps,
        images: this.#candidates,
        image: this.#imageColumn(),
        caption: this.#captionColumn(),
        size: this.#state.size ?? 'medium',
        top: this.#state.top ?? 0,
        drawThumbnail,
        onState: () => {
          this.#state = this.state;
          this.#deps.onState();
        },
        nameOf: (column) => columns[column]!.name,
      });
  }

  #imageColumn(): number {
    const { columns } = this.#deps.frame;
    const chosen = this.#candidates.find((column) => columns[column]!.name === this.#state.image);
    return chosen ?? this.#candidates.find((column) => this.#found.has(column)) ?? this.#candidates[0]!;
  }

  #captionColumn(): number | undefined {
    const { columns } = this.#deps.frame;
    const { caption } = this.#state;
    if (caption === null) return undefined;
    const chosen = caption === undefined ? -1 : columns.findIndex(({ name }) => name === caption);
    return chosen >= 0 ? chosen : guessCaption(columns);
  }
}

/** Number of rows that are searched for images, because the first ones may be null. */
const lookRows = 8;

const isImage = (cell: GridCell | undefined): boolean =>
  cell?.kind === 'image' || (cell?.kind === 'blob' && cell.mime?.startsWith('image/') === true);

/** Returns a saved state without what is not valid in it. */
function sanitize(saved: GalleryState | undefined): GalleryState {
  const { isOpen, image, caption, size, top } = (saved ?? {}) as Record<keyof GalleryState, unknown>;
  return {
    isOpen: isOpen === true,
    ...(typeof image === 'string' && { image }),
    ...((typeof caption === 'string' || caption === null) && { caption }),
    ...((size === 'small' || size === 'medium' || size === 'large') && { size }),
    ...(Number.isSafeInteger(top) && (top as number) >= 0 && { top: top as number }),
  };
}
