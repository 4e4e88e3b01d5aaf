import type { Fix } from '#cluster/fixes/fix.ts';
import type { BucketLocation } from '#cluster/profile.ts';
import { shellCommand } from '#cluster/fixes/commands.ts';
import { bucketActions, type BucketStep } from './bucketProbe.ts';
import { readArn, roleNameOf, roleOfSession } from './awsNames.ts';
import type { PolicyDocument } from './policyDocument.ts';
import type { KmsAccessDenied } from './awsErrors.ts';
import type { WebIdentity } from './trustPolicy.ts';

const version = '2012-10-17';

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Builds an AWS command line from a subcommand such as `eks wait` and options. Option names have no leading dashes. */
function awsLine(verb: string, options: Readonly<Record<string, string>>): string {
  const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  return shellCommand('aws', ...verb.split(' '), ...words);
}

export const awsCommand = (verb: string, options: Readonly<Record<string, string>>): Fix => ({
  kind: 'command',
  command: awsLine(verb, options),
});

/** Gives a principal access to a cluster. */
export const accessEntryFix = (region: string, clusterName: string, principalArn: string): Fix =>
  awsCommand('eks create-access-entry', {
    region,
    'cluster-name': clusterName,
    'principal-arn': principalArn,
    type: 'STANDARD',
  });

/** The command has the URL of the bucket, because `aws s3` commands take URLs. */
export const createBucketFix = (bucket: string, region: string): Fix => ({
  kind: 'command',
  command: shellCommand('aws', 's3', 'mb', `s3://${bucket}`, '--region', region),
});

/** Gives a role rights in a separate policy, so that no existing policy of the role is replaced. */
function rolePolicy(roleArn: string, policyName: string, statement: Readonly<Record<string, unknown>>): Fix {
  const role = roleNameOf(roleArn);
  const file = `${policyName}.json`;
  return {
    kind: 'document',
    title: `${file}: policy for the role ${role}`,
    language: 'json',
    text: json({ Version: version, Statement: [{ Effect: 'Allow', ...statement }] }),
    command: awsLine('iam put-role-policy', {
      'role-name': role,
      'policy-name': policyName,
      'policy-document': `file://${file}`,
    }),
  };
}

/** Returns advice for a principal that is not a role. Only an administrator knows where its rights come from. */
const askFor = (action: string, resource: string): Fix => ({
  kind: 'advice',
  text: `Ask the administrator of the AWS account for ${action} on ${resource}.`,
});

const isRole = (arn: string): boolean => /^arn:[^:]+:iam::\d+:role\//.test(arn);

/** Allows a principal to describe a cluster in EKS. */
export function describeRoleFix(who: string, region: string, clusterArn: string): Fix {
  const statement = { Action: ['eks:DescribeCluster'], Resource: clusterArn };
  return isRole(who)
    ? rolePolicy(who, 'lance-catalog-eks', statement)
    : askFor('eks:DescribeCluster', `${clusterArn} in ${region}`);
}

/**
 * Allows a role to list the bucket, or allows it all object operations of a backfill.
 * One command fixes all object operations, whichever of them failed. For another principal, returns advice.
 */
export function bucketPolicyFix(who: string, place: BucketLocation, step: BucketStep): Fix {
  const bucket = `arn:${readArn(who)?.partition ?? 'aws'}:s3:::${place.bucket}`;
  const objects = `${bucket}/${place.prefix === '' ? '' : `${place.prefix}/`}*`;
  if (!isRole(who)) return askFor(bucketActions[step], step === 'list' ? bucket : objects);
  return step === 'list'
    ? rolePolicy(who, 'lance-catalog-bucket-list', { Action: ['s3:ListBucket'], Resource: bucket })
    : rolePolicy(who, 'lance-catalog-bucket-objects', {
        Action: ['s3:GetObject', 's3:PutObject', 's3:DeleteObject'],
        Resource: objects,
      });
}

/** Allows a principal to use the key that encrypts a bucket's objects. */
export const kmsKeyFix = (who: string, { action, key }: KmsAccessDenied): Fix =>
  isRole(who)
    ? rolePolicy(who, 'lance-catalog-key', { Action: ['kms:GenerateDataKey', 'kms:Decrypt'], Resource: key })
    : askFor(action, key);

/**
 * Allows a caller to assume a role. If the caller is a session, the policy names the role of the session, because a
 * session ends.
 */
export const callerTrustFix = (roleArn: string, callerArn: string, policy: PolicyDocument | undefined): Fix =>
  trustFix(roleArn, policy, { Effect: 'Allow', ...principalOf(callerArn), Action: 'sts:AssumeRole' });

/**
 * Returns the part of a policy statement that names a caller.
 * A single sign-on role has a path, which may include the region. The ARN of its session does not show the path.
 * Without the path, the policy can't name the role as the principal, because IAM rejects a principal that does not
 * exist. So a condition names the role instead.
 */
function principalOf(callerArn: string): Readonly<Record<string, unknown>> {
  const session = roleOfSession(callerArn);
  if (session === undefined) return { Principal: { AWS: callerArn } };
  const roles = `arn:${readArn(callerArn)?.partition ?? 'aws'}:iam::${session.account}`;
  if (!session.name.startsWith('AWSReservedSSO_')) return { Principal: { AWS: `${roles}:role/${session.name}` } };
  const arns = `${roles}:role/aws-reserved/sso.amazonaws.com/*${session.name}`;
  return { Principal: { AWS: `${roles}:root` }, Condition: { ArnLike: { 'aws:PrincipalArn': arns } } };
}

/** Allows one service account to assume a role. */
export function webIdentityTrustFix(
  roleArn: string,
  { providerArn, issuer, audience, subject }: WebIdentity,
  policy: PolicyDocument | undefined,
): Fix {
  return trustFix(roleArn, policy, {
    Effect: 'Allow',
    Principal: { Federated: providerArn },
    Action: 'sts:AssumeRoleWithWebIdentity',
    Condition: { StringEquals: { [`${issuer}:aud`]: audience, [`${issuer}:sub`]: subject } },
  });
}

/**
 * Adds a statement to a trust policy. A trust policy can only be replaced as a whole. So if the current policy is not
 * readable, the fix contains only the statement, and its command prints the policy to which the user must add the
 * statement.
 */
function trustFix(roleArn: string, policy: PolicyDocument | undefined, statement: unknown): Fix {
  const role = roleNameOf(roleArn);
  if (policy === undefined)
    return {
      kind: 'document',
      title: `Statement to add to the trust policy of the role ${role}`,
      language: 'json',
      text: json(statement),
      command: awsLine('iam get-role', { 'role-name': role, query: 'Role.AssumeRolePolicyDocument' }),
    };
  return {
    kind: 'document',
    title: `trust-policy.json: trust policy of the role ${role}, with the added statement`,
    language: 'json',
    text: json({ Version: version, Statement: [...policy.written, statement] }),
    command: awsLine('iam update-assume-role-policy', {
      'role-name': role,
      'policy-document': 'file://trust-policy.json',
    }),
  };
}
