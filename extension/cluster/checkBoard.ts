import type { CheckHeader } from '#cluster/check.ts';
import { type CheckCategory, type CheckId, checkIds } from '#cluster/checkIds.ts';
import { mergeReports } from '#cluster/report/reportJson.ts';
import type { CheckEvent, CheckReport, CheckResult } from '#cluster/result.ts';
import { countOf } from '#cluster/runChecks.ts';

/** The state of a check in the current run. */
export type Progress = 'waiting' | 'asking';

/**
 * The board of a profile, which the view shows: the known results and the pending checks. Every change creates a new
 * board, so that callers can compare two boards.
 */
export type CheckRunState = {
  readonly profile: string;
  /** The report after the last run; `undefined` before the first run. */
  readonly report: CheckReport | undefined;
  readonly headers: ReadonlyMap<CheckId, Pick<CheckHeader, 'id' | 'category' | 'title'>>;
  readonly results: ReadonlyMap<CheckId, CheckResult>;
  /** The checks of the current run that have no result yet; empty if no run is in progress. */
  readonly pending: ReadonlyMap<CheckId, Progress>;
  /** Checks of the current run that have a result. */
  readonly answered: ReadonlySet<CheckId>;
  readonly isRunning: boolean;
  /** Whether the current run repeats only some checks and keeps the results of the others. */
  readonly isPartial: boolean;
};

/** Returns the board for the report of a finished run, for instance after a reload. */
export function boardOf(report: CheckReport): CheckRunState {
  return {
    profile: report.profile,
    report,
    headers: new Map(report.results.map((result) => [result.id, result])),
    results: new Map(report.results.map((result) => [result.id, result])),
    pending: new Map(),
    answered: new Set(),
    isRunning: false,
    isPartial: false,
  };
}

/**
 * Returns the board at the start of a run.
 * @param headers all checks
 * @param only the checks to repeat; all other checks keep their results. Default: all
 * @param before the earlier board, used if it has the same profile
 */
export function startBoard(
  profile: string,
  headers: readonly CheckHeader[],
  only?: readonly CheckId[],
  before?: CheckRunState,
): CheckRunState {
  const kept = only && before?.profile === profile ? before : undefined;
  const asked = new Set(only ?? headers.map(({ id }) => id));
  return {
    profile,
    // If this run is stopped, the earlier results are still the best available.
    report: before?.profile === profile ? before.report : undefined,
    isPartial: kept !== undefined,
    // A partial run lists only the checks that it repeats and the checks that have earlier results.
    headers: new Map([
      ...(kept?.headers ?? []),
      ...headers.filter(({ id }) => asked.has(id)).map((header) => [header.id, header] as const),
    ]),
    results: kept?.results ?? new Map(),
    pending: new Map([...asked].map((id) => [id, 'waiting'])),
    answered: new Set(),
    isRunning: true,
  };
}

export function withEvent(board: CheckRunState, event: CheckEvent): CheckRunState {
  const pending = new Map(board.pending);
  if (event.type === 'started') return { ...board, pending: pending.set(event.id, 'asking') };
  const { result } = event;
  pending.delete(result.id);
  return {
    ...board,
    pending,
    headers: new Map(board.headers).set(result.id, result),
    results: new Map(board.results).set(result.id, result),
    answered: new Set(board.answered).add(result.id),
  };
}

/**
 * Returns the board after the end of a run, with the new report. If the run returned no report, keeps the earlier one.
 * Checks that a partial or stopped run did not reach keep their earlier results.
 */
export function endBoard(board: CheckRunState, report: CheckReport | undefined): CheckRunState | undefined {
  const { report: before, isPartial } = board;
  const isMerged = isPartial || report?.stopped === true;
  const merged = before && report && isMerged ? mergeReports(before, report) : (report ?? before);
  return merged && boardOf(merged);
}

/** Returns the checks of a category (default: all) in the order of reports. */
export function checksOf(board: CheckRunState, category?: CheckCategory): readonly CheckRow[] {
  return inOrder(board)
    .filter((header) => category === undefined || header.category === category)
    .map(({ id, category: of, title }) => ({
      id,
      category: of,
      title,
      result: board.results.get(id),
      progress: board.pending.get(id),
    }));
}

/** A check with its state in the current run and its result. The result may be of an earlier run. */
export type CheckRow = {
  readonly id: CheckId;
  readonly category: CheckCategory;
  readonly title: string;
  readonly result: CheckResult | undefined;
  readonly progress: Progress | undefined;
};

export const countsOf = (board: CheckRunState): CheckReport['counts'] => countOf([...board.results.values()]);

const inOrder = (board: CheckRunState) => checkIds.flatMap((id) => board.headers.get(id) ?? []);
