import type { AwsReads } from '#cluster/aws/awsReads.ts';
import type { Mend } from '#cluster/fixes/fix.ts';
import type { GcpReads } from '#cluster/gcp/gcpReads.ts';
import type { KubeReads } from '#cluster/kube/kubeReads.ts';
import type { CatalogReads } from './catalogReads.ts';
import type { CheckCategory, CheckId } from './checkIds.ts';
import type { Leftovers } from './leftovers.ts';
import type { ClusterProfile } from './profile.ts';
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

/**
 * How much it matters: an `error` keeps a backfill from running, a `warning` lets it run badly or costs money, `info` is
 * worth knowing. A check that is not an `error` cannot fail: its worst is a warning.
 */
export type Severity = 'error' | 'warning' | 'info';

/** One thing that was asked and what came back, as text for people. Secrets are taken out before anybody sees it. */
export type Evidence = { readonly asked: string; readonly saw: string };

/**
 * Why a check was skipped: it does not apply, which is as good as passed; it was not asked, since the run may not write or was
 * stopped; or it is not known, since the person may not ask, or nobody says.
 */
export type SkipCause = 'not-applicable' | 'not-asked' | 'unknown';

/** What a check found. `sentence` names the thing and, where it is wrong, what is wrong with it. */
export type Finding =
  | { readonly status: 'pass'; readonly sentence: string; readonly evidence: readonly Evidence[] }
  | {
      readonly status: 'warn' | 'fail';
      readonly sentence: string;
      readonly evidence: readonly Evidence[];
      /** What puts it right, where that is known. */
      readonly mend?: Mend | undefined;
    }
  /** It does not apply, or could not be asked; the sentence is the reason. */
  | {
      readonly status: 'skipped';
      readonly sentence: string;
      readonly evidence: readonly Evidence[];
      /** `not-applicable` where nothing is said. */
      readonly cause?: SkipCause;
      /** The sentence of the check that was skipped first, where this one was skipped with it. */
      readonly reason?: string;
    };

/** What became of a check in a run. */
export type Verdict =
  | Finding
  /** What it needs did not pass, so it was not asked. */
  | {
      readonly status: 'blocked';
      readonly sentence: string;
      readonly evidence: readonly Evidence[];
      readonly by: readonly CheckId[];
    };

export type CheckStatus = Verdict['status'];

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

/** A check's outcome with all that a report needs. Plain data: it travels as JSON. */
export type CheckResult = Verdict & {
  readonly id: CheckId;
  readonly category: CheckCategory;
  readonly title: string;
  readonly severity: Severity;
  /** How long it took, from its first attempt on. */
  readonly milliseconds: number;
  readonly attempts: number;
};

/** What a run found, in the order of the checks. */
export type CheckReport = {
  /** Version of this shape. */
  readonly version: 1;
  readonly profile: string;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly milliseconds: number;
  /** Somebody ended it before its end. */
  readonly stopped: boolean;
  readonly counts: Readonly<Record<CheckStatus, number>>;
  readonly results: readonly CheckResult[];
  /** Sentences about what a probe has made and what could not be removed; not there where nothing is left. */
  readonly left?: readonly string[];
};

/** Told to who watches a run. */
export type CheckEvent =
  { readonly type: 'started'; readonly id: CheckId } | { readonly type: 'finished'; readonly result: CheckResult };
