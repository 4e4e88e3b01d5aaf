import type { CheckReport, CheckResult } from '#cluster/check.ts';
import { exitCodeOf, exitCodes } from '#cluster/report/exitCode.ts';
import { mendText } from '#cluster/report/mendText.ts';
import { reportHtml } from '#cluster/report/reportHtml.ts';
import { storedReport } from '#cluster/report/reportJson.ts';
import { reportMarkdown } from '#cluster/report/reportMarkdown.ts';
import { reportTable } from '#cluster/report/reportTable.ts';
import { summaryOf } from '#cluster/report/summary.ts';
import { ownForms } from '#session/display/ownForms.ts';
import { htmlAndText, type Shown } from '#session/display/shown.ts';
import type { ClusterCheckResult, ClusterReport } from './clusterTypes.ts';

/** How a report looks in a notebook. */
export const showReport = (report: CheckReport): Shown => htmlAndText(reportHtml(report), reportTable(report));

/** A report as cells have it: with what is asked of it most, and its own form where it is shown. */
export function clusterReport(report: CheckReport): ClusterReport {
  const results = report.results.map(resultOf);
  const made: ClusterReport = {
    profile: report.profile,
    ok: exitCodeOf(report) === exitCodes.passed,
    summary: summaryOf(report),
    startedAt: report.startedAt,
    milliseconds: report.milliseconds,
    counts: report.counts,
    results,
    failed: results.filter(({ status }) => status === 'fail'),
    warnings: results.filter(({ status }) => status === 'warn'),
    toJSON: () => storedReport(report),
    toMarkdown: () => reportMarkdown(report),
  };
  const functions = ['toJSON', 'toMarkdown'] as const;
  for (const name of functions) Object.defineProperty(made, name, { enumerable: false });
  return Object.defineProperty(made, ownForms, { value: () => showReport(report).data });
}

function resultOf(result: CheckResult): ClusterCheckResult {
  const { id, category, title, severity, status, sentence, evidence, milliseconds } = result;
  const mend = result.status === 'fail' || result.status === 'warn' ? result.mend : undefined;
  return {
    id,
    category,
    title,
    severity,
    status,
    sentence,
    evidence,
    milliseconds,
    ...(status === 'skipped' && { cause: result.cause ?? 'not-applicable' }),
    ...(mend && { mend: { kind: mend.kind, ...mendText(mend) } }),
  };
}
