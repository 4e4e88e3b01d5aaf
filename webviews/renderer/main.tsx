import gridCss from 'hightable/src/HighTable.css';
import { flushSync } from 'react-dom';
import { createRoot, type Root } from 'react-dom/client';
import type { ActivationFunction } from 'vscode-notebook-renderer';
import { tableFromIPC } from '#arrow';
import { countText } from '#shared/format/numbers.ts';
import { arrowStreamMime, decodeArrowOutput } from '#shared/mime.ts';
import { type GridFrame, tableFrame } from '../grid/frame.ts';
import { Grid, headerHeight, rowHeight } from '../grid/grid.tsx';
import { Boundary } from '../parts/boundary.tsx';
import { disposer } from '../parts/shownOutputs.ts';
import themeCss from '../parts/theme.css';
import outputCss from './output.css';

/** Rows of the tallest output; more of them are scrolled to. */
const maxRows = 10;
const footerHeight = 23;
const titleHeight = 26;
/** Characters of the line above the rows; it is cut to the width of the output anyway. */
const maxHeading = 500;
/** Leaves room for a horizontal scroll bar, so that it doesn't cover the last row. */
const scrollBarHeight = 14;

/** What a saved output is worth: a table, or the reason why it can't be shown. */
type Output = { frame: GridFrame; footer: string; heading: Heading | undefined } | { problem: string };

/** What stands above the rows. */
type Heading = { title: string; facts: string };

const unreadable = "Can't read the Arrow stream of this output. Run the cell again to recreate the output.";

/**
 * Reads a notebook output; never throws, since a notebook holds whatever someone saved in it. What only shows when its
 * values are drawn is told by `OutputView`.
 */
function readOutput(data: Uint8Array, metadata: unknown): Output {
  let table;
  try {
    table = tableFromIPC(decodeArrowOutput(data));
  } catch {
    return { problem: unreadable };
  }
  if (table.numCols === 0) return { problem: 'This output is a table without columns.' };
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
  // Our kernel, which says of its outputs how many rows they hold, has a way to show more.
  const more = child(told, 'included_rows') === undefined ? '' : ' · display(…, { limit }) shows more';
  if (total === null) return `The first ${countText(rows)} rows · ${shape}${more}`;
  if (total !== undefined && total > rows)
    return `Showing ${countText(rows)} of ${countText(total)} rows · ${shape}${more}`;
  return `${countText(rows)} ${rows === 1 ? 'row' : 'rows'} · ${shape}`;
}

/** What the kernel says of the rows, out of metadata that anyone may have written. */
const toldBy = (metadata: unknown): unknown =>
  child(metadata, arrowStreamMime) ?? child(child(metadata, 'metadata'), arrowStreamMime) ?? metadata;

/** Null when there are more, and nobody counted them. */
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

/** One output on the screen. */
type Mounted = { root: Root; output: Output };

/** Keys that move within the grid; a notebook would leave the cell on them. */
const gridKeys = /^(Arrow|Page|Home|End|Tab$|Enter$| $)/;

/** Draws `application/vnd.apache.arrow.stream` outputs, from a running kernel or out of a saved notebook. */
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
      // Neither may the notebook's rules for tables reach the grid, nor the grid's rules the notebook.
      const shadow = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
      shadow.adoptedStyleSheets = [styles];
      const place = document.createElement('div');
      shadow.replaceChildren(place);
      keepKeys(place);
      keepWheel(place);
      const output = readOutput(item.data(), item.metadata);
      const root = createRoot(place);
      mounted.set(item.id, { root, output });
      // At once: an output without a height loses its distance to the cell's edge.
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

/** The notebook scrolls on wheel events unless it sees something scrollable, and it doesn't see into a shadow root. */
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
