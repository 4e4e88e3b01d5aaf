import { AwsReads } from '#cluster/aws/awsReads.ts';
import { allChecks } from '#cluster/checks/all.ts';
import { GcpReads } from '#cluster/gcp/gcpReads.ts';
import type { GoogleEndpoints } from '#cluster/gcp/googleClient.ts';
import { KubeReads } from '#cluster/kube/kubeReads.ts';
import { CatalogReads } from './catalogReads.ts';
import type { CheckId } from './checkIds.ts';
import { Leftovers } from './leftovers.ts';
import type { ClusterProfile } from './profile.ts';
import type { ResolveCatalog } from './resolvedCatalog.ts';
import type { CheckEvent, CheckReport } from './result.ts';
import { runChecks } from './runChecks.ts';
import { HiddenTexts } from './secretTexts.ts';

export type VerifyOptions = {
  readonly signal: AbortSignal;
  /** Whether objects may be written into the bucket and a pod started; both are removed. */
  readonly probe?: boolean | undefined;
  /** Only these checks, and what they need. */
  readonly only?: readonly CheckId[] | undefined;
  /** Told when a check starts and when it has finished. */
  readonly observe?: ((event: CheckEvent) => void) | undefined;
  /** Finds the profile's catalog, with what a profile may not hold of it. */
  readonly resolveCatalog?: ResolveCatalog | undefined;
  /** Other base addresses of the clouds: private ones, or what stands in for them in tests. */
  readonly endpoints?: { readonly google?: Partial<GoogleEndpoints> | undefined } | undefined;
};

/** Asks a cluster, its cloud and its catalog all that a backfill on it needs. */
export async function verifyCluster(profile: ClusterProfile, options: VerifyOptions): Promise<CheckReport> {
  const { signal, probe = false, only, observe, resolveCatalog, endpoints } = options;
  const hidden = new HiddenTexts();
  const aws = new AwsReads(profile, hidden, signal);
  const kube = new KubeReads(profile, hidden, signal, aws);
  const gcp = new GcpReads(profile, hidden, signal, { kube, endpoints: endpoints?.google });
  const catalog = new CatalogReads(profile, hidden, signal, { resolveCatalog });
  const leftovers = new Leftovers();
  const context = { profile, hidden, kube, aws, gcp, catalog, leftovers };
  try {
    const report = await runChecks(allChecks, context, {
      profile: profile.name,
      signal,
      mayWrite: probe,
      hidden,
      observe,
      only,
    });
    const left = (await leftovers.removeAll()).map((sentence) => hidden.hide(sentence));
    return left.length === 0 ? report : { ...report, left };
  } finally {
    // A connection that does not close well is no reason to lose a report.
    aws.close();
    await Promise.allSettled([kube.close(), gcp.close(), catalog.close()]);
  }
}
