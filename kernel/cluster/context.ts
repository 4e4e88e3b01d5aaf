import type { AwsReads } from './aws/awsReads.ts';
import type { CatalogReads } from './catalogReads.ts';
import type { GcpReads } from './gcp/gcpReads.ts';
import type { HiddenTexts } from './hiddenText.ts';
import type { KubeReads } from './kube/kubeReads.ts';
import type { Leftovers } from './leftovers.ts';
import type { ClusterProfile } from './profile.ts';

/**
 * What checks ask through. Each answer is had once a run (`Once`), whoever wants it first, so that forty checks need a dozen
 * requests; connecting waits until somebody asks.
 */
export type CheckContext = {
  readonly profile: ClusterProfile;
  /** Secrets met on the way; whoever reads a credential adds it before it is used. */
  readonly hidden: HiddenTexts;
  readonly kube: KubeReads;
  readonly aws: AwsReads;
  readonly gcp: GcpReads;
  readonly catalog: CatalogReads;
  /** What checks make for a moment; whoever makes something notes it here first. */
  readonly leftovers: Leftovers;
};
