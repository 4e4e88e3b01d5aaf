import type { Fix } from '#cluster/fixes/fix.ts';
import type { CheckCategory, CheckId } from './checkIds.ts';

/**
 * An `error` prevents a backfill, a `warning` makes it slower or more expensive, `info` is only for information. A
 * check that is not an `error` cannot fail: its worst status is a warning.
 */
export type Severity = 'error' | 'warning' | 'info';

/** One request and its result, as text for display, without secrets. */
export type Evidence = { readonly asked: string; readonly saw: string };

/**
 * Why a check was skipped: it does not apply (as good as passed); it did not run, because the run may not write or
 * was stopped; or the result is unknown, because the user lacks a permission or no source has the data.
 */
export type SkipCause = 'not-applicable' | 'not-asked' | 'unknown';

/** The result of a check. `sentence` names the thing and, if something is wrong with it, the problem. */
export type Finding =
  | { readonly status: 'pass'; readonly sentence: string; readonly evidence: readonly Evidence[] }
  | {
      readonly status: 'warn' | 'fail';
      readonly sentence: string;
      readonly evidence: readonly Evidence[];
      /** The fix, if known. */
      readonly mend?: Fix | undefined;
    }
  /** The check does not apply, or could not run; the sentence is the reason. */
  | {
      readonly status: 'skipped';
      readonly sentence: string;
      readonly evidence: readonly Evidence[];
      /** Default: `not-applicable`. */
      readonly cause?: SkipCause;
      /**
       * Set if this check was skipped because another check was skipped: the sentence of the check that was skipped
       * first.
       */
      readonly reason?: string;
    };

/** The outcome of a check in a run. */
export type Verdict =
  | Finding
  /** The check did not run, because a check that it needs did not pass. */
  | {
      readonly status: 'blocked';
      readonly sentence: string;
      readonly evidence: readonly Evidence[];
      readonly by: readonly CheckId[];
    };

export type CheckStatus = Verdict['status'];

/** An outcome with everything that a report needs, as plain data for JSON. */
export type CheckResult = Verdict & {
  readonly id: CheckId;
  readonly category: CheckCategory;
  readonly title: string;
  readonly severity: Severity;
  /** Duration from the start of the first attempt. */
  readonly milliseconds: number;
  readonly attempts: number;
};

/** The results of a run, in the order of the checks. */
export type CheckReport = {
  /** Version of this shape. */
  readonly version: 1;
  readonly profile: string;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly milliseconds: number;
  /** Whether the user stopped the run. */
  readonly stopped: boolean;
  readonly counts: Readonly<Record<CheckStatus, number>>;
  readonly results: readonly CheckResult[];
  /** Sentences about probe objects that could not be removed; absent if there are none. */
  readonly left?: readonly string[];
};

/** Sent to the observer of a run. */
export type CheckEvent =
  { readonly type: 'started'; readonly id: CheckId } | { readonly type: 'finished'; readonly result: CheckResult };
