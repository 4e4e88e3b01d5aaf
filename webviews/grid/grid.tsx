import {
  type ClipboardEvent,
  type ComponentProps,
  type ReactNode,
  useCallback,
  useEffect,
  useMemo,
  useState,
} from 'react';
import { type ColumnConfiguration, HighTable } from 'hightable';
import { openCell, renderCell } from './cells.tsx';
import type { GridCell, GridColumn, GridFrame } from './frame.ts';

/** Heights of a row and of the header in pixels, as in the grid component. */
export const rowHeight = 33;
export const headerHeight = 42;

/** The columns hidden with the header's menu, by key. */
type Visibility = NonNullable<ComponentProps<typeof HighTable>['columnsVisibility']>;

type GridProps = {
  readonly frame: GridFrame;
  /** Moves the keyboard focus to the grid when it appears. */
  readonly focus: boolean;
  /** Shown below the grid. */
  readonly footer: ReactNode;
};

/** The grid of the panel and of notebook outputs: header with types, rows, footer. */
export function Grid({ frame, focus, footer }: GridProps) {
  const configuration = useMemo(
    (): ColumnConfiguration =>
      Object.fromEntries(frame.columns.map((column) => [column.key, columnConfig(column, frame.data.numRows)])),
    [frame],
  );
  const problem = useProblem(frame);
  // Row 1 is the header and column 1 has the row numbers, so the first value is at row 2 and column 2.
  const [position, setPosition] = useState({ colIndex: 2, rowIndex: frame.data.numRows > 0 ? 2 : 1 });
  const [visibility, setVisibility] = useState<Visibility>({});
  const copy = useCallback((event: ClipboardEvent) => copyCell(event, frame, visibility), [frame, visibility]);
  return (
    <div className="lance-grid" onCopyCapture={copy}>
      <HighTable
        data={frame.data}
        columnConfiguration={configuration}
        cellPosition={position}
        onCellPositionChange={setPosition}
        columnsVisibility={visibility}
        onColumnsVisibilityChange={setVisibility}
        focus={focus}
        padding={3}
        overscan={0}
        renderCellContent={renderCell}
        onKeyDownCell={openCell}
        stringify={stringify}
      />
      {frame.data.numRows === 0 && <div className="lance-empty">No rows</div>}
      <div className="lance-footer" role="status">
        {problem ? (
          <span className="lance-problem">
            <span title={problem.message}>
              Can't read rows {problem.rows}: {problem.message}
            </span>
            <button type="button" onClick={() => frame.retry()}>
              Try Again
            </button>
          </span>
        ) : (
          footer
        )}
      </div>
    </div>
  );
}

const stringify = (value: unknown): string | undefined => (value as GridCell | undefined)?.text;

const columnConfig = (column: GridColumn, numRows: number) => ({
  className: column.numeric ? 'lance-right' : '',
  minWidth: minWidth(column.type, numRows),
  headerComponent: (
    <div className="lance-header" title={`${column.name}: ${column.type}${column.nullable ? '' : ', not null'}`}>
      <span className="lance-name">{column.name}</span>
      <span className="lance-type">{column.type}</span>
    </div>
  ),
});

const leastWidth = 72;
const digitWidth = 8.5;
const cellPadding = 24;

/**
 * Returns the minimum width of a column in pixels. The component sizes columns by the first rows and shrinks them to
 * fit the window, but a truncated timestamp or number would be misleading. Integers often count the rows, so the
 * integer of the last row must fit, too.
 */
function minWidth(type: string, numRows: number): number {
  if (/^u?int(32|64)$/.test(type)) return Math.max(leastWidth, String(numRows).length * digitWidth + cellPadding);
  const unit = /^timestamp\[(s|ms|us|ns)/.exec(type)?.[1];
  return unit === undefined ? leastWidth : { s: 180, ms: 210, us: 240, ns: 262 }[unit as 's' | 'ms' | 'us' | 'ns'];
}

function useProblem(frame: GridFrame): ReturnType<GridFrame['problem']> {
  const [problem, setProblem] = useState(frame.problem());
  useEffect(() => {
    const look = () =>
      setProblem((before) => {
        const now = frame.problem();
        return before?.rows === now?.rows && before?.message === now?.message ? before : now;
      });
    look();
    const events = frame.data.eventTarget;
    events?.addEventListener('resolve', look);
    return () => events?.removeEventListener('resolve', look);
  }, [frame]);
  return problem;
}

/**
 * Copies the whole value of a cell, even if the cell shows a shortened value. The component's own copy function is not
 * used, because it would request clipboard permission.
 */
function copyCell(event: ClipboardEvent, frame: GridFrame, visibility: Visibility): void {
  const cell = (event.target as Element).closest('td[data-rownumber]');
  if (!cell || !document.getSelection()?.isCollapsed) return;
  const shown = frame.columns.flatMap(({ key }, column) => (visibility[key]?.hidden ? [] : [column]));
  // Subtract 2, because column numbers start at 1 and column 1 has the row numbers. Hidden columns have no number.
  const column = shown[Number(cell.getAttribute('aria-colindex')) - 2];
  if (column === undefined) return;
  const text = frame.exactText(Number(cell.getAttribute('data-rownumber')), column);
  if (text === undefined) return;
  event.clipboardData.setData('text/plain', text);
  event.preventDefault();
  event.stopPropagation();
}
