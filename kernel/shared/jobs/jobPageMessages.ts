import type { BackfillPlan } from './jobPlan.ts';
import type { JobTable, JobView } from './jobView.ts';

// The messages between the editor and the page of a job; the transport is `Endpoint` in rpc.ts. One page shows a plan, and
// then the job that was made of it.

/** What the page shows. */
export type JobPageState =
  | {
      readonly kind: 'plan';
      readonly table: JobTable;
      readonly plan: BackfillPlan;
      /** What is being done with it now. */
      readonly busy: 'plan' | 'try' | 'run' | undefined;
      /** Why the last of it did not work. */
      readonly problem: string | undefined;
    }
  | { readonly kind: 'job'; readonly job: JobView }
  /** Nothing to show, and why. */
  | { readonly kind: 'nothing'; readonly title: string; readonly message: string };

const jobActions = ['try', 'run', 'code', 'cancel', 'resume', 'retry', 'table'] as const;
export type JobAction = (typeof jobActions)[number];

export const isJobAction = (value: unknown): value is JobAction => jobActions.some((one) => one === value);

/** What the extension host answers to the page of a job. */
export type JobPageHostMethods = {
  /** The page listens; the reply is what to show. */
  ready: [params: null, result: JobPageState];
  /** Text of the job's log from a byte on. */
  log: [params: { from: number }, result: { text: string; next: number }];
  /** Does what a button says; what goes wrong is told by the editor. */
  act: [params: { action: JobAction }, result: null];
};

/** What the page of a job answers. */
export type JobPageViewMethods = {
  show: [params: JobPageState, result: null];
};
