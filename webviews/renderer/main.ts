import type { ActivationFunction, OutputItem, RendererContext } from 'vscode-notebook-renderer';
import { IpcError } from '#shared/arrow/ipcError.ts';
import { readArrow } from '#shared/arrow/readArrow.ts';
import { bytesText, countText } from '#shared/format/numbers.ts';
import { arrowStreamMime, decodeArrowOutput, decodeBase64, previewLimits } from '#shared/mime.ts';
import { isPictureReply, type PicturePlace, type PictureRequest } from '#shared/protocol/pictureMessages.ts';
import { timeZoneChoices } from '#shared/format/times.ts';
import { Endpoint } from '#shared/protocol/rpc.ts';
import type { OutputHostMethods, OutputViewMethods } from '#shared/protocol/webviewMessages.ts';
import type { OmittedCell } from '../grid/block.ts';
import { type GridFrame, tableFrame } from '../grid/frame.ts';
import { Grid } from '../grid/grid.ts';
import { rowHeights } from '../grid/rowHeights.ts';
import { headerHeight } from '../grid/viewport.ts';
import { type SaveFile, saveThrough } from '../grid/saveFile.ts';
import type { GridState } from '../grid/gridOptions.ts';
import { setTimeZone, shownTimeZone } from '../grid/timeZone.ts';
import gridCss from '../grid/grid.css';
import { createElement } from '../parts/elements.ts';
import { disposer } from '../parts/outputLifecycle.ts';
import outputCss from './output.css';

/** Maximum number of rows that an output shows without scrolling. */
const maxRows = 10;
const footerHeight = 23;
const titleHeight = 26;
/** Maximum length of the heading, which is also cut to the width of the output. */
const maxHeading = 500;
/** Maximum length of a MIME type, which is shown instead of an image. */
const maxMime = 40;
/** Space for a horizontal scroll bar, so that it doesn't cover the last row. */
const scrollBarHeight = 14;

/** A saved output: a table, or the reason why it can't be shown. */
type Output = { frame: GridFrame; footer: string; heading: Heading | undefined } | { problem: string };

/** The line above the rows. */
type Heading = { title: string; facts: string };

const problem = "Can't read the Arrow stream of this output.";
const runAgain = 'Run the cell again to recreate the output.';
const unreadable = `${problem} ${runAgain}`;

function problemText(error: unknown): string {
  if (!(error instanceof IpcError) || error.problem === 'malformed') return unreadable;
  return `${problem} ${error.message} ${error.hint ?? runAgain}`;
}

const withoutColumns = 'This output is a table without columns.';

/**
 * Parses a notebook output. Never throws, since a notebook may contain anything.
 * Errors that appear only when values are drawn are caught in `draw`.
 */
function readOutput(data: Uint8Array, metadata: unknown, loadPicture: LoadPicture, hasPanel: boolean): Output {
  let table;
  try {
    const bytes = decodeArrowOutput(data);
    if (bytes.length === 0) return { problem: withoutColumns };
    table = readArrow(bytes);
  } catch (error) {
    return { problem: problemText(error) };
  }
  if (table.numCols === 0) return { problem: withoutColumns };
  const told = toldBy(metadata);
  const footer = footerText(table.numRows, table.numCols, told, hasPanel);
  const names = table.schema.fields.map(({ name }) => name);
  return { frame: tableFrame(table, omittedCells(told, names, loadPicture)), footer, heading: headingOf(told) };
}

type Drawn = { readonly element: HTMLElement; readonly grid?: Grid };

type DrawOptions = {
  readonly save: SaveFile | undefined;
  /** Opens the table in a panel, with all its rows. */
  readonly openPanel: (() => void) | undefined;
  readonly state: GridState | undefined;
};

