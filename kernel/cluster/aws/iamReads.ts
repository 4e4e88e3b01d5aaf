import {
  DescribeAccessEntryCommand,
  ListAssociatedAccessPoliciesCommand,
  ListPodIdentityAssociationsCommand,
} from '@aws-sdk/client-eks';
import { GetOpenIDConnectProviderCommand, GetRoleCommand } from '@aws-sdk/client-iam';
import { AssumeRoleWithWebIdentityCommand } from '@aws-sdk/client-sts';
import { ClusterError, isClusterError } from '#cluster/errors.ts';
import type { SecretRedactor } from '#cluster/secretTexts.ts';
import { awsCall } from './awsErrors.ts';
import { AwsIdentity, keysOfReply, sessionName } from './awsIdentity.ts';
import { hideKeys } from './awsKeys.ts';
import { readArn, roleNameOf, roleOfSession } from './awsNames.ts';
import { type PolicyDocument, readPolicy } from './policyDocument.ts';

export type AwsRole = { readonly arn: string; readonly name: string; readonly trust: PolicyDocument };

/** @throws ClusterError NotFound if the role does not exist */
export async function readRole(identity: AwsIdentity, roleArn: string, signal: AbortSignal): Promise<AwsRole> {
  const name = roleNameOf(roleArn);
  const thing = `the role ${roleArn}`;
  const { Role: role } = await awsCall(identity.question('iam:GetRole', thing), () =>
    identity.iam.send(new GetRoleCommand({ RoleName: name }), { abortSignal: signal }),
  );
  const trust = readPolicy(role?.AssumeRolePolicyDocument ?? '');
  if (trust === undefined) throw new ClusterError('BadReply', `Can't parse the trust policy of ${thing}.`, '');
  return { arn: role?.Arn ?? roleArn, name, trust };
}

/** An issuer whose service account tokens IAM trusts. */
export type OidcProvider = { readonly arn: string; readonly audiences: readonly string[] };

