import type { CheckEvent, CheckReport } from './check.ts';
import type { CheckId } from './checkIds.ts';
import { AwsReads } from './aws/awsReads.ts';
import { CatalogReads } from './catalogReads.ts';
import { allChecks } from './checks/all.ts';
import { GcpReads } from './gcp/gcpReads.ts';
import { HiddenTexts } from './hiddenText.ts';
import { KubeReads } from './kube/kubeReads.ts';
import type { ClusterProfile } from './profile.ts';
import { runChecks } from './runChecks.ts';

export type VerifyOptions = {
  readonly signal: AbortSignal;
  /** Whether objects may be written into the bucket and a pod started; both are removed. */
  readonly probe?: boolean | undefined;
  /** Only these checks, and what they need. */
  readonly only?: readonly CheckId[] | undefined;
  /** Told when a check starts and when it has finished. */
  readonly observe?: ((event: CheckEvent) => void) | undefined;
};

/** Asks a cluster, its cloud and its catalog all that a backfill on it needs. */
export async function verifyCluster(profile: ClusterProfile, options: VerifyOptions): Promise<CheckReport> {
  const { signal, probe = false, only, observe } = options;
  const hidden = new HiddenTexts();
  const context = {
    profile,
    hidden,
    kube: new KubeReads(profile, hidden, signal),
    aws: new AwsReads(profile, hidden, signal),
    gcp: new GcpReads(profile, hidden, signal),
    catalog: new CatalogReads(profile, hidden, signal),
  };
  try {
    return await runChecks(allChecks, context, {
      profile: profile.name,
      signal,
      mayWrite: probe,
      hidden,
      observe,
      only,
    });
  } finally {
    await context.kube.close();
  }
}
