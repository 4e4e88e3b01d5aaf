import * as vscode from 'vscode';
import { timeZoneChoices } from '#shared/format/times.ts';
import { Endpoint } from '#shared/protocol/rpc.ts';
import type { OutputHostMethods, OutputViewMethods } from '#shared/protocol/webviewMessages.ts';
import { asRecord } from '#shared/records.ts';
import { FileDrafts } from '../host/fileDrafts.ts';
import { onDidChangeSetting, setting } from '../host/settings.ts';
import { notebookIds } from '../manifest.ts';

type Page = { readonly endpoint: Endpoint<OutputHostMethods, OutputViewMethods>; readonly files: FileDrafts };

type OutputRequestDeps = {
  /** Opens the table of an output in a panel. `params` are not checked yet. */
  openTable: (notebook: vscode.NotebookDocument, params: unknown) => Promise<void>;
};

/**
 * Answers what outputs of notebooks request: to save values, to open their table in a panel, and the time zone of values.
 * A closed notebook gives up its files.
 */
export function registerOutputRequests(
  { openTable }: OutputRequestDeps,
  messaging = vscode.notebooks.createRendererMessaging(notebookIds.renderer),
): vscode.Disposable {
  const pages = new Map<vscode.NotebookEditor, Page>();
  const remove = (isRemoved: (editor: vscode.NotebookEditor) => boolean): void => {
    for (const [editor, { endpoint, files }] of pages) {
      if (!isRemoved(editor)) continue;
      pages.delete(editor);
      endpoint.close();
      files.dispose();
    }
  };
  const openPage = (editor: vscode.NotebookEditor): Page => {
    const files = new FileDrafts();
    const endpoint = new Endpoint<OutputHostMethods, OutputViewMethods>(
      (frame) => void messaging.postMessage(frame, editor),
      {
        createFile: (params, signal) => files.create(params, signal),
        writeFile: (params) => {
          const { id, data } = asRecord(params);
          const bytes = typeof data === 'string' ? new Uint8Array(Buffer.from(data, 'base64')) : data;
          return files.write({ id, bytes });
        },
        closeFile: (params) => files.close(params),
        openTable: async (params) => (await openTable(editor.notebook, params), null),
        timeZone: () => timeZone(),
      },
    );
    return { endpoint, files };
  };
  return vscode.Disposable.from(
    messaging.onDidReceiveMessage(({ editor, message }) => {
      const page = pages.get(editor) ?? openPage(editor);
      pages.set(editor, page);
      void page.endpoint.receive(message);
    }),
    onDidChangeSetting('lanceCatalog.timeZone', () => {
      // An editor whose outputs are not on screen answers when it is shown again.
      for (const { endpoint } of pages.values()) endpoint.request('showTimeZone', timeZone()).catch(() => undefined);
    }),
    vscode.workspace.onDidCloseNotebookDocument((closed) => remove(({ notebook }) => notebook === closed)),
    { dispose: () => remove(() => true) },
  );
}

const timeZone = (): (typeof timeZoneChoices)[number] =>
  timeZoneChoices.find((one) => one === setting('lanceCatalog.timeZone')) ?? 'column';
