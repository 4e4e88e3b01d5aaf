import type { Check } from '#cluster/check.ts';
import { checkIds } from '#cluster/checkIds.ts';
import { awsClientBucketChecks, awsRegionCheck, awsServiceBucketChecks } from '#cluster/checks/aws/bucketChecks.ts';
import { awsClientChecks } from '#cluster/checks/aws/clientChecks.ts';
import { awsEksChecks } from '#cluster/checks/aws/eksChecks.ts';
import { awsIssuerChecks } from '#cluster/checks/aws/issuerChecks.ts';
import { awsPodChecks, awsServiceChecks } from '#cluster/checks/aws/serviceChecks.ts';
import { gcpChecks } from '#cluster/checks/gcp/gcpChecks.ts';
import { catalogChecks } from './catalogChecks.ts';
import { connectionChecks } from './connectionChecks.ts';
import { identityChecks } from './identityChecks.ts';
import { nodeChecks } from './nodeChecks.ts';
import { profileChecks } from './profileChecks.ts';
import { versionChecks } from './versionChecks.ts';

/** The checks of EKS, its roles and the bucket. Some run as the user, others as the service account. */
const awsChecks: readonly Check[] = [
  ...awsClientChecks,
  ...awsEksChecks,
  awsRegionCheck,
  ...awsClientBucketChecks,
  ...awsIssuerChecks,
  ...awsServiceChecks,
  ...awsServiceBucketChecks,
  ...awsPodChecks,
];

const order = new Map(checkIds.map((id, index) => [id, index]));
const checkRank = ({ id }: Check): number => order.get(id) ?? checkIds.length;

/** Every check, in the order of the ids. Reports have the same order. */
export const allChecks: readonly Check[] = [
  ...profileChecks,
  ...connectionChecks,
  ...versionChecks,
  ...identityChecks,
  ...nodeChecks,
  ...awsChecks,
  ...gcpChecks,
  ...catalogChecks,
].toSorted((a, b) => checkRank(a) - checkRank(b));
