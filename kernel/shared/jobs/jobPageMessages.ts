import { type Check, oneOf } from '#shared/shape.ts';
import type { BackfillPlan, PlanSample } from './jobPlan.ts';
import type { JobTable, JobView } from './jobView.ts';

// The messages between the editor and the page of a job; the transport is `Endpoint` in rpc.ts. One page shows a plan,
// and then the job that the user started from the plan.

export type JobPageState =
  | {
      readonly kind: 'plan';
      readonly table: JobTable;
      readonly plan: BackfillPlan;
      /** The action in progress. */
      readonly busy: 'plan' | 'try' | 'run' | undefined;
      /** Why the last action failed. */
      readonly problem: string | undefined;
      /** Values of a few rows before and after, if the function may run before the user starts it. */
      readonly sample?: PlanSample | undefined;
    }
  | { readonly kind: 'job'; readonly job: JobView }
  /** The page has nothing to show; `message` says why. */
  | { readonly kind: 'nothing'; readonly title: string; readonly message: string };

const jobActions = ['try', 'run', 'code', 'cancel', 'resume', 'retry', 'table'] as const;
export type JobAction = (typeof jobActions)[number];

export const isJobAction: Check<JobAction> = oneOf(...jobActions);

/** Requests from the page of a job to the extension host. */
export type JobPageHostMethods = {
  /** The page is ready for requests. The result is what the page shows first. */
  ready: [params: null, result: JobPageState];
  /** Text of the job's log from a byte offset. */
  log: [params: { from: number }, result: { text: string; next: number }];
  /** Runs the action of a button; the editor reports a failure. */
  act: [params: { action: JobAction }, result: null];
};

/** Requests to the page of a job. */
export type JobPageViewMethods = {
  show: [params: JobPageState, result: null];
};
