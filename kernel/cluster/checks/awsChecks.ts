import type { Check } from '#cluster/check.ts';
import { awsClientBucketChecks, awsRegionCheck, awsServiceBucketChecks } from './awsBucketChecks.ts';
import { awsClientChecks } from './awsClientChecks.ts';
import { awsEksChecks } from './awsEksChecks.ts';
import { awsIssuerChecks } from './awsIssuerChecks.ts';
import { awsPodChecks } from './awsPodChecks.ts';
import { awsServiceChecks } from './awsServiceChecks.ts';

/** EKS, its roles and the bucket, as the person and as the service account. */
export const awsChecks: readonly Check[] = [
  ...awsClientChecks,
  ...awsEksChecks,
  awsRegionCheck,
  ...awsClientBucketChecks,
  ...awsIssuerChecks,
  ...awsServiceChecks,
  ...awsServiceBucketChecks,
  ...awsPodChecks,
];
