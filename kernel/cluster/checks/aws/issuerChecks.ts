import { awsCommand } from '#cluster/aws/awsFixes.ts';
import { readArn } from '#cluster/aws/awsNames.ts';
import { issuerName, oidcProviderArn } from '#cluster/aws/iamReads.ts';
import type { Check, CheckContext } from '#cluster/check.ts';
import { fail, pass, skip } from '#cluster/checkResults.ts';
import { kubectl, manifestFix } from '#cluster/fixes/commands.ts';
import type { Fix } from '#cluster/fixes/fix.ts';
import { serviceAccountPath, serviceAccountUser } from '#cluster/kube/serviceAccounts.ts';
import type { Finding } from '#cluster/result.ts';
import {
  failureAsFinding,
  awsAudience,
  awsCheck,
  isAwsDenied,
  clusterIfReadable,
  podIdentityOf,
  providerPlaceOf,
  roleAnnotation,
  awsEvidence,
  unlessEksNamed,
  unlessOnAws,
} from './awsContext.ts';

/** Checks of the token issuer that AWS must trust, and of the annotation and the token of the service account. */
export const awsIssuerChecks: readonly Check[] = [
  awsCheck({
    id: 'oidc-issuer',
    title: 'EKS cluster has a token issuer',
    severity: 'error',
    needs: ['eks-describe'],
    skip: unlessEksNamed,
    run: async ({ aws }) => {
      const { name, issuer } = await aws.cluster();
      const evidence = [awsEvidence(`eks:DescribeCluster ${name}`, `identity.oidc.issuer: ${issuer ?? 'none'}`)];
      return issuer === undefined
        ? fail(`The EKS cluster "${name}" has no OIDC issuer, so AWS can't identify its pods.`, {
            evidence,
            fix: { kind: 'advice', text: `Wait until "${name}" is ACTIVE; every EKS cluster gets an issuer.` },
          })
        : pass(`Tokens of the EKS cluster "${name}" are issued by ${issuer}.`, ...evidence);
    },
  }),
  awsCheck({
    id: 'oidc-provider',
    title: "IAM trusts the cluster's issuer",
    severity: 'error',
    needs: ['oidc-issuer'],
    skip: unlessEksNamed,
    run: async (context) => {
      const { aws } = context;
      const cluster = await aws.cluster();
      const { issuer = '' } = cluster;
      const arn = oidcProviderArn(await providerPlaceOf(context, cluster), issuer);
      const asked = `iam:GetOpenIDConnectProvider ${arn}`;
      return failureAsFinding(
        async () => {
          const { audiences } = await aws.oidcProvider(arn);
          const evidence = [awsEvidence(asked, `audiences ${audiences.join(', ') || 'none'}`)];
          if (audiences.includes(awsAudience)) return pass(`IAM has a provider for ${issuer}.`, ...evidence);
          return fail(`The IAM provider for ${issuer} does not accept tokens for ${awsAudience}.`, {
            evidence,
            fix: awsCommand('iam add-client-id-to-open-id-connect-provider', {
              'open-id-connect-provider-arn': arn,
              'client-id': awsAudience,
            }),
          });
        },
        {
          NotFound: async (error) => {
            const evidence = [isAwsDenied(asked, error)];
            if ((await podIdentityOf(context)) !== undefined)
              return skip(
                'IAM has no OpenID Connect provider for the cluster and needs none with EKS Pod Identity.',
                ...evidence,
              );
            return fail(`IAM has no OpenID Connect provider for ${issuer}, so AWS rejects the tokens of the cluster.`, {
              evidence,
              fix: awsCommand('iam create-open-id-connect-provider', { url: issuer, 'client-id-list': awsAudience }),
            });
          },
        },
      );
    },
  }),
  awsCheck({
    id: 'irsa-annotation',
    title: 'Service account names its role',
    severity: 'error',
    needs: ['sa-exists'],
    skip: unlessOnAws,
    run: checkAnnotation,
  }),
  awsCheck({
    id: 'irsa-token',
    title: 'Cluster signs a token for AWS',
    severity: 'error',
    needs: ['sa-exists'],
    skip: unlessOnAws,
    run: checkToken,
  }),
];

