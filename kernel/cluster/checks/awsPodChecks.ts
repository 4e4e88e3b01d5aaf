import type { Check, Finding } from '#cluster/check.ts';
import type { CheckContext } from '#cluster/context.ts';
import { pass, skip, warn } from '#cluster/findings.ts';
import { sawAt } from '#cluster/kube/kubeReads.ts';
import { podsOf, podsPath } from '#cluster/kube/objectReads.ts';
import type { Pod } from '#cluster/kube/pods.ts';
import { kubectl } from '#cluster/mends/commands.ts';
import { awsCheck, serviceRoleOf, unlessOnAws } from './awsParts.ts';

/** Pods that run already: those that are older than the annotation were given nothing. */
export const awsPodChecks: readonly Check[] = [
  awsCheck({
    id: 'aws-pod-env',
    title: 'Pods were given that role',
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
  const evidence = sawAt(podsPath(kube), `${pods.length} under ${serviceAccount}`);
  const account = `${namespace}/${serviceAccount}`;
  if (pods.length === 0) return skip(`No pod runs under the service account ${account}.`, evidence);
  const without = pods.filter((pod) => !hasRole(pod, role)).map(({ name }) => name);
  if (without.length === 0) return pass(`Each pod under ${account} was given ${role}.`, evidence);
  return warn(
    `${without.join(', ')} under ${account} ${without.length === 1 ? 'was' : 'were'} not given ${role}, being older than the annotation.`,
    {
      evidence: [evidence],
      // KubeRay makes its pods anew.
      mend: { kind: 'command', command: kubectl(profile, 'delete', 'pod', ['-n', namespace], without) },
    },
  );
}

/** Some container has what EKS writes into pods, with this role. Sidecars may be kept out of it. */
const hasRole = ({ containers }: Pod, role: string): boolean =>
  containers.some(
    ({ variables }) => variables['AWS_ROLE_ARN'] === role && variables['AWS_WEB_IDENTITY_TOKEN_FILE'] !== undefined,
  );
