import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import { CatalogError, messageOf } from '#shared/errors.ts';
import { exactDurationText, stopwatchText } from '#shared/format/times.ts';
import type { SqlProblem, SqlRequest, SqlResultState } from '#shared/protocol/viewsMessages.ts';
import type { PanelGrowth, PanelTable } from '#shared/protocol/webviewMessages.ts';
import type { ViewsHost } from '../host/viewsHost.ts';
import { type GrowingTable, resultKey, type TableSource } from '../panels/tableSource.ts';

/** How often the time of a running statement is shown again. */
const tickMs = 500;

type ResultDeps = {
  views: Pick<ViewsHost, 'request' | 'onResult'>;
  title: string;
  request: Omit<SqlRequest, 'id'>;
  /** Returns the message of a problem with its place in the file. */
  explain: (problem: SqlProblem) => string;
};

/**
 * A statement that runs in the views process, and its rows as the table of a panel. Closing the panel, or showing another
 * result in it, stops the statement and deletes its rows.
 */
export class SqlResult implements TableSource {
  readonly title: string;
  readonly growing: GrowingTable;
  /** Resolves with the last state. Never rejects. */
  readonly ended: Promise<SqlResultState>;
  readonly #id = randomUUID();
  readonly #deps: ResultDeps;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #startedAt = Date.now();
  #state: SqlResultState = { rows: 0, end: 'running', milliseconds: 0 };
  #end!: (state: SqlResultState) => void;

  constructor(deps: ResultDeps) {
    this.#deps = deps;
    this.title = deps.title;
    this.ended = new Promise((resolve) => (this.#end = resolve));
    // oxlint-disable-next-line typescript/no-this-alias -- the getters of the object below need it
    const result = this;
    this.growing = {
      get growth() {
        return result.#growth;
      },
      get failure() {
        return result.#failure;
      },
      onDidChange: (listener) => result.#onDidChange(listener),
      cancel: () => result.cancel(),
    };
  }

  get failureTitle(): string {
    return this.#state.end === 'canceled' ? 'The query was canceled' : "Can't run the query";
  }

  /** Starts the statement. Its failure is the failure of the result. */
  async start(): Promise<void> {
    const { views, request } = this.#deps;
    const listening = views.onResult(this.#id, (state) => this.#take(state));
    void this.ended.then(() => listening.dispose());
    try {
      await views.request('startSql', { ...request, id: this.#id });
    } catch (error) {
      this.#take({ ...this.#state, end: 'failed', problem: { message: messageOf(error), offset: null } });
    }
  }

  /** Stops the statement and keeps the rows that it has. */
  cancel(): void {
    this.#deps.views.request('cancelSql', { id: this.#id }).catch(() => undefined);
  }

  /** Waits for the columns and the first rows. @throws CatalogError if the statement fails before */
  async open(signal: AbortSignal): Promise<PanelTable> {
    signal.addEventListener('abort', () => this.#close(), { once: true });
    await this.#firstRows();
    signal.throwIfAborted();
    const { columns } = this.#state;
    const failure = this.#failure;
    if (failure) throw failure;
    if (!columns) throw new CatalogError('InvalidInput', 'It had no rows yet.', 'Run it again.');
    return { title: this.title, columns, version: null, ...this.#growth };
  }

  async rows(start: number, end: number, signal: AbortSignal): Promise<Uint8Array> {
    const text = await this.#deps.views.request('readRows', { id: this.#id, start, end }, signal);
    return Buffer.from(text, 'base64');
  }

  get #growth(): PanelGrowth {
    const { rows, end, milliseconds } = this.#state;
    const time = exactDurationText(Math.max(milliseconds, 1) * 1e6);
    const notes: Readonly<Record<SqlResultState['end'], string>> = {
      running: `Running for ${stopwatchText((Date.now() - this.#startedAt) / 1000)}`,
      complete: time,
      canceled: `Canceled after ${time}`,
      full: `Stopped after ${time}: not all rows`,
      failed: time,
    };
    return { key: resultKey(this.#id), numRows: rows, note: notes[end], isGrowing: end === 'running' };
  }

  get #failure(): CatalogError | undefined {
    const { problem, end } = this.#state;
    return problem && end === 'failed' ? new CatalogError('InvalidInput', this.#deps.explain(problem), '') : undefined;
  }

  #firstRows(): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.#state.end === 'running' && (!this.#state.columns || this.#state.rows === 0)) return;
        listening.dispose();
        resolve();
      };
      const listening = this.#changed.event(look);
      look();
    });
  }

  #onDidChange(listener: () => void): vscode.Disposable {
    const timer = setInterval(() => (this.#state.end === 'running' ? listener() : clearInterval(timer)), tickMs);
    return vscode.Disposable.from(this.#changed.event(listener), { dispose: () => clearInterval(timer) });
  }

  #take(state: SqlResultState): void {
    if (this.#state.end !== 'running') return;
    this.#state = state;
    this.#changed.fire();
    if (state.end !== 'running') this.#end(state);
  }

  #close(): void {
    this.#deps.views.request('closeResult', { id: this.#id }).catch(() => undefined);
  }
}
