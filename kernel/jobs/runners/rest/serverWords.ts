import type { JobDescription } from '#client/jobs.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';

/** What a server was at when it failed, by the words that servers have for it. */
const phases: readonly [word: RegExp, said: string][] = [
  [/queue|pending|schedul/i, 'while it waited for its turn'],
  [/plan|prepare|init|valid/i, 'while it planned the work'],
  [/commit/i, 'while it committed what was computed'],
  [/read|scan|load/i, 'while it read the table'],
  [/write|flush|checkpoint/i, 'while it wrote what was computed'],
  [/run|exec|appl|comput|udf/i, 'while it ran the function'],
];

/** The failure of a server's job as the error that ends ours. */
export function failureOf(id: string, failure: JobDescription['failure']): JobError {
  if (!failure)
    return new JobError('ServerRefused', `The server's job ${id} failed, and the server does not say why.`, logHint);
  const { phase = '', message, retryable } = failure;
  const said = phases.find(([word]) => word.test(phase))?.[1] ?? (phase === '' ? '' : `in its phase ${phase}`);
  const what = `The server's job ${id} failed${said === '' ? '' : ` ${said}`}: ${message.replace(/[.!?]?\s*$/, '.')}`;
  if (retryable === true)
    return new JobError('ServerRefused', what, 'The server says that it may succeed when resumed.');
  return new JobError('ServerRefused', what, retryable === false ? `Put that right first. ${logHint}` : logHint);
}

const logHint = "The job's log has what the server told of it.";
