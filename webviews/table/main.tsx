import { createRoot } from 'react-dom/client';
import 'hightable/src/HighTable.css';
import { isAbort, messageOf } from '#shared/errors.ts';
import type { PanelHostMethods, PanelTable, PanelViewMethods } from '#shared/messages.ts';
import { Endpoint } from '#shared/rpc.ts';
import { pagedFrame } from '../parts/frame.ts';
import '../parts/theme.css';
import './panel.css';
import { Panel } from './panel.tsx';
import type { PanelState } from './panel.tsx';

/** What VS Code gives a webview to talk with. */
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
  // What a reloaded window gives back to the extension to open the panel again.
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
  // Another table may have been shown meanwhile, and that one is newer.
  if (state.kind === 'waiting') show(table);
} catch (error) {
  if (!isAbort(error)) draw({ kind: 'failed', title: 'The table could not be opened', message: messageOf(error) });
}
