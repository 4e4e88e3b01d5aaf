import { randomUUID } from 'node:crypto';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { ClusterError, isClusterError } from '#cluster/errors.ts';
import type { CleanupList } from '#cluster/cleanupList.ts';
import type { BucketLocation } from '#cluster/profile.ts';
import { isRecord } from '#shared/records.ts';
import { awsCall } from './awsErrors.ts';
import type { AwsIdentity } from './awsIdentity.ts';

/** The object operations of a backfill, in the order of the probe. */
const bucketSteps = ['list', 'put', 'head', 'get', 'delete'] as const;
export type BucketStep = (typeof bucketSteps)[number];

/** The permission that each step needs. The step `head` needs the permission to read. */
export const bucketActions: Readonly<Record<BucketStep, string>> = {
  list: 's3:ListBucket',
  put: 's3:PutObject',
  head: 's3:GetObject',
  get: 's3:GetObject',
  delete: 's3:DeleteObject',
};

/** The result of a step, the error that it failed with, or the reason why it did not run. */
type StepOutcome = { readonly saw: string } | { readonly error: ClusterError } | { readonly reason: string };

const body = 'Written by the cluster checks of Lance Catalog, and removed again at once.\n';

/**
 * Probes a bucket with an identity: lists it, then writes, heads, reads and deletes one object with a unique name.
 * Registers the object for cleanup before the write, so that the object is removed however the run ends.
 */
export class BucketProbe {
  readonly place: BucketLocation;
  readonly key: string;
  readonly #identity: AwsIdentity;
  readonly #region: string;
  readonly #leftovers: CleanupList;
  readonly #signal: AbortSignal;
  #steps: Promise<ReadonlyMap<BucketStep, StepOutcome>> | undefined;

  constructor(identity: AwsIdentity, place: BucketLocation, options: ProbeOptions) {
    this.#identity = identity;
    this.#region = options.region;
    this.#leftovers = options.leftovers;
    this.#signal = options.signal;
    this.place = place;
    this.key = `${place.prefix === '' ? '' : `${place.prefix}/`}.lance-catalog-probe-${randomUUID()}`;
  }

  /** The `s3://` URI of the object, for display. */
  get uri(): string {
    return `s3://${this.place.bucket}/${this.key}`;
  }

  /** Lists the bucket below the prefix. Leaves nothing behind. @throws ClusterError */
  async list(signal: AbortSignal): Promise<string> {
    const { bucket, prefix } = this.place;
    const reply = await this.#ask('list', () =>
      this.#s3.send(
        new ListObjectsV2Command({ Bucket: bucket, MaxKeys: 1, ...(prefix === '' ? {} : { Prefix: `${prefix}/` }) }),
        { abortSignal: signal },
      ),
    );
    return (reply.KeyCount ?? 0) > 0 ? 'objects' : 'no objects';
  }

  /** Returns the outcome of a step on the probe object. The first call runs all these steps in order. */
  async outcome(step: Exclude<BucketStep, 'list'>): Promise<StepOutcome> {
    this.#steps ??= this.#takeSteps();
    return (
      (await this.#steps).get(step) ?? { reason: 'This step did not run because the object could not be written.' }
    );
  }

  get #s3() {
    return this.#identity.s3(this.#region);
  }

  get #object() {
    return { Bucket: this.place.bucket, Key: this.key };
  }

  #ask<T>(step: BucketStep, call: () => Promise<T>): Promise<T> {
    const thing = step === 'list' ? `the bucket ${this.place.bucket}` : this.uri;
    return awsCall(this.#identity.question(bucketActions[step], thing), call);
  }

  async #takeSteps(): Promise<ReadonlyMap<BucketStep, StepOutcome>> {
    const outcomes = new Map<BucketStep, StepOutcome>();
    const take = async (step: BucketStep, how: () => Promise<string>): Promise<void> => {
      outcomes.set(step, await outcomeOf(how));
    };
    const putting = outcomeOf(() => this.#put());
    const leftover = this.#leftovers.add(`The object ${this.uri}`, async (signal) => {
      await putting;
      await this.#delete(signal);
    });
    const put = await putting;
    outcomes.set('put', put);
    // If the write was refused, there is no object to remove. After a broken connection there may be one.
    if ('error' in put && put.error.status !== undefined && put.error.status < 500) leftover.forget();
    // If the write failed, the further steps are skipped, because they would fail only for the missing object.
    if (!('saw' in put)) return outcomes;
    await take('head', () => this.#head());
    await take('get', () => this.#get());
    await take('delete', async () => {
      await leftover.remove();
      return 'removed';
    });
    return outcomes;
  }

  /**
   * The write is not canceled when the run stops: it ends soon, and its result shows whether there is an object to
   * remove.
   */
  async #put(): Promise<string> {
    const asked = { ...this.#object, Body: body, ContentType: 'text/plain' };
    await this.#ask('put', () => this.#s3.send(new PutObjectCommand(asked)));
    return `${body.length} bytes written`;
  }

  async #head(): Promise<string> {
    const { ContentLength: length } = await this.#ask('head', () =>
      this.#s3.send(new HeadObjectCommand(this.#object), { abortSignal: this.#signal }),
    );
    return `${length ?? 'an unknown number of'} bytes`;
  }

  async #get(): Promise<string> {
    const text = await this.#ask('get', async () => {
      const reply = await this.#s3.send(new GetObjectCommand(this.#object), { abortSignal: this.#signal });
      return await reply.Body?.transformToString();
    });
    if (text !== body)
      throw new ClusterError(
        'BadReply',
        `S3 returned other bytes for "${this.uri}" than were written.`,
        'Check for a proxy between this machine and S3 that changes data.',
      );
    return 'the bytes that were written';
  }

  async #delete(signal: AbortSignal): Promise<void> {
    await this.#ask('delete', () => this.#s3.send(new DeleteObjectCommand(this.#object), { abortSignal: signal }));
  }
}

type ProbeOptions = {
  /** The bucket's region. */
  readonly region: string;
  readonly leftovers: CleanupList;
  readonly signal: AbortSignal;
};

async function outcomeOf(how: () => Promise<string>): Promise<StepOutcome> {
  try {
    return { saw: await how() };
  } catch (error) {
    if (isClusterError(error)) return { error };
    throw error;
  }
}

/**
 * Reads the region of a bucket. S3 reports the region to every client, even to a client whose request it refuses.
 * @throws ClusterError if the bucket does not exist or S3 does not respond
 */
export async function readBucketRegion(identity: AwsIdentity, bucket: string, signal: AbortSignal): Promise<string> {
  const client = identity.s3(identity.region);
  try {
    const reply = await awsCall(identity.question('s3:ListBucket', `the bucket ${bucket}`), () =>
      client.send(new HeadBucketCommand({ Bucket: bucket }), { abortSignal: signal }),
    );
    return reply.BucketRegion ?? identity.region;
  } catch (error) {
    // The errors of awsCall have the headers of the reply in their cause.
    const region = regionOf((error as ClusterError).cause);
    if (region === undefined) throw error;
    return region;
  }
}

function regionOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || !('$response' in cause) || !isRecord(cause.$response)) return undefined;
  const { headers } = cause.$response;
  const region = isRecord(headers) ? headers['x-amz-bucket-region'] : undefined;
  return typeof region === 'string' && /^[a-z0-9-]+$/.test(region) ? region : undefined;
}
