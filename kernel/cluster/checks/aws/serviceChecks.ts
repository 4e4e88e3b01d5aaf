import { awsCodeOf } from '#cluster/aws/awsErrors.ts';
import { describeRoleFix, webIdentityTrustFix } from '#cluster/aws/awsFixes.ts';
import { clusterArnOf, type EksCluster } from '#cluster/aws/eksCluster.ts';
import { issuerName, oidcProviderArn } from '#cluster/aws/iamReads.ts';
import { readWebIdentityTrust, type WebIdentity } from '#cluster/aws/trustPolicy.ts';
import type { Check, CheckContext } from '#cluster/check.ts';
import type { ClusterError } from '#cluster/errors.ts';
import { fail, pass, skip, warn } from '#cluster/checkResults.ts';
import { kubectl } from '#cluster/fixes/commands.ts';
import { evidenceFor } from '#cluster/kube/kubeReads.ts';
import { podsOf, podsPath } from '#cluster/kube/objectReads.ts';
import type { Pod } from '#cluster/kube/pods.ts';
import { serviceAccountUser } from '#cluster/kube/serviceAccounts.ts';
import type { Finding } from '#cluster/result.ts';
import {
  failureAsFinding,
  awsAudience,
  awsCheck,
  isAwsDenied,
  clusterIfReadable,
  providerPlaceOf,
  roleIfReadable,
  awsEvidence,
  serviceRoleOf,
  unlessEksNamed,
  unlessOnAws,
} from './awsContext.ts';

/** Checks running pods. A pod that is older than the annotation has no role. */
export const awsPodChecks: readonly Check[] = [
  awsCheck({
    id: 'aws-pod-env',
    title: 'Pods have that role',
    severity: 'warning',
    needs: ['irsa-annotation'],
    skip: unlessOnAws,
    run: checkPods,
  }),
];

async function checkPods(context: CheckContext): Promise<Finding> {
  const { kube, profile } = context;
  const { namespace, serviceAccount } = profile;
  const role = await serviceRoleOf(context);
  const pods = (await podsOf(kube)).filter((pod) => pod.serviceAccount === serviceAccount);
  const evidence = evidenceFor(podsPath(kube), `${pods.length} under ${serviceAccount}`);
  const account = `${namespace}/${serviceAccount}`;
  if (pods.length === 0) return skip(`No pod runs under the service account ${account}.`, evidence);
  const without = pods.filter((pod) => !hasRole(pod, role)).map(({ name }) => name);
  if (without.length === 0) return pass(`Each pod under ${account} has ${role}.`, evidence);
  return warn(
    `${without.join(', ')} under ${account} ${without.length === 1 ? 'does' : 'do'} not have ${role}. The annotation was set after the pods started.`,
    {
      evidence: [evidence],
      // Deleting the pods is enough, because KubeRay recreates them.
      fix: { kind: 'command', command: kubectl(profile, 'delete', 'pod', ['-n', namespace], without) },
    },
  );
}

/**
 * Returns whether any container has the variables that EKS injects, with this role. One container is enough, because
 * sidecars may be excluded from the injection.
 */
const hasRole = ({ containers }: Pod, role: string): boolean =>
  containers.some(
    ({ variables }) => variables['AWS_ROLE_ARN'] === role && variables['AWS_WEB_IDENTITY_TOKEN_FILE'] !== undefined,
  );

/**
 * Whether the service account can assume its role, in the same way as its pods do, and find the cluster with the role.
 */
export const awsServiceChecks: readonly Check[] = [
  awsCheck({
    id: 'irsa-trust',
    title: 'Role trusts only this service account',
    severity: 'warning',
    needs: ['irsa-annotation', 'oidc-issuer'],
    skip: unlessEksNamed,
    run: checkTrust,
  }),
  awsCheck({
    id: 'irsa-assume',
    title: 'Service account may assume its role',
    severity: 'error',
    needs: ['irsa-annotation', 'irsa-token'],
    skip: unlessOnAws,
    run: checkExchange,
  }),
  awsCheck({
    id: 'irsa-describe',
    title: 'Service role may describe the cluster',
    severity: 'error',
    needs: ['irsa-assume'],
    skip: unlessEksNamed,
    run: async (context) => {
      const { aws, kube } = context;
      const roleArn = await serviceRoleOf(context);
      return failureAsFinding(
        async () => {
          const { name, status } = await aws.clusterAsService(roleArn, await kube.serviceAccountToken(awsAudience));
          return pass(
            `${roleArn} may describe the EKS cluster "${name}".`,
            awsEvidence(`eks:DescribeCluster ${name}`, status),
          );
        },
        {
          Forbidden: (error) => {
            const clusterArn = clusterArnOf(aws.place, roleArn);
            return fail(`${roleArn} may not describe the EKS cluster ${clusterArn}.`, {
              evidence: [isAwsDenied('eks:DescribeCluster', error)],
              fix: describeRoleFix(roleArn, aws.place.region, clusterArn),
            });
          },
        },
      );
    },
  }),
];

