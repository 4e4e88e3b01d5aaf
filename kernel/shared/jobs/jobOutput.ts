import { isRecord } from '#shared/records.ts';
import { isJobAction, type JobAction } from './jobPageMessages.ts';
import { isJobView } from './jobShapes.ts';
import type { JobView } from './jobView.ts';

// A job in the output of a cell: what the kernel puts there, and what is said between its renderer and the editor. Other
// fronts show the html and the text beside it.

export const jobOutputMime = 'application/vnd.lance-catalog.job+json';

/** The job as it was when the output was made; an editor that knows the job says how it is now. */
export type JobOutput = { readonly version: 1; readonly job: JobView };

/** Buttons of an output: those of a job's page, and the page itself. */
export type JobOutputAction = JobAction | 'open';

/** What a renderer says to the editor. */
export type JobOutputRequest =
  /** A job is on screen: tell how it is, and whenever that changes. */
  | { readonly kind: 'look'; readonly id: string }
  | { readonly kind: 'act'; readonly id: string; readonly action: JobOutputAction };

/** What the editor says to all renderers. */
export type JobOutputNews = { readonly kind: 'jobs'; readonly jobs: readonly JobView[] };

/** An output as a job; `undefined` for what is none, since a notebook holds whatever somebody saved in it. */
export function readJobOutput(value: unknown): JobView | undefined {
  if (!isRecord(value) || value['version'] !== 1) return undefined;
  const { job } = value;
  return isJobView(job) ? (job as JobView) : undefined;
}

export function isJobOutputRequest(value: unknown): value is JobOutputRequest {
  if (!isRecord(value) || typeof value['id'] !== 'string') return false;
  if (value['kind'] === 'look') return true;
  return value['kind'] === 'act' && (value['action'] === 'open' || isJobAction(value['action']));
}

export const isJobOutputNews = (value: unknown): value is JobOutputNews =>
  isRecord(value) && value['kind'] === 'jobs' && Array.isArray(value['jobs']) && value['jobs'].every(isJobView);
