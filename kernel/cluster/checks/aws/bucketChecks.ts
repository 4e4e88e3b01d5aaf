import { keyRefusalOf } from '#cluster/aws/awsErrors.ts';
import { bucketPolicyFix, kmsKeyFix, createBucketFix } from '#cluster/aws/awsFixes.ts';
import type { AwsIdentity } from '#cluster/aws/awsIdentity.ts';
import { bucketActions, type BucketStep } from '#cluster/aws/bucketProbe.ts';
import type { Check, CheckContext } from '#cluster/check.ts';
import type { CheckId } from '#cluster/checkIds.ts';
import type { ClusterError } from '#cluster/errors.ts';
import { fail, pass, skip, warn } from '#cluster/checkResults.ts';
import type { Finding } from '#cluster/result.ts';
import {
  failureAsFinding,
  awsAudience,
  awsCheck,
  isAwsDenied,
  awsEvidence,
  serviceRoleOf,
  unlessBucket,
} from './awsContext.ts';

/** An identity that works with the bucket, and the checks that prove that it can be assumed. */
type Party = {
  readonly ids: Readonly<Record<BucketStep, CheckId>>;
  readonly needs: readonly CheckId[];
  readonly title: string;
  /** The identity, and the ARN to grant permissions to. */
  readonly who: (context: CheckContext) => Promise<{ readonly identity: AwsIdentity; readonly arn: string }>;
};

const client: Party = {
  ids: {
    list: 'aws-client-bucket-list',
    put: 'aws-client-bucket-put',
    head: 'aws-client-bucket-head',
    get: 'aws-client-bucket-get',
    delete: 'aws-client-bucket-delete',
  },
  needs: ['aws-assume-client', 'bucket-uri'],
  title: 'Client',
  who: ({ aws }) => aws.client(),
};

const service: Party = {
  ids: {
    list: 'irsa-bucket-list',
    put: 'irsa-bucket-put',
    head: 'irsa-bucket-head',
    get: 'irsa-bucket-get',
    delete: 'irsa-bucket-delete',
  },
  needs: ['irsa-assume', 'bucket-uri'],
  title: 'Service role',
  who: async (context) => {
    const arn = await serviceRoleOf(context);
    return { identity: await context.aws.service(arn, await context.kube.serviceAccountToken(awsAudience)), arn };
  },
};

const titles: Readonly<Record<BucketStep, string>> = {
  list: 'may list the bucket',
  put: 'may write into the bucket',
  head: 'may look into the bucket',
  get: 'may read from the bucket',
  delete: 'may delete from the bucket',
};

/** The five operations of a backfill on its bucket; each check performs one. */
function bucketChecks(party: Party): readonly Check[] {
  const list = awsCheck({
    id: party.ids.list,
    title: `${party.title} ${titles.list}`,
    severity: 'error',
    needs: party.needs,
    skip: unlessBucket,
    run: async (context, signal) => {
      const { identity, arn } = await party.who(context);
      const { bucket, prefix } = context.aws.bucket;
      const asked = `s3:ListObjectsV2 s3://${bucket}/${prefix}`;
      return failureAsFinding(
        async () => {
          const probe = await context.aws.probe(identity, context.leftovers);
          return pass(`${arn} may list s3://${bucket}/${prefix}.`, awsEvidence(asked, await probe.list(signal)));
        },
        refusals(context, { arn, step: 'list', asked }),
      );
    },
  });
  const writing = (['put', 'head', 'get', 'delete'] as const).map((step) =>
    awsCheck({
      id: party.ids[step],
      title: `${party.title} ${titles[step]}`,
      severity: 'error',
      // The other steps need the step that puts the object, because they use the object.
      needs: step === 'put' ? party.needs : [...party.needs, party.ids.put],
      // The check itself does not retry: all steps share one probe, and the AWS library retries its requests.
      retries: 0,
      writes: 'write a small object into the bucket and remove it',
      skip: unlessBucket,
      run: async (context) => {
        const { identity, arn } = await party.who(context);
        const asked = bucketActions[step];
        const ask = async (): Promise<Finding> => {
          const probe = await context.aws.probe(identity, context.leftovers);
          const outcome = await probe.outcome(step);
          if ('reason' in outcome) return skip(outcome.reason);
          if ('error' in outcome) throw outcome.error;
          return pass(
            `${arn} ${titles[step]} ${probe.place.bucket}.`,
            awsEvidence(`${asked} ${probe.uri}`, outcome.saw),
          );
        };
        return failureAsFinding(ask, refusals(context, { arn, step, asked }));
      },
    }),
  );
  return [list, ...writing];
}

/** Findings for a bucket that is missing, or that `arn` may not use. */
function refusals(
  { aws }: CheckContext,
  { arn, step, asked }: { readonly arn: string; readonly step: BucketStep; readonly asked: string },
) {
  const { bucket } = aws.bucket;
  const refused = (error: ClusterError): Finding => {
    const key = keyRefusalOf(error);
    if (key)
      return fail(`${arn} may not use the key that the bucket ${bucket} is encrypted with (${key.action}).`, {
        evidence: [isAwsDenied(asked, error)],
        fix: kmsKeyFix(arn, key),
      });
    return fail(`${arn} ${titles[step].replace('may ', 'may not ')} ${bucket}.`, {
      evidence: [isAwsDenied(asked, error)],
      fix: bucketPolicyFix(arn, aws.bucket, step),
    });
  };
  const missing = (error: ClusterError): Finding =>
    fail(`There is no bucket ${bucket}.`, {
      evidence: [isAwsDenied(asked, error)],
      fix: createBucketFix(bucket, aws.place.region),
    });
  return { Forbidden: refused, NotFound: missing };
}

export const awsClientBucketChecks = bucketChecks(client);
export const awsServiceBucketChecks = bucketChecks(service);

/** The regions should be the same, because traffic between regions is slow and costs money. */
export const awsRegionCheck: Check = awsCheck({
  id: 'aws-region',
  title: "Bucket is in the cluster's region",
  severity: 'warning',
  needs: ['aws-assume-client', 'bucket-uri'],
  skip: unlessBucket,
  run: ({ aws }) => {
    const { bucket } = aws.bucket;
    const { region } = aws.place;
    return failureAsFinding(
      async () => {
        const found = await aws.bucketRegion((await aws.client()).identity);
        const evidence = awsEvidence(`s3:HeadBucket ${bucket}`, found);
        if (found === region) return pass(`The bucket ${bucket} is in ${region}, like the cluster.`, evidence);
        return warn(
          `The bucket ${bucket} is in ${found}, but the cluster is in ${region}: all rows travel between the regions.`,
          {
            evidence: [evidence],
            fix: { kind: 'advice', text: `Use a bucket in ${region}, or a cluster in ${found}.` },
          },
        );
      },
      {
        NotFound: (error) =>
          warn(`There is no bucket ${bucket}.`, {
            evidence: [isAwsDenied(`s3:HeadBucket ${bucket}`, error)],
            fix: createBucketFix(bucket, region),
          }),
      },
    );
  },
});
