import type { RecordBatch } from '#arrow';
import { withErrorContext } from '#shared/errors.ts';
import { arrowStreamMime } from '#shared/mime.ts';
import { type CallOptions, checkOptions } from '#catalog/arguments/options.ts';
import type { JobDescription, Jobs, JobState, JobSummary } from '#catalog/jobs.ts';
import type { Operation } from '#catalog/contract.ts';
import { readBatches } from './rowPages.ts';
import { definedEntries } from '#shared/records.ts';
import { Reply } from './reply.ts';
import { checkText } from '#catalog/arguments/tableArguments.ts';
import type { Wire } from '#catalog/transport/request.ts';

/** Job states as servers name them; some use different names for one state. */
const states: Readonly<Record<string, JobState>> = {
  QUEUED: 'queued',
  PENDING: 'queued',
  IN_PROGRESS: 'running',
  RUNNING: 'running',
  DONE: 'finished',
  FINISHED: 'finished',
  SUCCEEDED: 'finished',
  FAILED: 'failed',
  TIMED_OUT: 'failed',
  CANCELLED: 'cancelled',
};

/** Jobs of a server ("ListJobs", "DescribeJob", "CancelJob", "QueryJobEvents"; beyond the specification). */
export class RestJobs implements Jobs {
  readonly #wire: Wire;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  async list(
    options: CallOptions & { pageToken?: string | undefined } = {},
  ): Promise<{ jobs: JobSummary[]; pageToken?: string }> {
    checkOptions('jobs.list', options, ['pageToken', 'signal']);
    const json = definedEntries({ page_token: options.pageToken });
    return this.#ask('ListJobs', undefined, json, options, (reply) => {
      const pageToken = reply.maybeText('page_token') || undefined;
      const jobs = reply.items('jobs').map((job) => this.#summary(job));
      return { jobs, ...(pageToken !== undefined && { pageToken }) };
    });
  }

  async describe(id: string, options: CallOptions = {}): Promise<JobDescription> {
    checkOptions('jobs.describe', options, ['signal']);
    const json = { job_id: checkText('jobs.describe', 'id', id) };
    return this.#ask('DescribeJob', id, json, options, (reply) => {
      const failure = reply.maybeObject('failure');
      const told = failure && {
        message: failure.text('message'),
        ...definedEntries({ phase: failure.maybeText('phase'), retryable: failure.maybeBoolean('retryable') }),
      };
      return {
        ...this.#summary(reply),
        ...definedEntries({ spec: reply.raw('spec'), result: reply.raw('result'), failure: told }),
      };
    });
  }

  async cancel(id: string, options: CallOptions = {}): Promise<void> {
    checkOptions('jobs.cancel', options, ['signal']);
    await this.#ask('CancelJob', id, { job_id: checkText('jobs.cancel', 'id', id) }, options, () => undefined);
  }

  async *events(id: string, options: CallOptions = {}): AsyncGenerator<RecordBatch, void, undefined> {
    checkOptions('jobs.events', options, ['signal']);
    const json = { job_id: checkText('jobs.events', 'id', id) };
    const { signal } = options;
    const context = { operation: 'QueryJobEvents', identifier: id };
    const { batches } = await withErrorContext(context, async () => {
      const response = await this.#wire.send({ operation: 'QueryJobEvents', json, accept: arrowStreamMime, signal });
      return readBatches(this.#wire, response, context, signal, undefined);
    });
    yield* batches;
  }

  /** A list has `state` and `created_at_millis`, a description has `job_state` and `creation_ms`. */
  #summary(reply: Reply): JobSummary {
    const word = reply.maybeText('job_state') ?? reply.text('state');
    const state = states[word.toUpperCase()];
    if (!state) throw this.#wire.unexpected(`a job with the unknown state "${word}"`);
    const millis = reply.maybeCount('creation_ms') ?? reply.maybeCount('created_at_millis');
    return {
      id: reply.text('job_id'),
      type: reply.text('job_type'),
      state,
      ...definedEntries({
        table: reply.maybeText('table'),
        created: millis === undefined ? undefined : new Date(millis),
      }),
    };
  }

  #ask<T>(
    operation: Operation,
    identifier: string | undefined,
    json: unknown,
    { signal }: CallOptions,
    read: (reply: Reply) => T,
  ): Promise<T> {
    return withErrorContext({ operation, identifier }, async () =>
      read(new Reply(this.#wire, await this.#wire.json({ operation, json, signal }))),
    );
  }
}
