import type { CheckReport, CheckResult } from '#cluster/check.ts';
import { exitCodeOf, exitCodes } from './exitCode.ts';
import { docsOf } from './summary.ts';

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
