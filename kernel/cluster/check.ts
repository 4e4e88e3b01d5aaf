import type { AwsReads } from '#cluster/aws/awsReads.ts';
import type { GcpReads } from '#cluster/gcp/gcpReads.ts';
import type { KubeReads } from '#cluster/kube/kubeReads.ts';
import type { CatalogReads } from './catalogReads.ts';
import type { CheckCategory, CheckId } from './checkIds.ts';
import type { CleanupList } from './cleanupList.ts';
import type { ClusterProfile } from './profile.ts';
import type { Finding, Severity } from './result.ts';
import type { SecretRedactor } from './secretTexts.ts';

/**
 * The sources that checks read from. Within one run, each result is requested only once (`RequestCache`), so that many
 * checks share few requests. Connections are opened on first use.
 */
export type CheckContext = {
  readonly profile: ClusterProfile;
  /** Secrets found during the run. Code that reads a credential adds it here before using it. */
  readonly hidden: SecretRedactor;
  readonly kube: KubeReads;
  readonly aws: AwsReads;
  readonly gcp: GcpReads;
  readonly catalog: CatalogReads;
  /** Temporary objects, each registered here before a check creates it. */
  readonly leftovers: CleanupList;
};

export type Check = {
  readonly id: CheckId;
  readonly category: CheckCategory;
  /** The condition that holds if the check passes, as shown to users: `The service account may list pods`. */
  readonly title: string;
  readonly severity: Severity;
  /**
   * Checks that must finish first. If one of them fails or is blocked, this check is blocked. If one is skipped, this
   * check is skipped too. A warning has no effect.
   */
  readonly needs: readonly CheckId[];
  /** Further needs for some profiles. */
  readonly alsoNeeds?: (profile: ClusterProfile) => readonly CheckId[];
  /** Milliseconds for one attempt. Default: 10,000. */
  readonly limit?: number;
  /** Retries after a transient failure, such as a lost connection. Default: 1. */
  readonly retries?: number;
  /** The temporary change that the check makes. A check with this field runs only if the run may write (`--probe`). */
  readonly writes?: string;
  /** Returns why the check does not apply to this profile, or `undefined` if it does. Sends no request. */
  readonly skip?: (context: CheckContext) => string | undefined;
  /** @throws ClusterError, reported as failed, or as skipped if the user lacks the permission */
  readonly run: (context: CheckContext, signal: AbortSignal) => Promise<Finding>;
};

export type CheckHeader = Pick<Check, 'id' | 'category' | 'title' | 'severity' | 'needs' | 'writes'>;