async function checkAnnotation(context: CheckContext): Promise<Finding> {
  const { aws, kube, profile } = context;
  const account = await kube.serviceAccount();
  const path = serviceAccountPath(profile.namespace, profile.serviceAccount);
  const annotation = account?.annotations[roleAnnotation];
  const evidence = [{ asked: `GET ${path}`, saw: `${roleAnnotation}: ${annotation ?? 'not set'}` }];
  const wanted = aws.place.serviceRole;
  const name = `The service account ${profile.namespace}/${profile.serviceAccount}`;
  const fix = wanted === undefined ? undefined : annotationFix(profile, wanted);
  const association = annotation === undefined ? await podIdentityOf(context) : undefined;
  if (association !== undefined)
    return skip(
      `${name} gets its role from EKS Pod Identity (${association}), which works only in pods: the role's permissions can't be tested from here.`,
      ...evidence,
      awsEvidence('eks:ListPodIdentityAssociations', association),
    );
  if (annotation === undefined)
    return fail(`${name} has no role (annotation ${roleAnnotation}), so its pods have no permissions in AWS.`, {
      evidence,
      fix: fix ?? {
        kind: 'advice',
        text: `Annotate the service account with the ARN of its role: ${roleAnnotation}=arn:aws:iam::ACCOUNT:role/NAME. If the profile sets aws.serviceRole, this check offers a fix that adds the annotation.`,
      },
    });
  const parts = readArn(annotation.trim());
  if (parts?.service !== 'iam' || !parts.resource.startsWith('role/'))
    return fail(`${name} names "${annotation}", which is not the ARN of a role.`, {
      evidence,
      fix: fix ?? { kind: 'advice', text: 'Write arn:aws:iam::123456789012:role/NAME into the annotation.' },
    });
  if (wanted !== undefined && wanted !== annotation.trim())
    return fail(`${name} names the role ${annotation}, but the profile has ${wanted}.`, { evidence, fix });
  return pass(`${name} names the role ${annotation}.`, ...evidence);
}

function annotationFix(profile: CheckContext['profile'], roleArn: string): Fix {
  const { namespace, serviceAccount: name } = profile;
  const account = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, namespace, annotations: { [roleAnnotation]: roleArn } },
  };
  const line = kubectl(
    profile,
    'annotate',
    'serviceaccount',
    name,
    ['-n', namespace],
    `${roleAnnotation}=${roleArn}`,
    '--overwrite',
  );
  return manifestFix(profile, [account], line);
}

async function checkToken(context: CheckContext): Promise<Finding> {
  const { kube, profile } = context;
  const { claims } = await kube.serviceAccountToken(awsAudience);
  const [subject, issuer, audience] = [claims['sub'], claims['iss'], claims['aud']].map(String);
  const path = serviceAccountPath(profile.namespace, profile.serviceAccount);
  const evidence = [
    { asked: `POST ${path}/token for ${awsAudience}`, saw: `sub ${subject}, iss ${issuer}, aud ${audience}` },
  ];
  const wanted = serviceAccountUser(profile.namespace, profile.serviceAccount);
  if (subject !== wanted) return fail(`The token is for ${subject} instead of ${wanted}.`, { evidence });
  const cluster = await clusterIfReadable(context);
  if (cluster?.issuer !== undefined && issuerName(cluster.issuer) !== issuerName(issuer ?? ''))
    return fail(
      `The token is issued by ${issuer}, but the issuer of the EKS cluster "${cluster.name}" is ${cluster.issuer}.`,
      {
        evidence,
        fix: {
          kind: 'advice',
          text: 'The kubeconfig connects to another cluster than "aws.clusterName" of the profile. Change one of them.',
        },
      },
    );
  return pass(`The cluster signs tokens for ${subject} with the audience ${awsAudience}.`, ...evidence);
}
