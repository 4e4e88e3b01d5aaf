import { spark, sparkPath } from '#shared/format/sparkPath.ts';
import { createElement } from '../parts/elements.ts';
import type { GridCell } from './block.ts';
import { markedParts } from './markedText.ts';
import { isPlayable } from './mediaView.ts';
import { drawThumbnail, thumbnailBox } from './thumbnails.ts';
import { vectorFacts } from './vectorFacts.ts';

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
export function drawCell(place: DrawnCell, cell: GridCell | undefined, rowHeight: number): void {
  if (place.drawn === cell) return;
  place.release?.();
  place.release = undefined;
  const { element } = place;
  // Changed only if needed, because a frame draws hundreds of cells, and each attribute costs as much as the text.
  if (cell === undefined || !place.drawn) element.ariaBusy = cell === undefined ? 'true' : null;
  place.drawn = cell;
  if (cell === undefined) element.replaceChildren();
  else if (cell.kind === 'image' && cell.mime !== svgMime) place.release = drawImage(element, cell, rowHeight);
  else if (cell.kind === 'vector') drawVector(element, cell);
  else drawText(element, cell);
}

/** Frees what a drawing holds, before its element is removed. */
export function releaseCell(place: DrawnCell): void {
  place.release?.();
  place.release = undefined;
  place.drawn = null;
}

/** An SVG image is a document, so it is not drawn. */
const svgMime = 'image/svg+xml';

type TextCell = Exclude<GridCell, { kind: 'vector' }>;

function drawText(element: HTMLElement, cell: TextCell): void {
  const only = element.firstChild;
  // Most cells that are drawn again are text before and after. Then only the text changes.
  const isText = only instanceof HTMLSpanElement && only.nextSibling === null;
  const span = isText ? only : document.createElement('span');
  // A null has a separate style, so that it differs from the string "null".
  const className = classOf(cell);
  if (span.className !== className) span.className = className;
  const parts = partsOf(cell);
  if (parts) span.replaceChildren(...parts);
  else span.textContent = cell.text;
  const reason = 'reason' in cell ? cell.reason : undefined;
  const title = reason ?? (cell.text.length > shortText ? cell.text : '');
  if (span.title !== title) span.title = title;
  if (!isText) element.replaceChildren(span);
}

function classOf(cell: TextCell): string {
  if (cell.kind === 'image') return 'lance-binary';
  if (cell.kind === 'number' && cell.text.includes('e')) return 'lance-number lance-split';
  if (cell.kind !== 'blob' || !isPlayable(cell)) return `lance-${cell.kind}`;
  return `lance-blob lance-openable${cell.mime?.startsWith('image/') === true ? '' : ' lance-playable'}`;
}

/** Returns the elements of text that is more than its characters; `undefined` for the others. */
function partsOf({ kind, text }: TextCell): HTMLElement[] | undefined {
  if (kind === 'number') return exponentParts(text);
  if (kind !== 'text' && kind !== 'nested' && kind !== 'blob') return undefined;
  return markedParts(text)?.map(({ text: part, isMark, isBreak = false }) =>
    createElement('span', {
      text: part,
      ...(isMark && { className: isBreak ? 'lance-mark lance-break' : 'lance-mark' }),
    }),
  );
}

/** Splits a number before its exponent, so that a narrow column never cuts the exponent. */
function exponentParts(text: string): HTMLElement[] | undefined {
  const at = text.indexOf('e');
  if (at < 0) return undefined;
  return [
    createElement('span', { className: 'lance-digits', text: text.slice(0, at) }),
    createElement('span', { text: text.slice(at) }),
  ];
}

function drawVector(element: HTMLElement, { text, values }: Extract<GridCell, { kind: 'vector' }>): void {
  const span = document.createElement('span');
  span.className = 'lance-vector';
  const { text: facts, problem } = vectorFacts(values);
  span.title = `${text}\n${[facts, ...(problem === undefined ? [] : [problem])].join(' · ')}`;
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
  span.append(createElement('span', { className: 'lance-facts', text: facts }));
  if (problem !== undefined) span.append(createElement('span', { className: 'lance-vector-problem', text: problem }));
  // The facts have the dimension.
  span.append(createElement('span', { text: text.replace(/ \d+$/, '') }));
  element.replaceChildren(span);
}

const svgNamespace = 'http://www.w3.org/2000/svg';

/** Draws an image from the bytes of a cell. Returns a function that ends the drawing. */
function drawImage(element: HTMLElement, cell: Extract<GridCell, { kind: 'image' }>, rowHeight: number): () => void {
  const canvas = document.createElement('canvas');
  canvas.className = 'lance-image lance-decoding';
  canvas.role = 'img';
  canvas.ariaLabel = cell.text;
  canvas.title = cell.text;
  // A canvas is 300 pixels wide until it is drawn.
  [canvas.width, canvas.height] = [1, 1];
  element.replaceChildren(canvas);
  return drawThumbnail(canvas, cell, thumbnailBox(rowHeight), (reason) => {
    const damaged = document.createElement('span');
    damaged.className = 'lance-binary';
    damaged.textContent = `${cell.text}, ${reason}`;
    damaged.title = damaged.textContent;
    if (canvas.isConnected) canvas.replaceWith(damaged);
  });
}
