import * as vscode from 'vscode';
import type { CheckId } from '#cluster/checkIds.ts';
import { ClusterError } from '#cluster/errors.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { CheckEvent, CheckReport } from '#cluster/result.ts';
import type { VerifyOptions } from '#cluster/verifyCluster.ts';
import { messageOf } from '#shared/errors.ts';
import type { Log } from '../host/log.ts';
import type { State } from '../host/state.ts';
import { type CheckRunState, boardOf, endBoard, startBoard, withEvent } from './checkBoard.ts';
import { readReports, type Reports, storedReports, withReport } from './storedReports.ts';

type ClusterChecksDeps = {
  log: Log;
  state: State;
  /** Resolves the catalog of a profile; the result holds secrets and stays in memory. */
  resolveCatalog: VerifyOptions['resolveCatalog'];
};

export type RunChecks = {
  /** Run only these checks and the checks that they depend on. */
  readonly only?: readonly CheckId[] | undefined;
  /** Whether probes may write temporary objects; the user must have agreed. */
  readonly probe?: boolean | undefined;
  /** Stops the run, as `stop()` does. */
  readonly signal?: AbortSignal | undefined;
};

/** Minimum time between redraws during a run, in milliseconds. */
const drawEvery = 60;

/** Runs the checks in this window, one run at a time, and keeps the latest reports. */
export class ClusterChecks implements vscode.Disposable {
  readonly #parts: ClusterChecksDeps;
  readonly #changed = new vscode.EventEmitter<void>();
  /** Fires when a check has a result, or a run starts or ends. */
  readonly onDidChange = this.#changed.event;
  #reports: Reports;
  #board: CheckRunState | undefined;
  #running: { readonly controller: AbortController; readonly ended: Promise<unknown> } | undefined;
  #drawing: NodeJS.Timeout | undefined;

  constructor(parts: ClusterChecksDeps) {
    this.#parts = parts;
    this.#reports = readReports(parts.state.clusterReports());
    const last = [...this.#reports.values()].at(-1);
    this.#board = last && boardOf(last);
  }

  /** The board of the current or last run. */
  get board(): CheckRunState | undefined {
    return this.#board;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Returns the last report of a profile. An earlier window may have created the report. */
  reportOf(profile: string): CheckReport | undefined {
    return this.#reports.get(profile);
  }

  /** Shows the last report of a profile, unless a run is in progress. */
  async show(profile: string): Promise<void> {
    const report = this.#reports.get(profile);
    if (this.#running || this.#board?.profile === profile) return;
    this.#board = report && boardOf(report);
    if (report) await this.#keep(report);
    this.#changed.fire();
  }

  /**
   * Runs checks; cancels a run in progress first.
   * @returns the report of this run only; a partial report if the run was stopped
   * @throws ClusterError ProfileInvalid in an untrusted workspace, because a kubeconfig may name programs to run
   */
  async run(profile: ClusterProfile, { only, probe = false, signal }: RunChecks = {}): Promise<CheckReport> {
    if (!vscode.workspace.isTrusted) {
      const why = 'Clusters are checked only in trusted workspaces, because a kubeconfig can start programs.';
      throw new ClusterError(
        'ProfileInvalid',
        why,
        'Trust this workspace first ("Workspaces: Manage Workspace Trust").',
      );
    }
    // If two runs start at the same time, the second one stops the first.
    while (this.#running) await this.stop();
    const controller = new AbortController();
    const running = AbortSignal.any([controller.signal, ...(signal ? [signal] : [])]);
    const report = this.#verify(profile, { only, probe, signal: running });
    const mine = { controller, ended: report.catch(() => undefined) };
    this.#running = mine;
    try {
      return await report;
    } finally {
      if (this.#running === mine) this.#running = undefined;
      this.#draw();
    }
  }

  async stop(): Promise<void> {
    this.#running?.controller.abort();
    await this.#running?.ended;
  }

  dispose(): void {
    this.#running?.controller.abort();
    clearTimeout(this.#drawing);
    this.#changed.dispose();
  }

  async #verify(
    profile: ClusterProfile,
    { only, probe, signal }: { only: readonly CheckId[] | undefined; probe: boolean; signal: AbortSignal },
  ): Promise<CheckReport> {
    const { log, resolveCatalog } = this.#parts;
    const before = this.#board?.profile === profile.name ? this.#board : undefined;
    const known = this.#reports.get(profile.name);
    // Import this module only for the first run, because the module loads megabytes of libraries.
    const { verifyCluster, listChecks } = await import('#cluster/entry.ts');
    let board = startBoard(profile.name, listChecks(), only, before ?? (known && boardOf(known)));
    this.#board = board;
    this.#draw();
    const observe = (event: CheckEvent): void => {
      board = withEvent(board, event);
      this.#board = board;
      this.#drawing ??= setTimeout(() => this.#draw(), drawEvery);
    };
    try {
      const report = await verifyCluster(profile, { signal, probe, only, observe, resolveCatalog });
      log.info(`checks of "${profile.name}": ${JSON.stringify(report.counts)} in ${report.milliseconds} ms`);
      this.#board = endBoard(board, report);
      if (this.#board?.report) await this.#keep(this.#board.report);
      return report;
    } catch (error) {
      log.error(`checks of "${profile.name}" failed: ${messageOf(error)}`);
      this.#board = endBoard(board, undefined);
      throw error;
    }
  }

  async #keep(report: CheckReport): Promise<void> {
    this.#reports = withReport(this.#reports, report);
    await this.#parts.state.setClusterReports(storedReports(this.#reports));
  }

  #draw(): void {
    clearTimeout(this.#drawing);
    this.#drawing = undefined;
    this.#changed.fire();
  }
}
