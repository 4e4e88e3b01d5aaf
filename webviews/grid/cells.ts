import { spark, sparkPath } from '#shared/format/sparkPath.ts';
import type { GridCell } from './block.ts';

/** A string of at most this many characters fits any column. */
const shortText = 12;

/** An element of the grid that shows a cell, and what it shows. */
export type DrawnCell = {
  readonly element: HTMLElement;
  /** The drawn cell; `undefined` for a cell that isn't loaded, `null` before the first drawing. */
  drawn: GridCell | undefined | null;
  /** Frees what the drawing holds. */
  release: (() => void) | undefined;
};

/** Draws a cell. Does nothing if the element shows the same cell already. */
export function drawCell(place: DrawnCell, cell: GridCell | undefined): void {
  if (place.drawn === cell) return;
  place.release?.();
  place.release = undefined;
  place.drawn = cell;
  const { element } = place;
  element.ariaBusy = cell === undefined ? 'true' : null;
  if (cell === undefined) element.replaceChildren();
  else if (cell.kind === 'image') place.release = drawImage(element, cell);
  else if (cell.kind === 'vector') drawVector(element, cell);
  else drawText(element, cell);
}

/** Frees what a drawing holds, before its element is removed. */
export function releaseCell(place: DrawnCell): void {
  place.release?.();
  place.release = undefined;
  place.drawn = null;
}

type TextCell = Exclude<GridCell, { kind: 'image' | 'vector' }>;

function drawText(element: HTMLElement, cell: TextCell): void {
  const [only] = element.childNodes;
  // Most cells that are drawn again are text before and after. Then only the text changes.
  const isText = element.childNodes.length === 1 && only instanceof HTMLSpanElement && only.childElementCount === 0;
  const span = isText ? only : document.createElement('span');
  // A null has a separate style, so that it differs from the string "null".
  span.className = `lance-${cell.kind}`;
  span.textContent = cell.text;
  const reason = 'reason' in cell ? cell.reason : undefined;
  const title = reason ?? (cell.text.length > shortText ? cell.text : '');
  if (span.title !== title) span.title = title;
  if (!isText) element.replaceChildren(span);
}

function drawVector(element: HTMLElement, { text, values }: Extract<GridCell, { kind: 'vector' }>): void {
  const span = document.createElement('span');
  span.className = 'lance-vector';
  span.title = text;
  if (values.length >= spark.minPoints) {
    const svg = document.createElementNS(svgNamespace, 'svg');
    svg.setAttribute('viewBox', `0 0 ${spark.width} ${spark.height}`);
    svg.setAttribute('width', String(spark.width));
    svg.setAttribute('height', String(spark.height));
    svg.setAttribute('aria-hidden', 'true');
    const path = document.createElementNS(svgNamespace, 'path');
    path.setAttribute('d', sparkPath(values));
    svg.append(path);
    span.append(svg);
  }
  const label = document.createElement('span');
  label.textContent = text;
  span.append(label);
  element.replaceChildren(span);
}

const svgNamespace = 'http://www.w3.org/2000/svg';

/** Draws an image from the bytes of a cell. Returns a function that frees its address. */
function drawImage(element: HTMLElement, { bytes, mime, text }: Extract<GridCell, { kind: 'image' }>): () => void {
  const url = URL.createObjectURL(new Blob([bytes as Uint8Array<ArrayBuffer>], { type: mime }));
  const image = document.createElement('img');
  image.className = 'lance-image';
  image.alt = text;
  image.title = text;
  image.decoding = 'async';
  image.src = url;
  image.onerror = () => {
    const damaged = document.createElement('span');
    damaged.className = 'lance-binary';
    damaged.textContent = `${text}, damaged`;
    if (image.isConnected) image.replaceWith(damaged);
  };
  element.replaceChildren(image);
  return () => {
    image.onerror = null;
    URL.revokeObjectURL(url);
  };
}
