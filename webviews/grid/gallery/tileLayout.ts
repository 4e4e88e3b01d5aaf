import type { TileSize } from '../galleryHost.ts';
import type { ThumbnailBox } from '../thumbnails.ts';

/** The largest image of a tile, by size of the tiles. */
export const imageBoxes: Readonly<Record<TileSize, ThumbnailBox>> = {
  small: { width: 96, height: 72 },
  medium: { width: 176, height: 132 },
  large: { width: 320, height: 240 },
};

/** Space around the image and the caption of a tile, height of the caption and space around all tiles, in pixels. */
export const padding = 8;
export const captionHeight = 22;
export const margin = 6;

/** Where tiles are: lines of as many tiles as fit, all of one size. */
export type TileLayout = {
  readonly perLine: number;
  readonly tileWidth: number;
  readonly lineHeight: number;
};

export function tileLayout(size: TileSize, viewWidth: number): TileLayout {
  const { width, height } = imageBoxes[size];
  const available = Math.max(0, viewWidth - 2 * margin);
  const perLine = Math.max(1, Math.floor(available / (width + 2 * padding)));
  return {
    perLine,
    tileWidth: Math.max(1, Math.floor(available / perLine)),
    lineHeight: height + captionHeight + 2 * padding,
  };
}

/** The part of a keyboard event that moves. */
export type TileKey = { readonly key: string; /** Ctrl, or Cmd on macOS. */ readonly toEdge: boolean };

/** Returns the tile that a key leads to from another tile; `undefined` if the key doesn't move. */
export function nextTile(
  row: number,
  { key, toEdge }: TileKey,
  { perLine, numRows, pageLines }: { readonly perLine: number; readonly numRows: number; readonly pageLines: number },
): number | undefined {
  const last = numRows - 1;
  const lineStart = row - (row % perLine);
  // The last line may have no tile below, and the first line has none above.
  const down = (lines: number): number => {
    const to = row + Math.min(lines, Math.floor(last / perLine) - Math.floor(row / perLine)) * perLine;
    return Math.min(to, last);
  };
  const up = (lines: number): number => row - Math.min(lines, Math.floor(row / perLine)) * perLine;
  const to = {
    ArrowLeft: row - 1,
    ArrowRight: row + 1,
    ArrowUp: toEdge ? up(Infinity) : up(1),
    ArrowDown: toEdge ? down(Infinity) : down(1),
    PageUp: up(pageLines),
    PageDown: down(pageLines),
    Home: toEdge ? 0 : lineStart,
    End: toEdge ? last : lineStart + perLine - 1,
  }[key];
  return to === undefined ? undefined : Math.max(0, Math.min(to, last));
}
