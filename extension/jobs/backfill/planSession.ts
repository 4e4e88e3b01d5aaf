import * as vscode from 'vscode';
import { showDone } from '../../host/messages.ts';
import { isAbort } from '#shared/errors.ts';
import { messageIn } from '#shared/nextSteps.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import { backfillCode } from '#shared/jobs/backfillCode.ts';
import type { JobAction, JobPageState } from '#shared/jobs/jobPageMessages.ts';
import type { BackfillPlan, BackfillTrial, PlanSample } from '#shared/jobs/jobPlan.ts';
import type { JobTable } from '#shared/jobs/jobView.ts';
import { logFailure, type Log } from '../../host/log.ts';
import type { Backfills } from '../runBackfills.ts';

export type PlanSessionDeps = {
  readonly log: Log;
  readonly backfills: Backfills;
  readonly showTrial: (plan: BackfillPlan, trial: BackfillTrial) => Promise<void>;
  readonly readSample: (plan: BackfillPlan, trial: BackfillTrial) => Promise<PlanSample>;
};

/** Maximum time in milliseconds to compute the values of a few rows. */
const sampleMs = 20_000;

/** A plan that a page shows, its trial and its run. The request holds secrets, so it is never sent to the page. */
export class PlanSession implements vscode.Disposable {
  readonly #parts: PlanSessionDeps;
  readonly #request: BackfillRequest;
  readonly #table: JobTable;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #lifetime = new AbortController();
  readonly onDidChange = this.#changed.event;
  #plan: BackfillPlan;
  #busy: 'plan' | 'try' | 'run' | undefined;
  #problem: string | undefined;
  #sample: PlanSample | undefined;
  #started: string | undefined;
  #trying: AbortController | undefined;

  constructor(parts: PlanSessionDeps, request: BackfillRequest, table: JobTable, plan: BackfillPlan) {
    this.#parts = parts;
    this.#request = request;
    this.#table = table;
    this.#plan = plan;
    void this.#loadSample();
  }

  get started(): string | undefined {
    return this.#started;
  }

  get state(): JobPageState {
    return {
      kind: 'plan',
      table: this.#table,
      plan: this.#plan,
      busy: this.#busy,
      problem: this.#problem,
      sample: this.#sample,
    };
  }

  /** Runs an action of the page. Failures are shown on the page. */
  async act(action: JobAction): Promise<void> {
    if (action === 'code') {
      const { column, ...options } = this.#request;
      return copyCode(backfillCode(this.#table, column, optionsOf(options)));
    }
    if (action === 'try') return this.#tryUntilStopped();
    if (action === 'cancel') return this.#trying?.abort();
    if (action === 'run') return this.#do('run', (signal) => this.#run(signal));
  }

  dispose(): void {
    this.#lifetime.abort();
    this.#changed.dispose();
  }

  /** Runs a trial that the user can cancel, because a function may need any time for the rows of a fragment. */
  async #tryUntilStopped(): Promise<void> {
    const trying = (this.#trying ??= new AbortController());
    try {
      await this.#do('try', (signal) => this.#try(AbortSignal.any([signal, trying.signal])));
    } finally {
      if (this.#trying === trying) this.#trying = undefined;
    }
  }

  /** Shows the values of a few rows. A plan is complete without them, so a failure is only logged. */
  async #loadSample(): Promise<void> {
    const { backfills, readSample, log } = this.#parts;
    try {
      const signal = AbortSignal.any([this.#lifetime.signal, AbortSignal.timeout(sampleMs)]);
      const trial = await backfills.sample(this.#plan, this.#request, signal);
      // If the user has run a trial meanwhile, its values are kept, because a trial has more rows.
      if (!trial || this.#sample) return;
      this.#sample = await readSample(this.#plan, trial);
      if (!this.#lifetime.signal.aborted) this.#changed.fire();
    } catch (error) {
      if (!this.#lifetime.signal.aborted) logFailure(log, 'the sample of a plan', error);
    }
  }

  async #try(signal: AbortSignal): Promise<void> {
    const trial = await this.#parts.backfills.try(this.#request, signal);
    if (!trial) return;
    this.#sample = await this.#parts.readSample(this.#plan, trial);
    await this.#parts.showTrial(this.#plan, trial);
    // Plan again, because the trial has measured the speed and a new plan has a better estimate.
    this.#busy = 'plan';
    this.#changed.fire();
    this.#plan = (await this.#parts.backfills.plan(this.#request, signal)) ?? this.#plan;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const started = await this.#parts.backfills.start(this.#request, signal);
    if (!started) return;
    this.#started = started.id;
  }

  async #do(what: 'try' | 'run', run: (signal: AbortSignal) => Promise<void>): Promise<void> {
    // A second click during the action would run it twice.
    if (this.#busy !== undefined || this.#started !== undefined) return;
    this.#busy = what;
    this.#problem = undefined;
    this.#changed.fire();
    try {
      await run(this.#lifetime.signal);
    } catch (error) {
      if (this.#lifetime.signal.aborted) return;
      if (!isAbort(error)) {
        logFailure(this.#parts.log, `${what} of a backfill`, error);
        this.#problem = messageIn('editor', error);
      }
    } finally {
      this.#busy = undefined;
      if (!this.#lifetime.signal.aborted) this.#changed.fire();
    }
  }
}

function optionsOf(request: Omit<BackfillRequest, 'column'>): Omit<BackfillRequest, 'column' | 'table'> {
  const { table: _table, function: _function, allowStoredCode: _allowed, ...options } = request;
  return options;
}

export async function copyCode(code: string): Promise<void> {
  await vscode.env.clipboard.writeText(code);
  showDone('Copied as notebook code', 3000);
}
