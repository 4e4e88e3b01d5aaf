import type { Mend } from '#cluster/fixes/fix.ts';
import type { CheckCategory, CheckId } from './checkIds.ts';

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
