import { checkIdsByCategory, isCheckId } from '#cluster/checkIds.ts';
import type { Fix } from '#cluster/fixes/fix.ts';
import type { CheckReport, CheckResult, CheckStatus, SkipCause } from '#cluster/result.ts';
import { countOf } from '#cluster/runChecks.ts';
import { asRecord } from '#shared/records.ts';

/** The reports by profile name. The report that was shown last is at the end. */
export type Reports = ReadonlyMap<string, CheckReport>;

/** Maximum number of stored reports. A report has tens of kilobytes, and users have few clusters. */
const most = 6;

/** Adds a report at the end; drops the oldest above the limit. */
export function withReport(reports: Reports, report: CheckReport): Reports {
  const others = [...reports].filter(([profile]) => profile !== report.profile);
  return new Map([...others, [report.profile, report] as const].slice(-most));
}

/** Returns the reports as an array, which keeps their order and so shows which report is the last. */
export const storedReports = (reports: Reports): readonly CheckReport[] => [...reports.values()];

/** Reads reports stored by this or an earlier version; skips invalid ones. */
export function readReports(stored: unknown): Reports {
  const reports = Array.isArray(stored) ? stored.flatMap((one) => readReport(one) ?? []) : [];
  return new Map(reports.map((report) => [report.profile, report]));
}

function readReport(stored: unknown): CheckReport | undefined {
  const { version, profile, startedAt, milliseconds, stopped, results } = asRecord(stored);
  if (version !== 1 || typeof profile !== 'string' || typeof startedAt !== 'string') return undefined;
  if (Number.isNaN(Date.parse(startedAt)) || typeof milliseconds !== 'number' || !Array.isArray(results))
    return undefined;
  const read = results.flatMap((one) => readResult(one) ?? []);
  return { version, profile, startedAt, milliseconds, stopped: stopped === true, counts: countOf(read), results: read };
}

const statuses = ['pass', 'warn', 'fail', 'skipped', 'blocked'] as const satisfies readonly CheckStatus[];
const causes = ['not-applicable', 'not-asked', 'unknown'] as const satisfies readonly SkipCause[];
const severities = ['error', 'warning', 'info'] as const;

function readResult(stored: unknown): CheckResult | undefined {
  const { id, category, title, severity, status, sentence, evidence, milliseconds, attempts, by, mend } =
    asRecord(stored);
  if (typeof id !== 'string' || !isCheckId(id)) return undefined;
  const known = Object.keys(checkIdsByCategory).find((one) => one === category) as CheckResult['category'] | undefined;
  const level = severities.find((one) => one === severity);
  if (known === undefined || level === undefined) return undefined;
  if (typeof title !== 'string' || typeof sentence !== 'string') return undefined;
  const common = {
    id,
    category: known,
    title,
    severity: level,
    sentence,
    milliseconds: typeof milliseconds === 'number' ? milliseconds : 0,
    attempts: typeof attempts === 'number' ? attempts : 0,
    evidence: (Array.isArray(evidence) ? evidence : []).flatMap((one) => {
      const { asked, saw } = asRecord(one);
      return typeof asked === 'string' && typeof saw === 'string' ? [{ asked, saw }] : [];
    }),
  };
  const found = statuses.find((one) => one === status);
  switch (found) {
    case undefined:
      return undefined;
    case 'blocked':
      return { ...common, status: found, by: Array.isArray(by) ? by.filter((one) => isCheckId(String(one))) : [] };
    case 'warn':
    case 'fail': {
      const read = readMend(mend);
      return { ...common, status: found, ...(read && { mend: read }) };
    }
    case 'pass':
      return { ...common, status: found };
    case 'skipped': {
      const { cause, reason } = asRecord(stored);
      const why = causes.find((one) => one === cause);
      return { ...common, status: found, ...(why && { cause: why }), ...(typeof reason === 'string' && { reason }) };
    }
  }
}

/**
 * Reads a stored fix. Keeps its strings and drops its objects. The cluster may have changed since the report was
 * stored, so the check must run again before objects are applied.
 */
function readMend(stored: unknown): Fix | undefined {
  const { kind, command, text, title, language } = asRecord(stored);
  if ((kind === 'command' || kind === 'objects') && typeof command === 'string') return { kind: 'command', command };
  if (kind === 'advice' && typeof text === 'string') return { kind, text };
  if (kind !== 'document' || typeof command !== 'string') return undefined;
  if (typeof text !== 'string' || typeof title !== 'string') return undefined;
  return { kind, title, text, command, language: language === 'yaml' ? 'yaml' : 'json' };
}
