import * as vscode from 'vscode';
import { countText } from '#shared/format/numbers.ts';
import { isAbort, messageOf } from '#shared/errors.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import type { JobTable, JobView } from '#shared/jobs/jobView.ts';
import {
  errorsText,
  failureText,
  isActive,
  jobTableText,
  progressText,
  runnerLabels,
  rowsText,
  stateLabels,
} from '#shared/jobs/jobLabels.ts';
import type { Backfills } from '../runBackfills.ts';
import type { JobsHost } from '../jobsHost.ts';

type BackfillTerminalDeps = {
  readonly host: JobsHost;
  readonly backfills: Pick<Backfills, 'start'>;
  readonly request: (signal: AbortSignal) => Promise<{ readonly request: BackfillRequest; readonly table: JobTable }>;
};

/** The exit codes of a task. The command line has the same exit codes. */
const exitCodes = { done: 0, failed: 1, notStarted: 2, cancelled: 130 } as const;

/** Minimum time between progress lines, in milliseconds. A terminal keeps every line, so there must be few. */
const tellEvery = 1000;
const ctrlC = '\u0003';

/**
 * Runs a backfill as a task in a terminal, with progress lines and an exit code. Ctrl+C cancels the job. The job
 * continues if the terminal or the window is closed.
 */
export class BackfillTerminal implements vscode.Pseudoterminal, vscode.Disposable {
  readonly #parts: BackfillTerminalDeps;
  readonly #written = new vscode.EventEmitter<string>();
  readonly #closed = new vscode.EventEmitter<number>();
  readonly #lifetime = new AbortController();
  readonly onDidWrite = this.#written.event;
  readonly onDidClose = this.#closed.event;
  #listening: vscode.Disposable | undefined;
  #job: string | undefined;
  #toldAt = 0;
  #told = '';

  constructor(parts: BackfillTerminalDeps) {
    this.#parts = parts;
  }

  open(): void {
    this.#run().catch((error: unknown) => {
      if (this.#lifetime.signal.aborted) return;
      if (!isAbort(error)) this.#line(red(messageOf(error)));
      this.#end(exitCodes.notStarted);
    });
  }

  handleInput(data: string): void {
    if (!data.includes(ctrlC)) return;
    if (this.#job === undefined) {
      this.#line('Cancelled before the job started.');
      return this.#end(exitCodes.cancelled);
    }
    this.#line('Cancelling…');
    this.#parts.host.request('cancel', { id: this.#job }).catch((error: unknown) => this.#line(red(messageOf(error))));
  }

  close(): void {
    this.dispose();
  }

  dispose(): void {
    this.#lifetime.abort();
    this.#listening?.dispose();
    this.#written.dispose();
    this.#closed.dispose();
  }

  async #run(): Promise<void> {
    const { host, backfills, request: read } = this.#parts;
    const { signal } = this.#lifetime;
    // Show a line now. Reading the function and the table takes seconds, and an empty terminal would seem to hang.
    this.#line('Reading the job…');
    const { request, table } = await read(signal);
    this.#line(`Starting the backfill of "${request.column}" of ${jobTableText(table)}…`);
    const started = await backfills.start(request, signal);
    if (!started) {
      this.#line('No job was started.');
      return this.#end(exitCodes.cancelled);
    }
    this.#job = started.id;
    const what = `${started.joined ? 'Joined the job' : 'Job'} ${started.id}`;
    this.#line(`${what}. Ctrl+C cancels it; closing this terminal does not.`);
    this.#listening = host.onDidChange(() => this.#look());
    this.#look();
  }

  #look(): void {
    const view = this.#job === undefined ? undefined : this.#parts.host.board.get(this.#job);
    if (!view) return;
    if (!isActive(view)) return this.#finish(view);
    const text = progressLine(view);
    const now = Date.now();
    if (text === this.#told || now - this.#toldAt < tellEvery) return;
    this.#told = text;
    this.#toldAt = now;
    this.#line(text);
  }

  #finish(view: JobView): void {
    this.#listening?.dispose();
    const { state, sentence } = view;
    if (state === 'failed') {
      this.#line(red(`Failed: ${failureText(view)}`));
      return this.#end(exitCodes.failed);
    }
    if (state === 'succeeded') {
      const { done, reused } = view.rows;
      const kept = reused > 0 ? `${countText(reused)} kept from an earlier run` : '';
      const parts = [`${rowsText(done - reused)} computed`, errorsText(view), kept];
      this.#line(`Done: ${parts.filter((part) => part !== '').join(', ')}.`);
      return this.#end(exitCodes.done);
    }
    this.#line(`${stateLabels[state]}: ${sentence}`);
    this.#end(state === 'cancelled' ? exitCodes.cancelled : exitCodes.failed);
  }

  #line(text: string): void {
    // Messages of a function may contain control characters, which a terminal would execute.
    // oxlint-disable-next-line no-control-regex -- exactly those are taken out; red() puts its own around the text
    const safe = text.replaceAll(/[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g, '');
    this.#written.fire(`${safe.replaceAll('\n', '\r\n')}\r\n`);
  }

  #end(code: number): void {
    this.#closed.fire(code);
    this.dispose();
  }
}

/** Returns a line such as `running · 42 % · 12,300 rows/s · 2 min left · on this machine`. */
const progressLine = (view: JobView): string =>
  [stateLabels[view.state], progressText(view), errorsText(view), view.bottleneck ?? `on ${runnerLabels[view.runner]}`]
    .filter(Boolean)
    .join(' · ');

// oxlint-disable-next-line no-control-regex -- control characters of the string are removed before
const red = (text: string): string => `\u001b[31m${text.replaceAll('\u001b', '')}\u001b[0m`;