/** Returns the element of an output, and its grid if it has one. */
function draw(output: Output, { save, openPanel, state }: DrawOptions): Drawn {
  if ('problem' in output) return { element: problemElement(output.problem) };
  const { frame, heading, footer } = output;
  const rows = Math.min(maxRows, Math.max(1, frame.numRows));
  const element = createElement('div', { className: 'lance-output' });
  const height = (heading ? titleHeight : 0) + headerHeight + rows * rowHeights.small + scrollBarHeight + footerHeight;
  element.style.height = `${height}px`;
  if (heading) element.append(headingElement(heading));
  try {
    const onFailure = (): void => element.replaceWith(problemElement(unreadable));
    const grid = new Grid({
      frame,
      label: heading?.title || 'Table',
      focus: false,
      footer: { texts: [footer], button: openPanel && { label: 'Open in Panel', run: openPanel } },
      cellMenu: openPanel && [{ label: 'Open in Panel', startsGroup: true, run: openPanel }],
      save,
      state,
      onFailure,
    });
    element.append(grid.element);
    return { element, grid };
  } catch {
    // A readable Arrow stream may contain invalid columns, which are noticed only when values are formatted.
    return { element: problemElement(unreadable) };
  }
}

function headingElement({ title, facts }: Heading): HTMLElement {
  const line = createElement('p', { className: 'lance-title' });
  line.append(createElement('strong', { text: title }), ` ${facts}`);
  return line;
}

const problemElement = (text: string): HTMLElement => createElement('p', { className: 'lance-unreadable', text });

function footerText(rows: number, columns: number, told: unknown, hasPanel: boolean): string {
  const total = totalRows(told);
  const shape = `${countText(columns)} ${columns === 1 ? 'column' : 'columns'}`;
  const notes = [
    shape,
    ...cutNotes(rows, told, hasPanel),
    ...(isMarked(told, 'thumbnails') ? [thumbnailNote] : []),
  ].join(' · ');
  if (total === null) return `The first ${countText(rows)} rows · ${notes}`;
  if (total !== undefined && total > rows) return `Showing ${countText(rows)} of ${countText(total)} rows · ${notes}`;
  return `${countText(rows)} ${rows === 1 ? 'row' : 'rows'} · ${notes}`;
}

const thumbnailNote = 'Click a thumbnail to see the whole image';

/** Whether the cells of a column are marked as `thumbnails` or `late` in the metadata. */
function isMarked(told: unknown, mark: 'thumbnails' | 'late'): boolean {
  const all = child(told, 'omitted_cells');
  return typeof all === 'object' && all !== null && Object.values(all).some((one) => child(one, mark) === true);
}

