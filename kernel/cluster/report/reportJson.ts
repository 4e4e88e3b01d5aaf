import { checkIds } from '#cluster/checkIds.ts';
import type { CheckReport, CheckResult } from '#cluster/result.ts';
import { countOf } from '#cluster/runChecks.ts';
import { docsOf, exitCodeOf, exitCodes } from './summary.ts';

/**
 * Merges the results of a later run of some checks into a report. The start time stays, so that the report is as old
 * as its oldest result. Skipped checks of a stopped run do not replace earlier results.
 */
export function mergeReports(report: CheckReport, later: CheckReport): CheckReport {
  const isNews = (status: string): boolean => !later.stopped || status !== 'skipped';
  const byId = new Map(report.results.map((result) => [result.id, result]));
  for (const result of later.results) if (!byId.has(result.id) || isNews(result.status)) byId.set(result.id, result);
  const results = checkIds.flatMap((id) => byId.get(id) ?? []);
  return { ...report, milliseconds: report.milliseconds + later.milliseconds, counts: countOf(results), results };
}

/** A report as stored and read by programs. Fields may be added; renaming or removing one needs a new `version`. */
export type StoredReport = Omit<CheckReport, 'results'> & {
  /** Whether the run was complete and no check failed. */
  readonly success: boolean;
  /** With a link to the documentation of each check. */
  readonly results: readonly (CheckResult & { readonly docs: string })[];
};

/** Writes a report as JSON, indented by two spaces, with a final newline. */
export const reportJson = (report: CheckReport): string => `${JSON.stringify(storedReport(report), null, 2)}\n`;

export function storedReport(report: CheckReport): StoredReport {
  const { version, ...rest } = report;
  return {
    version,
    success: exitCodeOf(report) === exitCodes.passed,
    ...rest,
    results: report.results.map((result) => ({ ...result, docs: docsOf(result.id) })),
  };
}
