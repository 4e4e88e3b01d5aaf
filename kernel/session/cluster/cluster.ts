import { isCheckId } from '#cluster/checkIds.ts';
import { ClusterError } from '#cluster/errors.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { formatFix } from '#cluster/report/fixText.ts';
import { formatProgress, createProgressTracker } from '#cluster/report/progress.ts';
import { reportHtml, runningHtml } from '#cluster/report/reportHtml.ts';
import { storedReport } from '#cluster/report/reportJson.ts';
import { reportMarkdown } from '#cluster/report/reportMarkdown.ts';
import { reportTable } from '#cluster/report/reportTable.ts';
import { exitCodeOf, exitCodes, summaryOf } from '#cluster/report/summary.ts';
import type { CheckReport, CheckResult } from '#cluster/result.ts';
import { liveOutput } from '#session/display/live.ts';
import { htmlAndText, type RenderedOutput } from '#session/display/mimeBundle.ts';
import { ownForms } from '#session/display/ownForms.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';
import { loadLazy } from '#shared/loadLazy.ts';
import { isAffirmative } from '#shared/records.ts';
import { catalogFinder } from './catalogOfProfile.ts';
import { chooseProfile, type NamingHints } from './chooseProfile.ts';
import type {
  Cluster,
  ClusterCheckOptions,
  ClusterCheckResult,
  ClusterReport,
  ClusterSettings,
} from './clusterTypes.ts';

const showReport = (report: CheckReport): RenderedOutput => htmlAndText(reportHtml(report), reportTable(report));

/** Converts a report to the object that cells receive, which renders itself. */
function clusterReport(report: CheckReport): ClusterReport {
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
  const fix = result.status === 'fail' || result.status === 'warn' ? result.mend : undefined;
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
    ...(fix && { mend: { kind: fix.kind, ...formatFix(fix) } }),
  };
}

type ClusterDeps = {
  /** Opens an output of the cell; each call of the returned function shows a value there. */
  open: () => (shown: RenderedOutput) => void;
  /** Marks a value as shown, so that the cell does not show it again as its last expression. */
  isShown: (value: object) => void;
  /** Returns the signal of the running cell. */
  signal: () => AbortSignal;
  /** The catalog of `db`, if one was chosen. */
  catalog: () => CatalogConfig | null;
  /** Asks the user for a line; rejects if there is no input channel. */
  input: (question: string) => Promise<string>;
};

const hints: NamingHints = {
  which: (names) => `Give the name of one: ${names.map((name) => `cluster.check('${name}')`).join(', ')}.`,
  without: "describe the cluster in the call: cluster.check({ context: 'my-cluster', namespace: 'geneva' })",
};

/** Creates `cluster`. The implementation is a separate bundle, loaded at the first call. */
export function createCluster(parts: ClusterDeps): Cluster {
  return {
    profiles: async () => (await found()).names,
    check: async (profile, options = {}) => {
      // The signal is read before the bundle is loaded, because another cell may be running after the load.
      const own = parts.signal();
      const show = parts.open();
      for (const id of options.only ?? [])
        if (!isCheckId(id))
          throw new ClusterError(
            'InvalidRequest',
            `There is no check "${String(id)}".`,
            'Give check ids from a report, such as rbac-pods-get.',
          );
      const signal = options.signal ? AbortSignal.any([own, options.signal]) : own;
      const report = await run(parts, await profileOf(profile, parts.input), { ...options, signal }, show);
      signal.throwIfAborted();
      const made = clusterReport(report);
      parts.isShown(made);
      return made;
    },
  };
}

const loadClouds = () => loadLazy(() => import('#cluster/entry.ts'));

async function found() {
  const { findProfiles } = await loadClouds();
  return findProfiles({ folder: process.cwd(), environment: process.env });
}

/**
 * @throws ClusterError ProfileInvalid; ProgramNotTrusted if the profile needs a program that the user does not allow
 */
async function profileOf(
  profile: string | ClusterSettings | undefined,
  input: ClusterDeps['input'],
): Promise<ClusterProfile> {
  const { confirmPrograms, readProfile } = await loadClouds();
  if (typeof profile === 'object') return readProfile({ call: 'cluster.check' }, profile);
  const chosen = chooseProfile(await found(), profile, hints);
  await confirmPrograms(chosen, async (question) => isAffirmative(await input(`${question} [y/N] `)));
  return chosen;
}

async function run(
  { catalog }: ClusterDeps,
  profile: ClusterProfile,
  { only, probe, signal }: ClusterCheckOptions & { readonly signal: AbortSignal },
  show: (shown: RenderedOutput) => void,
): Promise<CheckReport> {
  const { listChecks, verifyCluster } = await loadClouds();
  const live = liveOutput(show);
  const follow = createProgressTracker(profile.name, only === undefined ? listChecks().length : undefined);
  const catalogs = catalogFinder(catalog());
  try {
    const report = await verifyCluster(profile, {
      signal,
      probe,
      only,
      observe: (event) => {
        const soFar = follow(event);
        live.update(() => htmlAndText(runningHtml(soFar), `${profile.name}: ${formatProgress(soFar)}`));
      },
      resolveCatalog: catalogs.resolve,
    });
    live.end(() => showReport(report));
    return report;
  } finally {
    await catalogs.close();
  }
}
