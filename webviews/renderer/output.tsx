import { tableFromIPC } from '#arrow';
import { countText } from '#shared/formatNumber.ts';
import { arrowStreamMime, decodeArrowOutput } from '#shared/mime.ts';
import { Boundary } from '../parts/boundary.tsx';
import { tableFrame } from '../parts/frame.ts';
import type { GridFrame } from '../parts/frame.ts';
import { Grid, headerHeight, rowHeight } from '../parts/grid.tsx';

/** Rows of the tallest output; more of them are scrolled to. */
const maxRows = 10;
const footerHeight = 23;
const titleHeight = 26;
/** Characters of the line above the rows; it is cut to the width of the output anyway. */
const maxHeading = 500;
/** Leaves room for a horizontal scroll bar, so that it doesn't cover the last row. */
const scrollBarHeight = 14;

/** What a saved output is worth: a table, or the reason why it can't be shown. */
export type Output = { frame: GridFrame; footer: string; heading: Heading | undefined } | { problem: string };

/** What stands above the rows. */
type Heading = { title: string; facts: string };

const unreadable = 'This output is no readable Arrow stream. Run the cell again to make it anew.';

/**
 * Reads a notebook output; never throws, since a notebook holds whatever someone saved in it. What only shows when its
 * values are drawn is told by `OutputView`.
 */
export function readOutput(data: Uint8Array, metadata: unknown): Output {
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

export function OutputView({ output }: { output: Output }) {
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
