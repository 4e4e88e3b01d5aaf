import type { GridFrame } from './frame.ts';

export type TileSize = 'small' | 'medium' | 'large';

/** Selected rows: from `anchor` to `active`, both included. */
export type SelectedRows = { readonly active: number; readonly anchor: number };

/** What a gallery uses of the grid whose rows it shows. */
export type GalleryHost = {
  /** Names the gallery for assistive technology. */
  readonly label: string;
  readonly frame: GridFrame;
  readonly selected: () => SelectedRows;
  readonly select: (rows: SelectedRows) => void;
  /** Shows the whole value of the active image. */
  readonly openPane: () => void;
  readonly openMenu: (at: { readonly x: number; readonly y: number }) => void;
  /** Handles keys that do the same in the table. */
  readonly onKey: (event: KeyboardEvent) => void;
};
