import { AwsReads } from '#cluster/aws/awsReads.ts';
import { allChecks } from '#cluster/checks/all.ts';
import { GcpReads } from '#cluster/gcp/gcpReads.ts';
import type { GoogleEndpoints } from '#cluster/gcp/googleClient.ts';
import { KubeReads } from '#cluster/kube/kubeReads.ts';
import { CatalogReads } from './catalogReads.ts';
import type { CheckId } from './checkIds.ts';
import { CleanupList } from './cleanupList.ts';
import type { ClusterProfile } from './profile.ts';
import type { ResolveCatalog } from './resolvedCatalog.ts';
import type { CheckEvent, CheckReport } from './result.ts';
import { runChecks } from './runChecks.ts';
import { SecretRedactor } from './secretTexts.ts';

export type VerifyOptions = {
  readonly signal: AbortSignal;
  /** Whether the run may write objects into the bucket and start a pod; both are removed. */
  readonly probe?: boolean | undefined;
  /** Run only these checks, and the checks that they need. Default: all. */
  readonly only?: readonly CheckId[] | undefined;
  readonly observe?: ((event: CheckEvent) => void) | undefined;
  /** Finds the profile's catalog, with the key that a profile may not hold. */
  readonly resolveCatalog?: ResolveCatalog | undefined;
  /** Other base URLs of the clouds: private ones, or servers of tests. */
  readonly endpoints?: { readonly google?: Partial<GoogleEndpoints> | undefined } | undefined;
};

/** Checks that a backfill can run on a cluster, its cloud and its catalog. */
export async function verifyCluster(profile: ClusterProfile, options: VerifyOptions): Promise<CheckReport> {
  const { signal, probe = false, only, observe, resolveCatalog, endpoints } = options;
  const hidden = new SecretRedactor();
  const aws = new AwsReads(profile, hidden, signal);
  const kube = new KubeReads(profile, hidden, signal, aws);
  const gcp = new GcpReads(profile, hidden, signal, { kube, endpoints: endpoints?.google });
  const catalog = new CatalogReads(profile, hidden, signal, { resolveCatalog });
  const leftovers = new CleanupList();
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
    // The connections are closed separately, because a failure to close one must not lose the report.
    aws.close();
    await Promise.allSettled([kube.close(), gcp.close(), catalog.close()]);
  }
}
