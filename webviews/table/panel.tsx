import { countText } from '#shared/formatNumber.ts';
import type { PanelTable } from '#shared/messages.ts';
import { Boundary } from '../parts/boundary.tsx';
import type { GridFrame } from '../parts/frame.ts';
import { Grid } from '../parts/grid.tsx';

/** What a table panel shows: nothing yet, a table, or why there is none. */
export type PanelState =
  | { kind: 'waiting' }
  | { kind: 'table'; table: PanelTable; frame: GridFrame }
  | { kind: 'failed'; title: string; message: string };

const undrawable =
  'Its rows can not be drawn: a value does not fit the type of its column. Read the table in a notebook to find it.';

export function Panel({ state }: { state: PanelState }) {
  switch (state.kind) {
    case 'waiting':
      // The first rows come within a blink: a spinner would only flash.
      return <div aria-busy="true" />;
    case 'failed':
      return <Failure title={state.title} message={state.message} />;
    case 'table':
      return (
        <Boundary key={state.table.key} fallback={<Failure title={state.table.title} message={undrawable} />}>
          <Grid frame={state.frame} focus footer={<Footer table={state.table} />} />
        </Boundary>
      );
  }
}

function Failure({ title, message }: { title: string; message: string }) {
  return (
    <div className="lance-message" role="alert">
      <h1>{title}</h1>
      <p>{message}</p>
    </div>
  );
}

/** `1,000,000 rows · 7 columns · version 3` */
function Footer({ table }: { table: PanelTable }) {
  const { numRows, columns, version, note } = table;
  const parts = [
    `${countText(numRows)} ${numRows === 1 ? 'row' : 'rows'}`,
    `${countText(columns.length)} ${columns.length === 1 ? 'column' : 'columns'}`,
    ...(version === null ? [] : [`version ${version}`]),
  ];
  return (
    <>
      <span>{parts.join(' · ')}</span>
      {note !== undefined && <span>{note}</span>}
    </>
  );
}