/** A limit as the documentation states it, in powers of two. */
const limitText = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} KB` : `${Math.round(bytes / 1024 / 1024)} MB`;

/** Returns why an output has fewer rows or cells than the result, and what helps if there is no panel with all of them. */
function cutNotes(rows: number, told: unknown, hasPanel: boolean): string[] {
  const total = totalRows(told);
  const hasMoreRows = total === null || (total !== undefined && total > rows);
  const most = child(told, 'max_bytes');
  if (typeof most !== 'number' || !(most > 0)) {
    // Suggest the option of `display` only for our kernel, because other kernels lack it. Only our kernel sets
    // `included_rows`.
    const isOurs = child(told, 'included_rows') !== undefined;
    return hasMoreRows && isOurs && !hasPanel ? ['For more rows, use display(…, { limit })'] : [];
  }
  const { rows: defaultRows, requestedBytes } = previewLimits;
  if (!hasMoreRows && isMarked(told, 'late')) return ['Making the other thumbnails takes too long. Show fewer rows'];
  const left = hasMoreRows ? '' : 'Large values are left out. ';
  const step =
    most < requestedBytes
      ? `For up to ${limitText(requestedBytes)}, use display(…, { limit: ${Math.min(total ?? defaultRows, defaultRows)} })`
      : 'Select fewer columns, or open the table';
  return [`${left}A cell output holds ${limitText(most)}${hasPanel ? '' : `. ${step}`}`];
}

const omittedReason = 'This value is not in the output, because the output would be too large.';

/** Returns a function that describes the cells that the kernel has left out of the output. */
function omittedCells(told: unknown, columns: readonly string[], load: LoadPicture): OmittedCell | undefined {
  const all = child(told, 'omitted_cells');
  if (all === undefined) return undefined;
  const output = child(told, 'pictures');
  return (row, column) => {
    const name = columns[column] ?? '';
    const own = child(all, name);
    const [from, sizes, mime] = [child(own, 'from'), child(own, 'sizes'), child(own, 'mime')];
    const size: unknown = typeof from === 'number' && Array.isArray(sizes) ? sizes[row - from] : undefined;
    if (typeof size !== 'number' || !(size > 0)) return undefined;
    const kind = typeof mime === 'string' ? mime.slice(0, maxMime) : 'binary';
    return {
      text: `${kind}, ${bytesText(size)}`,
      reason: omittedReason,
      ...(child(own, 'thumbnails') === true && {
        load: () => (typeof output === 'string' ? load({ output, column: name, row }) : Promise.resolve(undefined)),
      }),
    };
  };
}

/** Returns a whole image from the kernel; undefined if the kernel has ended or no longer has the image. */
type LoadPicture = (place: PicturePlace) => Promise<Uint8Array | undefined>;

/** Requests images from the editor. An exported notebook has no editor, and so no whole images. */
function pictureLoader(context: RendererContext<unknown>): LoadPicture {
  const waiting = new Map<number, (data: string | null) => void>();
  let last = 0;
  context.onDidReceiveMessage?.((reply: unknown) => {
    if (!isPictureReply(reply)) return;
    waiting.get(reply.request)?.(reply.data);
    waiting.delete(reply.request);
  });
  return async (place) => {
    if (!context.postMessage) return undefined;
    const message: PictureRequest = { kind: 'picture', request: ++last, place };
    const replied = new Promise<string | null>((resolve) => waiting.set(message.request, resolve));
    context.postMessage(message);
    const data = await replied;
    return data === null ? undefined : decodeBase64(data);
  };
}

type Editor = Endpoint<OutputViewMethods, OutputHostMethods>;

/** Returns the editor to send requests to; `undefined` in an exported notebook and in Jupyter, which have none. */
function editorOf(context: RendererContext<unknown>, showTimeZone: (choice: unknown) => void): Editor | undefined {
  if (!context.postMessage) return undefined;
  const editor: Editor = new Endpoint<OutputViewMethods, OutputHostMethods>((frame) => context.postMessage?.(frame), {
    showTimeZone: (choice) => (showTimeZone(choice), null),
  });
  context.onDidReceiveMessage?.((frame: unknown) => void editor.receive(frame));
  // Without an answer, values keep the zone of their column.
  editor.request('timeZone', null).then(showTimeZone, () => undefined);
  return editor;
}

/** Returns how values are saved through the editor. */
const fileSaver = (editor: Editor): SaveFile =>
  saveThrough({
    create: (name, signal) => editor.request('createFile', { name }, signal),
    write: (id, bytes, signal) => editor.request('writeFile', { id, data: encodeBase64(bytes) }, signal),
    close: (id, isComplete) => editor.request('closeFile', { id, isComplete }),
  });

/** Bytes whose characters are passed as arguments of one call. */
const callBytes = 0x2000;

function encodeBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += callBytes)
    binary += String.fromCharCode(...bytes.subarray(at, at + callBytes));
  return btoa(binary);
}

/** Returns the kernel's metadata. Another program may have written it, so nothing in it is trusted. */
const toldBy = (metadata: unknown): unknown =>
  child(metadata, arrowStreamMime) ?? child(child(metadata, 'metadata'), arrowStreamMime) ?? metadata;

/** Returns the total number of rows; null if the output is cut and the total is unknown. */
function totalRows(told: unknown): number | null | undefined {
  const total = child(told, 'total_rows');
  if (total === null) return null;
  return typeof total === 'number' && Number.isSafeInteger(total) && total >= 0 ? total : undefined;
}

function headingOf(told: unknown): Heading | undefined {
  const [title, facts] = ['title', 'facts'].map((key) => {
    const text = child(told, key);
    return typeof text === 'string' ? text.slice(0, maxHeading) : '';
  });
  return title || facts ? { title: title ?? '', facts: facts ?? '' } : undefined;
}

const child = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;

/** Keys that move within the grid. In a notebook, they would leave the cell. */
const gridKeys = /^(Arrow|Page|Home|End|Tab$|Enter$|ContextMenu$| $)/;

/** An output on the page. What the user has done with its grid survives another drawing. */
type Mounted = { readonly item: OutputItem; readonly place: HTMLElement; drawn?: Drawn };

/** Renders `application/vnd.apache.arrow.stream` outputs, of a running kernel or a saved notebook. */
export const activate: ActivationFunction = (context) => {
  const loadPicture = pictureLoader(context);
  const mounted = new Map<string, Mounted>();
  let styles: CSSStyleSheet | undefined;

  const showTimeZone = (choice: unknown): void => {
    const zone = timeZoneChoices.find((one) => one === choice) ?? 'column';
    if (zone === shownTimeZone()) return;
    setTimeZone(zone);
    for (const output of mounted.values()) mount(output);
  };
  const editor = editorOf(context, showTimeZone);
  const save = editor && fileSaver(editor);

  /** Opens the table by the id that the kernel gave it; other kernels give none. */
  const openPanel = ({ item }: Pick<Mounted, 'item'>): void => {
    const table = child(item.metadata, 'table');
    const request = typeof table === 'string' ? { table, data: null } : { table: null, data: item.text() };
    // The editor shows a failure itself.
    editor?.request('openTable', request).catch(() => undefined);
  };

  /** Draws an output, again if values are shown in another way now. */
  const mount = (output: Mounted): void => {
    const { item, place, drawn } = output;
    const state = drawn?.grid?.state;
    drawn?.grid?.close();
    output.drawn = draw(readOutput(item.data(), item.metadata, loadPicture, editor !== undefined), {
      save,
      openPanel: editor && (() => openPanel(output)),
      state,
    });
    place.replaceChildren(output.drawn.element);
  };

  const dispose = (id: string): void => {
    const output = mounted.get(id);
    mounted.delete(id);
    output?.drawn?.grid?.close();
    output?.place.replaceChildren();
  };

  return {
    renderOutputItem(item, element) {
      dispose(item.id);
      styles ??= styleSheet();
      // A shadow root separates the grid's styles from the notebook's table styles, in both directions.
      const shadow = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
      shadow.adoptedStyleSheets = [styles];
      const place = document.createElement('div');
      keepKeys(place);
      keepWheel(place);
      const output: Mounted = { item, place };
      mounted.set(item.id, output);
      mount(output);
      shadow.replaceChildren(place);
    },
    disposeOutputItem: disposer(mounted, dispose),
  };
};

function styleSheet(): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`${gridCss}\n${outputCss}`);
  return sheet;
}

function keepKeys(place: HTMLElement): void {
  place.addEventListener('keydown', (event) => {
    if (gridKeys.test(event.key)) event.stopPropagation();
  });
}

/**
 * Keeps wheel events that scroll the grid from the notebook, which can't detect scrollable elements in a shadow root.
 */
function keepWheel(place: HTMLElement): void {
  place.addEventListener(
    'wheel',
    (event) => {
      const scroller = event
        .composedPath()
        .find((node) => node instanceof HTMLElement && node.scrollHeight > node.clientHeight + 1 && canScroll(node));
      if (!(scroller instanceof HTMLElement)) return;
      const atEnd =
        event.deltaY < 0
          ? scroller.scrollTop <= 0
          : scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - 1;
      if (!atEnd) event.stopPropagation();
    },
    { passive: true },
  );
}

const canScroll = (node: HTMLElement): boolean => /auto|scroll/.test(getComputedStyle(node).overflowY);
