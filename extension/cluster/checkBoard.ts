import type { CheckHeader } from '#cluster/check.ts';
import { type CheckCategory, type CheckId, checkIds } from '#cluster/checkIds.ts';
import { mergeReports } from '#cluster/report/reportJson.ts';
import type { CheckEvent, CheckReport, CheckResult } from '#cluster/result.ts';
import { countOf } from '#cluster/runChecks.ts';

/** Where a check of a run that goes on stands. */
export type Progress = 'waiting' | 'asking';

/**
 * What the view shows of a profile, as data: what is known of each check, and which are on their way. Every change makes a
 * new one, so that a look at it stays what it was.
 */
export type Board = {
  readonly profile: string;
  /** What was known when the last run ended; absent until a first one has. */
  readonly report: CheckReport | undefined;
  readonly headers: ReadonlyMap<CheckId, Pick<CheckHeader, 'id' | 'category' | 'title'>>;
  readonly results: ReadonlyMap<CheckId, CheckResult>;
  /** Of the run that goes on; empty while none does. */
  readonly pending: ReadonlyMap<CheckId, Progress>;
  /** What the run that goes on has answered so far. */
  readonly answered: ReadonlySet<CheckId>;
  readonly isRunning: boolean;
  /** Whether the run that goes on asks some checks again, and leaves the others as they were. */
  readonly isPartial: boolean;
};

/** A board of a run that has ended: what is shown after a reload. */
export function boardOf(report: CheckReport): Board {
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
 * A board as a run begins on it.
 * @param headers every check there is
 * @param only the checks that are asked again; results of the others stay. All are asked anew without it
 * @param before what was shown of the same profile
 */
export function startBoard(
  profile: string,
  headers: readonly CheckHeader[],
  only?: readonly CheckId[],
  before?: Board,
): Board {
  const kept = only && before?.profile === profile ? before : undefined;
  const asked = new Set(only ?? headers.map(({ id }) => id));
  return {
    profile,
    // Of a run that is stopped the answers of the one before are still the best there are.
    report: before?.profile === profile ? before.report : undefined,
    isPartial: kept !== undefined,
    // Of a run of some, only those are listed that something is known of.
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

/** The board after something of its run was told. */
export function withEvent(board: Board, event: CheckEvent): Board {
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
 * The board when its run has ended, with what it found; as it was before where it found nothing. What a run that was stopped
 * did not come to is shown as it was known before.
 */
export function endBoard(board: Board, report: CheckReport | undefined): Board | undefined {
  const { report: before, isPartial } = board;
  const isMerged = isPartial || report?.stopped === true;
  const merged = before && report && isMerged ? mergeReports(before, report) : (report ?? before);
  return merged && boardOf(merged);
}

/** The checks of a category in the order of a report; of all with none. */
export function checksOf(board: Board, category?: CheckCategory): readonly CheckRow[] {
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

/** One check: what is known of it, perhaps of a run before, and where it stands in the run that goes on. */
export type CheckRow = {
  readonly id: CheckId;
  readonly category: CheckCategory;
  readonly title: string;
  readonly result: CheckResult | undefined;
  readonly progress: Progress | undefined;
};

/** How often each status is on the board. */
export const countsOf = (board: Board): CheckReport['counts'] => countOf([...board.results.values()]);

const inOrder = (board: Board) => checkIds.flatMap((id) => board.headers.get(id) ?? []);
