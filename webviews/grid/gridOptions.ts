import type { ColumnChoices } from './columnLayout.ts';
import type { PaneState } from './detailPane.ts';
import type { GridFrame } from './frame.ts';
import type { Footer } from './gridFooter.ts';
import type { GalleryState } from './gridGallery.ts';
import type { RowHeight } from './rowHeights.ts';
import type { SaveFile } from './saveFile.ts';
import type { Selection } from './selection.ts';
import type { GridViewing } from './sorting.ts';
import type { MenuItem } from './menu.ts';
import type { Notice } from '../parts/noticeLine.ts';

/** What a grid keeps when its page is created again: scroll position, selection, columns, detail pane and gallery. */
export type GridState = {
  readonly top: number;
  readonly left: number;
  readonly selection: Selection;
  readonly choices: ColumnChoices;
  readonly rowHeight?: RowHeight;
  readonly pane?: PaneState;
  readonly gallery?: GalleryState;
};

export type GridOptions = {
  readonly frame: GridFrame;
  /** Names the grid for assistive technology. */
  readonly label: string;
  /** Moves the keyboard focus to the grid when the page has it. */
  readonly focus: boolean;
  readonly footer: Footer;
  /** Whether rows may still be added; see `update`. */
  readonly isGrowing?: boolean;
  /** Further entries of the menu of a cell. */
  readonly cellMenu?: readonly MenuItem[] | undefined;
  /** Saves a value as a file; without it, values can only be copied. */
  readonly save?: SaveFile | undefined;
  readonly state?: GridState | undefined;
  readonly onState?: (state: GridState) => void;
  /** Writes the selected rows to a file. Set if it can. */
  readonly exportSelected?: (() => void) | undefined;
  /** Set if the rows can be sorted and filtered. */
  readonly viewing?: GridViewing | undefined;
  /** What is shown instead of rows, if there are none. */
  readonly empty?: Notice | undefined;
  /** Called once if a value can't be drawn, because it does not match its column's type. The grid is closed then. */
  readonly onFailure: (error: unknown) => void;
};
