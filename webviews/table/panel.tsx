import { countText } from '#shared/formatNumber.ts';
import type { PanelTable } from '#shared/messages.ts';
import type { GridFrame } from '../parts/frame.ts';
import { Grid } from '../parts/grid.tsx';

/** What a table panel shows: nothing yet, a table, or why there is none. */
export type PanelState =
  | { kind: 'waiting' }
  | { kind: 'table'; table: PanelTable; frame: GridFrame }
  | { kind: 'failed'; title: string; message: string };

export function Panel({ state }: { state: PanelState }) {
  switch (state.kind) {
    case 'waiting':
      // The first rows come within a blink: a spinner would only flash.
      return <div aria-busy="true" />;
    case 'failed':
      return (
        <div className="lance-message" role="alert">
          <h1>{state.title}</h1>
          <p>{state.message}</p>
        </div>
      );
    case 'table':
      return <Grid key={state.table.key} frame={state.frame} focus footer={<Footer table={state.table} />} />;
  }
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
