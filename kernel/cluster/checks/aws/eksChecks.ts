import { accessEntryFix, awsCommand, describeRoleFix } from '#cluster/aws/awsFixes.ts';
import { eksAccess, pointsToCluster } from '#cluster/aws/connectEks.ts';
import { clusterArnOf } from '#cluster/aws/eksCluster.ts';
import type { Check, CheckContext } from '#cluster/check.ts';
import { fail, pass, unknown, warn } from '#cluster/checkResults.ts';
import type { KubeTarget } from '#cluster/kube/credential.ts';
import { stringAt, textsAt } from '#shared/fields.ts';
import { KubeConnection } from '#cluster/kube/kubeConnection.ts';
import type { Finding } from '#cluster/result.ts';
import { failureAsFinding, awsCheck, isAwsDenied, awsEvidence, unlessEksNamed } from './awsContext.ts';

const adminPolicy = 'AmazonEKSClusterAdminPolicy';

/** Whether the client finds the cluster and has access. */
export const awsEksChecks: readonly Check[] = [
  awsCheck({
    id: 'eks-describe',
    title: 'Client may describe the EKS cluster',
    severity: 'error',
    needs: ['aws-assume-client'],
    skip: unlessEksNamed,
    run: (context) =>
      failureAsFinding(() => describe(context), {
        Forbidden: async (error) => {
          const { aws } = context;
          const { arn } = await aws.client();
          const clusterArn = clusterArnOf(aws.place, arn);
          return fail(`${arn} may not describe the EKS cluster ${clusterArn}.`, {
            evidence: [isAwsDenied('eks:DescribeCluster', error)],
            fix: describeRoleFix(arn, aws.place.region, clusterArn),
          });
        },
        NotFound: (error) => {
          const { region, clusterName = '' } = context.aws.place;
          return fail(`There is no EKS cluster "${clusterName}" in ${region}.`, {
            evidence: [isAwsDenied('eks:DescribeCluster', error)],
            fix: awsCommand('eks list-clusters', { region }),
          });
        },
      }),
  }),
  awsCheck({
    id: 'eks-auth-mode',
    title: 'EKS accepts access entries',
    severity: 'error',
    needs: ['eks-describe'],
    skip: unlessEksNamed,
    run: async ({ aws }) => {
      const { name, region, authenticationMode: mode } = await aws.cluster();
      const evidence = [awsEvidence(`eks:DescribeCluster ${name}`, `accessConfig.authenticationMode: ${mode}`)];
      if (mode === 'API' || mode === 'API_AND_CONFIG_MAP')
        return pass(`The EKS cluster "${name}" uses access entries.`, ...evidence);
      return fail(`The EKS cluster "${name}" has the authentication mode ${mode}, which ignores access entries.`, {
        evidence,
        fix: awsCommand('eks update-cluster-config', {
          region,
          name,
          'access-config': 'authenticationMode=API_AND_CONFIG_MAP',
        }),
      });
    },
  }),
  awsCheck({
    id: 'eks-access-entry',
    title: 'Client has a STANDARD access entry',
    severity: 'error',
    needs: ['eks-auth-mode'],
    skip: unlessEksNamed,
    run: ({ aws }) =>
      failureAsFinding(
        async () => {
          const [{ arn }, { name }, entry] = await Promise.all([aws.principal(), aws.cluster(), aws.accessEntry()]);
          const evidence = [
            awsEvidence(
              `eks:DescribeAccessEntry ${arn}`,
              `type ${entry.type}, groups ${entry.groups.join(', ') || 'none'}`,
            ),
          ];
          if (entry.type === 'STANDARD')
            return pass(`${arn} has an access entry for the EKS cluster "${name}".`, ...evidence);
          return fail(
            `The access entry of ${arn} is of type ${entry.type}, which is for nodes and accepts no policies.`,
            {
              evidence,
              fix: {
                kind: 'advice',
                text: `Give the client a role that no node has; or delete the access entry of ${arn} for "${name}", and create it again with the type STANDARD.`,
              },
            },
          );
        },
        {
          NotFound: async (error) => {
            const [{ arn, isSure }, { name, region }] = [await aws.principal(), await aws.cluster()];
            if (!isSure)
              return unknown(
                `No access entry is found for ${arn}; the role may have a path, which only iam:GetRole reports, and you are not allowed to call it.`,
                isAwsDenied(`eks:DescribeAccessEntry ${arn}`, error),
              );
            return fail(`${arn} has no access entry for the EKS cluster "${name}".`, {
              evidence: [isAwsDenied(`eks:DescribeAccessEntry ${arn}`, error)],
              fix: accessEntryFix(region, name, arn),
            });
          },
        },
      ),
  }),
  awsCheck({
    id: 'eks-access-policy',
    title: 'Access entry gives cluster admin',
    severity: 'error',
    needs: ['eks-access-entry'],
    skip: unlessEksNamed,
    run: async ({ aws }) => {
      const [{ arn }, { name, region, partition }, entry, policies] = await Promise.all([
        aws.principal(),
        aws.cluster(),
        aws.accessEntry(),
        aws.accessPolicies(),
      ]);
      const shown = policies.map((one) => `${one.arn.split('/').at(-1)} (${[one.scope, ...one.namespaces].join(' ')})`);
      const evidence = [awsEvidence(`eks:ListAssociatedAccessPolicies ${arn}`, shown.join(', ') || 'none')];
      const admin = policies.filter((one) => one.arn.endsWith(`/${adminPolicy}`));
      if (admin.some(({ scope }) => scope === 'cluster'))
        return pass(`${arn} has ${adminPolicy} for the whole EKS cluster "${name}".`, ...evidence);
      const fix = awsCommand('eks associate-access-policy', {
        region,
        'cluster-name': name,
        'principal-arn': arn,
        'policy-arn': `arn:${partition}:eks::aws:cluster-access-policy/${adminPolicy}`,
        'access-scope': 'type=cluster',
      });
      if (admin.length > 0)
        return fail(
          `${arn} has ${adminPolicy} only for namespaces (${admin.flatMap((one) => one.namespaces).join(', ')}).`,
          {
            evidence,
            fix,
          },
        );
      if (entry.groups.length > 0)
        return warn(
          `${arn} has no ${adminPolicy}; it has the Kubernetes permissions of its groups ${entry.groups.join(', ')}.`,
          { evidence, fix },
        );
      return fail(`${arn} has an access entry, but without ${adminPolicy}.`, { evidence, fix });
    },
  }),
  awsCheck({
    id: 'eks-k8s-api',
    title: "Kubernetes accepts the client's token",
    severity: 'error',
    needs: ['eks-describe'],
    skip: unlessEksNamed,
    run: (context, signal) => askKubernetes(context, signal),
  }),
];

