import * as vscode from 'vscode';
import { type Frame, Endpoint } from '#shared/protocol/rpc.ts';
import type {
  PanelFailure,
  PanelGrowth,
  PanelHostMethods,
  PanelTable,
  PanelViewMethods,
} from '#shared/protocol/webviewMessages.ts';

/** A page of a panel, and what the extension has told it. */
export class PageStandIn {
  readonly host: Endpoint<PanelViewMethods, PanelHostMethods>;
  readonly shown: PanelTable[] = [];
  readonly failures: PanelFailure[] = [];
  readonly grown: PanelGrowth[] = [];
  readonly newer: { key: string; newest: number }[] = [];

  constructor(post: (frame: Frame) => void) {
    this.host = new Endpoint<PanelViewMethods, PanelHostMethods>(post, {
      show: (table) => (this.shown.push(table), null),
      fail: (failure) => (this.failures.push(failure), null),
      grow: (growth) => (this.grown.push(growth), null),
      newest: (one) => (this.newer.push(one), null),
      finding: () => null,
      savedView: () => null,
      applyView: () => true,
      showChanges: () => null,
      review: () => null,
      goToRow: () => null,
      selection: () => null,
    });
  }
}

/**
 * Stands in for a webview panel, because the order of the messages of a real page depends on the speed of the machine.
 * As in VS Code, a hidden panel has no page, and loads another one when it is shown again.
 */
export class PanelStandIn {
  readonly #received = new vscode.EventEmitter<unknown>();
  readonly #changed = new vscode.EventEmitter<unknown>();
  readonly #disposed = new vscode.EventEmitter<void>();
  #page: PageStandIn | undefined;

  readonly webview = {
    options: {},
    html: '',
    cspSource: 'self',
    asWebviewUri: (uri: vscode.Uri): vscode.Uri => uri,
    onDidReceiveMessage: this.#received.event,
    postMessage: async (frame: unknown): Promise<boolean> => {
      await this.#page?.host.receive(frame);
      return true;
    },
  };
  readonly onDidChangeViewState = this.#changed.event;
  readonly onDidDispose = this.#disposed.event;
  title = '';
  visible = true;

  /** What the extension takes for a panel of VS Code. */
  get panel(): vscode.WebviewPanel {
    return this as unknown as vscode.WebviewPanel;
  }

  /** Loads a page, in the place of the one before. */
  load(): PageStandIn {
    this.visible = true;
    const page: PageStandIn = new PageStandIn((frame) => {
      if (this.#page === page) this.#received.fire(frame);
    });
    this.#page = page;
    return page;
  }

  hide(): void {
    this.visible = false;
    this.#page = undefined;
    this.#changed.fire(undefined);
  }

  dispose(): void {
    this.#disposed.fire();
  }
}
