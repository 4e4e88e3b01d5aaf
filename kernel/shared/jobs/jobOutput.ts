import { isRecord } from '#shared/records.ts';
import { anyOf, type Check, isString, listOf, oneOf, shape } from '#shared/shape.ts';
import { isJobAction, type JobAction } from './jobPageMessages.ts';
import { isJobView } from './jobShapes.ts';
import type { JobView } from './jobView.ts';

// A job in the output of a cell, and the messages between its renderer and the editor. Other clients show the HTML
// and the text of the output.

export const jobOutputMime = 'application/vnd.lance-catalog.job+json';

/** The job when the output was created; an editor that knows the job sends its current state. */
export type JobOutput = { readonly version: 1; readonly job: JobView };

/** Buttons of an output: the buttons of a job's page, and a button that opens the page. */
export type JobOutputAction = JobAction | 'open';

/** Messages from a renderer to the editor. */
export type JobOutputRequest =
  /** A job became visible. The editor sends its state now and after each change. */
  | { readonly kind: 'look'; readonly id: string }
  | { readonly kind: 'act'; readonly id: string; readonly action: JobOutputAction };

/** Message from the editor to all renderers. */
export type JobOutputNews = { readonly kind: 'jobs'; readonly jobs: readonly JobView[] };

/** Reads a job from an output; `undefined` if invalid, because a saved notebook may contain anything. */
export function readJobOutput(value: unknown): JobView | undefined {
  if (!isRecord(value) || value['version'] !== 1) return undefined;
  const { job } = value;
  return isJobView(job) ? job : undefined;
}

export const isJobOutputRequest: Check<JobOutputRequest> = anyOf(
  shape({ kind: oneOf('look'), id: isString }),
  shape({ kind: oneOf('act'), id: isString, action: anyOf(oneOf('open'), isJobAction) }),
);

export const isJobOutputNews: Check<JobOutputNews> = shape({ kind: oneOf('jobs'), jobs: listOf(isJobView) });
