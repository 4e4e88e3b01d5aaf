import type * as vscode from 'vscode';
import { isAbort } from '#shared/errors.ts';
import { Endpoint, type Handlers, isFrame } from '#shared/protocol/rpc.ts';
import type { PanelHostMethods, PanelViewMethods } from '#shared/protocol/webviewMessages.ts';

/**
 * The page in the webview of a panel. A hidden panel loses its page, and loads another one when it is shown again, so a
 * panel has many pages one after another. Requests end with their page, in both directions.
 */
export class PanelPage implements vscode.Disposable {
  readonly #webview: vscode.Webview;
  readonly #handlers: Handlers<PanelHostMethods>;
  readonly #subscriptions: readonly vscode.Disposable[];
  #endpoint: Endpoint<PanelHostMethods, PanelViewMethods>;
  /** Aborts when the page is lost, because it never answers a request from before. */
  #life = new AbortController();
  #isListening = false;
  #isDisposed = false;

  constructor(panel: vscode.WebviewPanel, handlers: Handlers<PanelHostMethods>) {
    this.#webview = panel.webview;
    this.#handlers = handlers;
    this.#endpoint = this.#connect();
    this.#subscriptions = [
      panel.webview.onDidReceiveMessage((frame: unknown) => this.#receive(frame)),
      panel.onDidChangeViewState(() => {
        if (!panel.visible) this.#lose();
      }),
    ];
  }

  /** Whether there is a page that has asked for its table. Before this request, it can't receive another table. */
  get isListening(): boolean {
    return this.#isListening;
  }

  /** Aborts when the page that is loaded now is lost. */
  get signal(): AbortSignal {
    return this.#life.signal;
  }

  /** Sends a request. @throws AbortError if the page is lost before it responds, or if the signal aborts */
  request<M extends keyof PanelViewMethods>(
    method: M,
    params: PanelViewMethods[M][0],
    signal: AbortSignal = this.signal,
  ): Promise<PanelViewMethods[M][1]> {
    return this.#endpoint.request(method, params, AbortSignal.any([this.signal, signal]));
  }

  /** Sends a request if there is a page. @returns undefined if there is none, or as `request` throws AbortError */
  async tell<M extends keyof PanelViewMethods>(
    method: M,
    params: PanelViewMethods[M][0],
    signal?: AbortSignal,
  ): Promise<PanelViewMethods[M][1] | undefined> {
    if (!this.#isListening) return undefined;
    try {
      return await this.request(method, params, signal);
    } catch (error) {
      if (!isAbort(error)) throw error;
      return undefined;
    }
  }

  dispose(): void {
    // A closed panel can't be sent that the requests to it are canceled.
    this.#isDisposed = true;
    this.#lose();
    this.#endpoint.close();
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #receive(frame: unknown): void {
    // The first request of a page. The one before it may still have requests here, which count from the same number.
    if (isFrame(frame) && 'method' in frame && frame.method === 'ready') this.#start();
    void this.#endpoint.receive(frame);
  }

  #start(): void {
    this.#lose();
    this.#endpoint.close();
    this.#endpoint = this.#connect();
    this.#isListening = true;
  }

  #lose(): void {
    this.#isListening = false;
    this.#life.abort();
    this.#life = new AbortController();
  }

  #connect(): Endpoint<PanelHostMethods, PanelViewMethods> {
    return new Endpoint<PanelHostMethods, PanelViewMethods>((frame) => {
      if (!this.#isDisposed) void this.#webview.postMessage(frame);
    }, this.#handlers);
  }
}
