import 'hightable/src/HighTable.css';
import '../parts/theme.css';
import './panel.css';
import { countText } from '#shared/format/numbers.ts';
import type { PanelTable, PanelHostMethods, PanelViewMethods } from '#shared/protocol/webviewMessages.ts';
import { Boundary } from '../parts/boundary.tsx';
import { type GridFrame, pagedFrame } from '../grid/frame.ts';
import { Grid } from '../grid/grid.tsx';
import { createRoot } from 'react-dom/client';
import { isAbort, messageOf } from '#shared/errors.ts';
import { Endpoint } from '#shared/protocol/rpc.ts';

/** The content of a table panel: nothing yet, a table, or an error. */
type PanelState =
  | { kind: 'waiting' }
  | { kind: 'table'; table: PanelTable; frame: GridFrame }
  | { kind: 'failed'; title: string; message: string };

const undrawable =
  "Can't draw the rows: a value does not match the type of its column. Read the table in a notebook to find it.";

function Panel({ state }: { state: PanelState }) {
  switch (state.kind) {
    case 'waiting':
      // The first rows arrive at once, so a spinner would only flash.
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

/** VS Code's API in a webview. */
declare function acquireVsCodeApi(): { postMessage(message: unknown): void; setState(state: unknown): void };

const editor = acquireVsCodeApi();
const root = createRoot(document.getElementById('root') ?? document.body);
const host = new Endpoint<PanelViewMethods, PanelHostMethods>((frame) => editor.postMessage(frame), {
  show: (table) => (show(table), null),
  fail: ({ title, message }) => (draw({ kind: 'failed', title, message }), null),
});
let state = { kind: 'waiting' } as PanelState;

function draw(next: PanelState): void {
  if (state.kind === 'table') state.frame.close();
  state = next;
  root.render(<Panel state={state} />);
}

function show(table: PanelTable): void {
  // Store the state from which the extension reopens the panel after a reload.
  editor.setState({ key: table.key, title: table.title, version: table.version });
  const { key } = table;
  const frame = pagedFrame(table, (start, end, signal) => host.request('rows', { key, start, end }, signal));
  draw({ kind: 'table', table, frame });
}

addEventListener('message', (event) => void host.receive(event.data));
addEventListener('pagehide', () => host.close());

draw(state);
try {
  const table = await host.request('ready', null);
  // Ignore the response if a newer table has arrived during the request.
  if (state.kind === 'waiting') show(table);
} catch (error) {
  if (!isAbort(error)) draw({ kind: 'failed', title: "Can't open the table", message: messageOf(error) });
}