async function webIdentityOf(context: CheckContext, cluster: EksCluster, issuer: string): Promise<WebIdentity> {
  const { profile } = context;
  return {
    providerArn: oidcProviderArn(await providerPlaceOf(context, cluster), issuer),
    issuer: issuerName(issuer),
    audience: awsAudience,
    subject: serviceAccountUser(profile.namespace, profile.serviceAccount),
  };
}

async function checkTrust(context: CheckContext): Promise<Finding> {
  const { aws } = context;
  const [roleArn, cluster] = [await serviceRoleOf(context), await aws.cluster()];
  const identity = await webIdentityOf(context, cluster, cluster.issuer ?? '');
  return failureAsFinding(
    async () => {
      const role = await aws.role(roleArn);
      const { allows, problems, open } = readWebIdentityTrust(role.trust, identity);
      const evidence = [awsEvidence(`iam:GetRole ${role.name}`, JSON.stringify(role.trust.written))];
      if (allows === 'no')
        return warn(`The trust policy of ${roleArn} does not trust ${identity.subject}: ${problems.join('; ')}.`, {
          evidence,
          fix: webIdentityTrustFix(roleArn, identity, role.trust),
        });
      if (open !== undefined)
        return warn(`The trust policy of ${roleArn} trusts ${open}.`, {
          evidence,
          fix: {
            kind: 'advice',
            text: `Restrict it to one service account: "StringEquals": {"${identity.issuer}:sub": "${identity.subject}"}.`,
          },
        });
      const sure = allows === 'unsure' ? ', under conditions' : '';
      return pass(`The trust policy of ${roleArn} trusts ${identity.subject}${sure}.`, ...evidence);
    },
    {
      NotFound: (error) =>
        warn(`There is no role ${roleArn}, which the service account names.`, {
          evidence: [isAwsDenied('iam:GetRole', error)],
          fix: { kind: 'advice', text: 'Create the role, or set another one in the annotation.' },
        }),
    },
  );
}

async function checkExchange(context: CheckContext): Promise<Finding> {
  const { aws, kube } = context;
  const roleArn = await serviceRoleOf(context);
  const token = await kube.serviceAccountToken(awsAudience);
  const asked = `sts:AssumeRoleWithWebIdentity ${roleArn}`;
  const issuer = String(token.claims['iss']);
  const refusedToken = (error: ClusterError): Finding =>
    fail(`AWS does not accept the token of the service account for ${roleArn} (${awsCodeOf(error) ?? error.kind}).`, {
      evidence: [isAwsDenied(asked, error)],
      fix: {
        kind: 'advice',
        text: `IAM must have a provider for ${issuer} with the audience ${awsAudience} (see oidc-provider), and must be able to reach that address.`,
      },
    });
  return failureAsFinding(
    async () => {
      const { label } = await aws.service(roleArn, token);
      return pass(`The service account may assume ${roleArn}.`, awsEvidence(asked, `credentials of ${label}`));
    },
    {
      Forbidden: async (error) => {
        const cluster = await clusterIfReadable(context);
        const role = await roleIfReadable(context, roleArn);
        const identity = cluster && (await webIdentityOf(context, cluster, issuer));
        const problems = role && identity ? readWebIdentityTrust(role.trust, identity).problems : [];
        const why = problems.length > 0 ? `: in its trust policy, ${problems.join('; ')}` : '';
        return fail(`The service account may not assume ${roleArn}${why}.`, {
          evidence: [isAwsDenied(asked, error)],
          fix: identity && webIdentityTrustFix(roleArn, identity, role?.trust),
        });
      },
      InvalidRequest: refusedToken,
      NotFound: refusedToken,
      CredentialsExpired: refusedToken,
    },
  );
}
