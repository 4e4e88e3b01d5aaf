import type { CheckReport } from '#cluster/check.ts';
import { isCheckId } from '#cluster/checkIds.ts';
import { ClusterError } from '#cluster/errors.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { progressOf, runFollower } from '#cluster/report/progress.ts';
import { runningHtml } from '#cluster/report/reportHtml.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';
import { liveOutput } from '#session/display/live.ts';
import { htmlAndText, type Shown } from '#session/display/shown.ts';
import { loadPart } from '#shared/loadPart.ts';
import { catalogFinder } from './catalogOfProfile.ts';
import { chooseProfile, type NamingHints } from './chooseProfile.ts';
import { clusterReport, showReport } from './clusterReport.ts';
import type { Cluster, ClusterCheckOptions, ClusterSettings } from './clusterTypes.ts';

export type ClusterParts = {
  /** Opens a place for an output of the cell; each call of what it gives shows there. */
  open: () => (shown: Shown) => void;
  /** This value is on screen, so that the cell need not show it again where it is its last expression. */
  isShown: (value: object) => void;
  /** Ends when the running cell is interrupted. */
  signal: () => AbortSignal;
  /** The catalog that `db` is, where one was chosen. */
  catalog: () => CatalogConfig | null;
};

const hints: NamingHints = {
  which: (names) => `Give the name of one: ${names.map((name) => `cluster.check('${name}')`).join(', ')}.`,
  without: "describe the cluster here: cluster.check({ context: 'my-cluster', namespace: 'geneva' })",
};

/** Makes `cluster`. What it needs is a bundle of its own and is loaded when something is asked of it. */
export function createCluster(parts: ClusterParts): Cluster {
  return {
    profiles: async () => (await found()).names,
    check: async (profile, options = {}) => {
      // Of the cell that calls, which may not be the one that runs when the bundle is there.
      const own = parts.signal();
      const show = parts.open();
      for (const id of options.only ?? [])
        if (!isCheckId(id))
          throw new ClusterError(
            'InvalidRequest',
            `There is no check "${String(id)}".`,
            'Give ids as a report has them, such as rbac-pods-get.',
          );
      const signal = options.signal ? AbortSignal.any([own, options.signal]) : own;
      const report = await run(parts, await profileOf(profile), { ...options, signal }, show);
      signal.throwIfAborted();
      const made = clusterReport(report);
      parts.isShown(made);
      return made;
    },
  };
}

const loadClouds = () => loadPart(() => import('#cluster/clouds.ts'));

async function found() {
  const { findProfiles } = await loadClouds();
  return findProfiles({ folder: process.cwd(), environment: process.env });
}

async function profileOf(profile: string | ClusterSettings | undefined): Promise<ClusterProfile> {
  if (typeof profile !== 'object') return chooseProfile(await found(), profile, hints);
  const { readProfile } = await loadClouds();
  return readProfile({ call: 'cluster.check' }, profile);
}

async function run(
  { catalog }: ClusterParts,
  profile: ClusterProfile,
  { only, probe, signal }: ClusterCheckOptions & { readonly signal: AbortSignal },
  show: (shown: Shown) => void,
): Promise<CheckReport> {
  const { listChecks, verifyCluster } = await loadClouds();
  const live = liveOutput(show);
  const follow = runFollower(profile.name, only === undefined ? listChecks().length : undefined);
  const catalogs = catalogFinder(catalog());
  try {
    const report = await verifyCluster(profile, {
      signal,
      probe,
      only,
      observe: (event) => {
        const soFar = follow(event);
        live.update(() => htmlAndText(runningHtml(soFar), `${profile.name}: ${progressOf(soFar)}`));
      },
      resolveCatalog: catalogs.resolve,
    });
    live.end(() => showReport(report));
    return report;
  } finally {
    await catalogs.close();
  }
}
