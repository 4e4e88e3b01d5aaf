import { HeadBucketCommand } from '@aws-sdk/client-s3';
import { isRecord } from '#shared/records.ts';
import type { ClusterError } from '#cluster/errors.ts';
import { awsCall } from './awsErrors.ts';
import type { AwsIdentity } from './awsIdentity.ts';

/**
 * The region that a bucket is in. S3 says it to everybody, also where it refuses the question itself.
 * @throws ClusterError where there is no such bucket, or nobody answers
 */
export async function readBucketRegion(identity: AwsIdentity, bucket: string, signal: AbortSignal): Promise<string> {
  const client = identity.s3(identity.region);
  try {
    const reply = await awsCall(identity.question('s3:ListBucket', `the bucket ${bucket}`), () =>
      client.send(new HeadBucketCommand({ Bucket: bucket }), { abortSignal: signal }),
    );
    return reply.BucketRegion ?? identity.region;
  } catch (error) {
    // What awsCall throws has the reply's headers in its cause.
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
