import { checkIds } from '#cluster/checkIds.ts';
import type { CheckReport, CheckResult } from '#cluster/result.ts';
import { countOf } from '#cluster/runChecks.ts';
import { docsOf, exitCodeOf, exitCodes } from './summary.ts';

/**
 * A report with what a later run of some of its checks found. It keeps its beginning, so that its age is that of its oldest
 * answers. A run that was stopped replaces only what it came to: what it skipped for that reason is known better.
 */
export function mergeReports(report: CheckReport, later: CheckReport): CheckReport {
  const isNews = (status: string): boolean => !later.stopped || status !== 'skipped';
  const byId = new Map(report.results.map((result) => [result.id, result]));
  for (const result of later.results) if (!byId.has(result.id) || isNews(result.status)) byId.set(result.id, result);
  const results = checkIds.flatMap((id) => byId.get(id) ?? []);
  return { ...report, milliseconds: report.milliseconds + later.milliseconds, counts: countOf(results), results };
}

/**
 * A report as it is stored and read by programs. Fields are added, never renamed or taken away; that would be another
 * `version`.
 */
export type StoredReport = Omit<CheckReport, 'results'> & {
  /** Whether the whole run was made and nothing failed. */
  readonly success: boolean;
  /** As in a report, with where each check is explained. */
  readonly results: readonly (CheckResult & { readonly docs: string })[];
};

/** A report as JSON text, two spaces deep, with a line end. */
export const reportJson = (report: CheckReport): string => `${JSON.stringify(storedReport(report), null, 2)}\n`;

/** The same as data. */
export function storedReport(report: CheckReport): StoredReport {
  const { version, ...rest } = report;
  return {
    version,
    success: exitCodeOf(report) === exitCodes.passed,
    ...rest,
    results: report.results.map((result) => ({ ...result, docs: docsOf(result.id) })),
  };
}
