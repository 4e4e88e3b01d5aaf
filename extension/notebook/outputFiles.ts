import * as vscode from 'vscode';
import { Endpoint, type Methods } from '#shared/protocol/rpc.ts';
import type { OutputFileMethods } from '#shared/protocol/webviewMessages.ts';
import { asRecord } from '#shared/records.ts';
import { FileDrafts } from '../host/fileDrafts.ts';
import { notebookIds } from '../manifest.ts';

type Page = { readonly endpoint: Endpoint<OutputFileMethods, Methods>; readonly files: FileDrafts };

/** Saves the values that the user saves in outputs of notebooks. A closed notebook gives up its files. */
export function registerOutputFiles(
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
  return vscode.Disposable.from(
    messaging.onDidReceiveMessage(({ editor, message }) => {
      const page = pages.get(editor) ?? openPage((frame) => void messaging.postMessage(frame, editor));
      pages.set(editor, page);
      void page.endpoint.receive(message);
    }),
    vscode.workspace.onDidCloseNotebookDocument((closed) => remove(({ notebook }) => notebook === closed)),
    { dispose: () => remove(() => true) },
  );
}

function openPage(post: (frame: unknown) => void): Page {
  const files = new FileDrafts();
  const endpoint = new Endpoint<OutputFileMethods, Methods>(post, {
    createFile: (params, signal) => files.create(params, signal),
    writeFile: (params) => {
      const { id, data } = asRecord(params);
      return files.write({ id, bytes: typeof data === 'string' ? new Uint8Array(Buffer.from(data, 'base64')) : data });
    },
    closeFile: (params) => files.close(params),
  });
  return { endpoint, files };
}