/** Returns the name of an issuer in ARNs and conditions: its URL without `https://`. */
export const issuerName = (issuer: string): string => issuer.replace(/^https:\/\//, '').replace(/\/+$/, '');

/** @param where the account of the role that must trust the issuer; it may differ from the account of the cluster */
export const oidcProviderArn = ({ partition, account }: AccountPlace, issuer: string): string =>
  `arn:${partition}:iam::${account}:oidc-provider/${issuerName(issuer)}`;

export type AccountPlace = { readonly partition: string; readonly account: string };

/** @throws ClusterError NotFound if the provider does not exist */
export async function readOidcProvider(identity: AwsIdentity, arn: string, signal: AbortSignal): Promise<OidcProvider> {
  const question = identity.question('iam:GetOpenIDConnectProvider', `the identity provider ${arn}`);
  const reply = await awsCall(question, () =>
    identity.iam.send(new GetOpenIDConnectProviderCommand({ OpenIDConnectProviderArn: arn }), { abortSignal: signal }),
  );
  return { arn, audiences: reply.ClientIDList ?? [] };
}

/** An access entry of EKS. It gives an AWS principal access to a cluster. */
export type AccessEntry = { readonly type: string; readonly groups: readonly string[] };

/** @throws ClusterError NotFound if the principal has none */
export async function readAccessEntry(
  identity: AwsIdentity,
  { clusterName, principalArn }: { readonly clusterName: string; readonly principalArn: string },
  signal: AbortSignal,
): Promise<AccessEntry> {
  const thing = `an access entry of ${principalArn} for the EKS cluster "${clusterName}"`;
  const { accessEntry } = await awsCall(identity.question('eks:DescribeAccessEntry', thing), () =>
    identity.eks.send(new DescribeAccessEntryCommand({ clusterName, principalArn }), { abortSignal: signal }),
  );
  if (accessEntry === undefined) throw new ClusterError('BadReply', `The reply of EKS does not contain ${thing}.`, '');
  return { type: accessEntry.type ?? 'STANDARD', groups: accessEntry.kubernetesGroups ?? [] };
}

/** An EKS access policy of an access entry, and where the policy applies: the cluster, or some namespaces. */
export type AccessPolicy = { readonly arn: string; readonly scope: string; readonly namespaces: readonly string[] };

/** @throws ClusterError */
export async function readAccessPolicies(
  identity: AwsIdentity,
  { clusterName, principalArn }: { readonly clusterName: string; readonly principalArn: string },
  signal: AbortSignal,
): Promise<readonly AccessPolicy[]> {
  const thing = `the access policies of ${principalArn} for the EKS cluster "${clusterName}"`;
  const found: AccessPolicy[] = [];
  let nextToken: string | undefined;
  do {
    const asked = { clusterName, principalArn, ...(nextToken === undefined ? {} : { nextToken }) };
    const reply = await awsCall(identity.question('eks:ListAssociatedAccessPolicies', thing), () =>
      identity.eks.send(new ListAssociatedAccessPoliciesCommand(asked), { abortSignal: signal }),
    );
    for (const { policyArn, accessScope } of reply.associatedAccessPolicies ?? [])
      found.push({ arn: policyArn ?? '', scope: accessScope?.type ?? '', namespaces: accessScope?.namespaces ?? [] });
    nextToken = reply.nextToken;
  } while (nextToken !== undefined);
  return found;
}

/**
 * Returns the id of a service account's pod identity association, or `undefined` if there is none.
 * With such an association, EKS gives the pods of the service account a role.
 * @throws ClusterError
 */
export async function readPodIdentity(
  identity: AwsIdentity,
  asked: { readonly clusterName: string; readonly namespace: string; readonly serviceAccount: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const thing = `the pod identities of the EKS cluster "${asked.clusterName}"`;
  const { associations = [] } = await awsCall(identity.question('eks:ListPodIdentityAssociations', thing), () =>
    identity.eks.send(new ListPodIdentityAssociationsCommand(asked), { abortSignal: signal }),
  );
  return associations[0]?.associationId;
}

type WebIdentityOptions = {
  readonly roleArn: string;
  /** The token of the service account, for the audience `sts.amazonaws.com`. */
  readonly token: string;
  readonly region: string;
  readonly profile?: string | undefined;
  /** Default: `lance-catalog-check`. */
  readonly sessionName?: string | undefined;
  readonly hidden: SecretRedactor;
  readonly signal: AbortSignal;
};

/** Placeholders: the call is not signed, because the token identifies the caller. */
const noKeys = { accessKeyId: 'none', secretAccessKey: 'none' };

/**
 * Assumes a service account's role as its pods do, with a token from the cluster; needs no pod.
 * @throws ClusterError
 */
export async function assumeByWebIdentity(options: WebIdentityOptions): Promise<AwsIdentity> {
  const { roleArn, token, region, profile, hidden, signal } = options;
  const nobody = new AwsIdentity({ label: 'the service account', keys: noKeys, region, profile });
  const question = nobody.question('sts:AssumeRoleWithWebIdentity', `the role ${roleArn}`);
  const asked = {
    RoleArn: roleArn,
    RoleSessionName: options.sessionName ?? sessionName,
    WebIdentityToken: token,
    DurationSeconds: 900,
  };
  try {
    const reply = await awsCall(question, () =>
      nobody.sts.send(new AssumeRoleWithWebIdentityCommand(asked), { abortSignal: signal }),
    );
    const keys = keysOfReply(reply.Credentials, question);
    hideKeys(keys, hidden);
    return new AwsIdentity({ label: `the service account's role ${roleNameOf(roleArn)}`, keys, region, profile });
  } finally {
    nobody.close();
  }
}

/** A principal as access entries and trust policies name it. `isSure` is false if its path may be missing. */
export type AwsPrincipal = { readonly arn: string; readonly isSure: boolean };

/**
 * Returns the principal of an ARN. The principal of a session is its role. A session does not show the path of its
 * role, and single sign-on roles have a path, so IAM is queried for the role.
 * @param findRole reads a role from IAM; if it throws a ClusterError, the result has no path and `isSure` is false
 */
export async function readPrincipal(
  arn: string,
  findRole: (roleArn: string) => Promise<AwsRole>,
): Promise<AwsPrincipal> {
  const session = roleOfSession(arn);
  const { partition, resource } = readArn(arn) ?? {};
  if (!session && !resource?.startsWith('role/')) return { arn, isSure: true };
  const guess = session ? `arn:${partition}:iam::${session.account}:role/${session.name}` : arn;
  try {
    return { arn: (await findRole(guess)).arn, isSure: true };
  } catch (error) {
    if (!isClusterError(error)) throw error;
    return { arn: guess, isSure: false };
  }
}
