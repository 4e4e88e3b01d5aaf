import type { CheckReport } from '#cluster/check.ts';
import { checkIds } from '#cluster/checkIds.ts';
import { countOf } from '#cluster/runChecks.ts';

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
