import gridCss from 'hightable/src/HighTable.css';
import { flushSync } from 'react-dom';
import { createRoot, type Root } from 'react-dom/client';
import type { ActivationFunction } from 'vscode-notebook-renderer';
import { IpcError } from '#shared/arrow/ipcError.ts';
import { readArrow } from '#shared/arrow/readArrow.ts';
import { countText } from '#shared/format/numbers.ts';
import { arrowStreamMime, decodeArrowOutput } from '#shared/mime.ts';
import { type GridFrame, tableFrame } from '../grid/frame.ts';
import { Grid, headerHeight, rowHeight } from '../grid/grid.tsx';
import { Boundary } from '../parts/boundary.tsx';
import { disposer } from '../parts/outputLifecycle.ts';
import themeCss from '../parts/theme.css';
import outputCss from './output.css';

/** Maximum number of rows that an output shows without scrolling. */
const maxRows = 10;
const footerHeight = 23;
const titleHeight = 26;
/** Maximum length of the heading, which is also cut to the width of the output. */
const maxHeading = 500;
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
 * Errors that appear only when values are drawn are caught in `OutputView`.
 */
function readOutput(data: Uint8Array, metadata: unknown): Output {
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
  const footer = footerText(table.numRows, table.numCols, told);
  return { frame: tableFrame(table), footer, heading: headingOf(told) };
}

function OutputView({ output }: { output: Output }) {
  if ('problem' in output) return <Problem text={output.problem} />;
  const rows = Math.min(maxRows, Math.max(1, output.frame.data.numRows));
  const { heading } = output;
  const height = (heading ? titleHeight : 0) + headerHeight + rows * rowHeight + scrollBarHeight + footerHeight;
  return (
    <Boundary fallback={<Problem text={unreadable} />}>
      <div className="lance-output" style={{ height }}>
        {heading && (
          <p className="lance-title">
            <strong>{heading.title}</strong> {heading.facts}
          </p>
        )}
        <Grid frame={output.frame} focus={false} footer={<span>{output.footer}</span>} />
      </div>
    </Boundary>
  );
}

const Problem = ({ text }: { text: string }) => <p className="lance-unreadable">{text}</p>;

function footerText(rows: number, columns: number, told: unknown): string {
  const shape = `${countText(columns)} ${columns === 1 ? 'column' : 'columns'}`;
  const total = totalRows(told);
  // Suggest the option of `display` only for our kernel, because other kernels lack it. Only our kernel sets
  // `included_rows`.
  const more = child(told, 'included_rows') === undefined ? '' : ' · display(…, { limit }) shows more';
  if (total === null) return `The first ${countText(rows)} rows · ${shape}${more}`;
  if (total !== undefined && total > rows)
    return `Showing ${countText(rows)} of ${countText(total)} rows · ${shape}${more}`;
  return `${countText(rows)} ${rows === 1 ? 'row' : 'rows'} · ${shape}`;
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

type Mounted = { root: Root; output: Output };

/** Keys that move within the grid. In a notebook, they would leave the cell. */
const gridKeys = /^(Arrow|Page|Home|End|Tab$|Enter$| $)/;

/** Renders `application/vnd.apache.arrow.stream` outputs, of a running kernel or a saved notebook. */
export const activate: ActivationFunction = () => {
  const mounted = new Map<string, Mounted>();
  let styles: CSSStyleSheet | undefined;

  const dispose = (id: string): void => {
    const output = mounted.get(id);
    mounted.delete(id);
    output?.root.unmount();
    if (output && 'frame' in output.output) output.output.frame.close();
  };

  return {
    renderOutputItem(item, element) {
      dispose(item.id);
      styles ??= styleSheet();
      // A shadow root separates the grid's styles from the notebook's table styles, in both directions.
      const shadow = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
      shadow.adoptedStyleSheets = [styles];
      const place = document.createElement('div');
      shadow.replaceChildren(place);
      keepKeys(place);
      keepWheel(place);
      const output = readOutput(item.data(), item.metadata);
      const root = createRoot(place);
      mounted.set(item.id, { root, output });
      // Render synchronously: an output without height loses its distance to the cell's edge.
      flushSync(() => root.render(<OutputView output={output} />));
    },
    disposeOutputItem: disposer(mounted, dispose),
  };
};

function styleSheet(): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`${gridCss}\n${themeCss}\n${outputCss}`);
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