async function describe(context: CheckContext): Promise<Finding> {
  const { name, region, status, endpoint, version } = await context.aws.cluster();
  const evidence = [
    awsEvidence(
      `eks:DescribeCluster ${name}`,
      `${status}, Kubernetes ${version ?? 'of an unknown version'}, ${endpoint ?? 'no endpoint'}`,
    ),
  ];
  // A cluster that is being updated still works.
  if (status !== 'ACTIVE' && status !== 'UPDATING')
    return fail(`The EKS cluster "${name}" in ${region} is not running: its status is ${status}.`, {
      evidence,
      fix: awsCommand('eks wait cluster-active', { region, name }),
    });
  const elsewhere = await serverElsewhere(context, endpoint);
  if (elsewhere !== undefined)
    return warn(`The kubeconfig connects to ${elsewhere}, but the EKS cluster "${name}" is at ${endpoint}.`, {
      evidence,
      fix: awsCommand('eks update-kubeconfig', { region, name }),
    });
  return pass(`The EKS cluster "${name}" in ${region} is ${status}.`, ...evidence);
}

/** Returns the API server in the kubeconfig if it belongs to another cluster. */
async function serverElsewhere(context: CheckContext, endpoint = ''): Promise<string | undefined> {
  if (context.profile.auth.configMethod !== 'LOCAL') return undefined;
  const way = await wayOf(context);
  if (!way || hostOf(way.server) === hostOf(endpoint)) return undefined;
  return pointsToCluster(way, await context.aws.cluster()) ? undefined : way.server;
}

/**
 * Returns how the profile reaches its cluster. Returns `undefined` on failure, because other checks report the failure.
 */
const wayOf = ({ kube }: CheckContext): Promise<KubeTarget | undefined> =>
  kube.connection().then(
    ({ access }) => access.target,
    () => undefined,
  );

const hostOf = (address: string): string => (URL.canParse(address) ? new URL(address).host.toLowerCase() : address);

const reviewPath = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

async function askKubernetes(context: CheckContext, signal: AbortSignal): Promise<Finding> {
  const { clusterName = '', region } = context.aws.place;
  const [{ arn }, { endpoint }] = await Promise.all([context.aws.principal(), context.aws.cluster()]);
  const asked = `SelfSubjectReview at ${endpoint}`;
  const refused = (): Finding =>
    fail(`The Kubernetes API of "${clusterName}" rejects the token of ${arn}.`, {
      evidence: [awsEvidence(asked, '401 Unauthorized')],
      fix: accessEntryFix(region, clusterName, arn),
    });
  return failureAsFinding(
    async () => {
      const { username, groups } = await whoIsClient(context, signal);
      const saw = `${username}, groups ${groups.join(', ') || 'none'}`;
      return pass(`Kubernetes knows ${arn} as ${username}.`, awsEvidence(asked, saw));
    },
    { CredentialsRefused: refused, CredentialsExpired: refused },
  );
}

/** Returns the user that Kubernetes sees for the client's EKS token. With EKS_AUTH the whole run uses such a token. */
async function whoIsClient(
  context: CheckContext,
  signal: AbortSignal,
): Promise<{ readonly username: string; readonly groups: readonly string[] }> {
  const { aws, kube, hidden, profile } = context;
  if (profile.auth.configMethod === 'EKS_AUTH') return kube.whoami();
  const [{ identity }, cluster, way] = await Promise.all([aws.client(), aws.cluster(), wayOf(context)]);
  const login = { clusterName: cluster.name, region: aws.place.region, roleArn: undefined, profile: undefined };
  const access = eksAccess(cluster, { login, identity, hidden });
  // If the kubeconfig names the same cluster, its address is used. A private address is often reachable only through a
  // tunnel or a proxy, which the kubeconfig names.
  const connection = new KubeConnection(way && pointsToCluster(way, cluster) ? { ...access, target: way } : access);
  try {
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const { body } = await connection.request({ method: 'POST', path: reviewPath, body: review }, signal);
    const username = stringAt(body, 'status', 'userInfo', 'username') ?? 'a user without a name';
    return { username, groups: textsAt(body, 'status', 'userInfo', 'groups') };
  } finally {
    await connection.close();
  }
}
