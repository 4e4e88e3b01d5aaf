import type { AwsReads } from '#cluster/aws/awsReads.ts';
import type { GcpReads } from '#cluster/gcp/gcpReads.ts';
import type { KubeReads } from '#cluster/kube/kubeReads.ts';
import type { CatalogReads } from './catalogReads.ts';
import type { CheckCategory, CheckId } from './checkIds.ts';
import type { Leftovers } from './leftovers.ts';
import type { ClusterProfile } from './profile.ts';
import type { Finding, Severity } from './result.ts';
import type { HiddenTexts } from './secretTexts.ts';

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

/** One requirement of the runner, as data. */
export type Check = {
  readonly id: CheckId;
  readonly category: CheckCategory;
  /** What is so when it passes, as a person would say it: `The service account may list pods`. */
  readonly title: string;
  readonly severity: Severity;
  /** Checks without which the question makes no sense. When one fails, this is blocked; when one is skipped, so is this. */
  readonly needs: readonly CheckId[];
  /** What it needs beside that for some profiles. */
  readonly alsoNeeds?: (profile: ClusterProfile) => readonly CheckId[];
  /** Milliseconds for one attempt; 10,000 where nothing is said. */
  readonly limit?: number;
  /** How often it is tried again after a failure that may pass by itself, such as a lost connection; 1 where nothing is said. */
  readonly retries?: number;
  /** What it would leave behind for a moment: asked only where the run may write (`--probe`). */
  readonly writes?: string;
  /** Why it does not apply to this profile; `undefined` where it does. Asks nobody. */
  readonly skip?: (context: CheckContext) => string | undefined;
  /** Asks. @throws ClusterError, of which the run makes a failure, or a skip where the person may not ask */
  readonly run: (context: CheckContext, signal: AbortSignal) => Promise<Finding>;
};

/** What there is to say of a check before it is asked. */
export type CheckHeader = Pick<Check, 'id' | 'category' | 'title' | 'severity' | 'needs' | 'writes'>;
