import type { Check } from '#cluster/check.ts';
import { fail, pass, skip, unknown, warn } from '#cluster/checkResults.ts';
import { describeOperator, installOperator, upgradeOperator, watchNamespace } from '#cluster/fixes/operatorFixes.ts';
import { stringAt } from '#shared/fields.ts';
import { type KubeReads, evidenceFor } from '#cluster/kube/kubeReads.ts';
import { deploymentsPath, operatorsOf } from '#cluster/kube/objectReads.ts';
import { isAtLeast, showMinor, showVersion, versionIn } from '#cluster/kube/versionNumbers.ts';
import { operatorVersionOf, watchedBy, type Workload } from '#cluster/kube/workloads.ts';
import type { Evidence } from '#cluster/result.ts';
import { isPaired, oldestOperator, pairsShown } from './operatorPairs.ts';

const titleOf = ({ namespace, name }: Workload): string => `The operator ${namespace}/${name}`;

const watches = (operator: Workload, namespace: string): boolean => {
  const watched = watchedBy(operator);
  return watched.length === 0 || watched.includes(namespace);
};

/**
 * Finds the responsible operator among several, such as an old one left behind. An operator that watches the profile's
 * namespace comes first, then an operator with ready pods.
 */
async function operatorOf(kube: KubeReads): Promise<Workload | undefined> {
  const rank = (one: Workload): number => (watches(one, kube.profile.namespace) ? 2 : 0) + (one.ready > 0 ? 1 : 0);
  const { operators } = await operatorsOf(kube);
  return operators.toSorted((a, b) => rank(b) - rank(a))[0];
}

/** Returns the operator, for checks that run only after `operator-running` has found it. */
async function foundOperator(kube: KubeReads): Promise<Workload> {
  const operator = await operatorOf(kube);
  if (!operator) throw new Error('The operator no longer exists.');
  return operator;
}

const seen = (operator: Workload): Evidence =>
  evidenceFor(
    deploymentsPath,
    `${operator.namespace}/${operator.name}: ${operator.ready} of ${operator.wanted} available, ` +
      `image ${operator.containers[0]?.image ?? 'unknown'}`,
  );

/** Returns whether the cluster is on GKE. GKE hides the operator of its add-on from customers. */
async function hidesOperator(kube: KubeReads): Promise<boolean> {
  if (kube.profile.gcp) return true;
  return (stringAt(await kube.get('/version'), 'gitVersion') ?? '').includes('-gke.');
}

const running: Check = {
  id: 'operator-running',
  category: 'versions',
  title: 'KubeRay operator is ready',
  severity: 'error',
  needs: ['crd-rayclusters'],
  run: async ({ kube, profile }) => {
    const operator = await operatorOf(kube);
    if (!operator) {
      const evidence = evidenceFor(deploymentsPath, "none with the labels or the image of KubeRay's operator");
      if (!(await operatorsOf(kube)).isWhole)
        return unknown(
          `No operator is in ${profile.namespace}. It may be in another namespace, where you may not list deployments.`,
          evidenceFor(deploymentsPath, 'you may not'),
        );
      if (await hidesOperator(kube))
        return skip('No operator is visible. The managed GKE Ray add-on hides its operator.', evidence);
      return fail('No KubeRay operator is installed, so a RayCluster would get no pods.', {
        evidence: [evidence],
        fix: installOperator(profile),
      });
    }
    if (operator.ready > 0) return pass(`${titleOf(operator)} is ready.`, seen(operator));
    return fail(`${titleOf(operator)} has no ready pod.`, {
      evidence: [seen(operator)],
      fix: describeOperator(profile, operator),
    });
  },
};

const watching: Check = {
  id: 'operator-watches',
  category: 'versions',
  title: 'Operator watches the namespace',
  severity: 'error',
  needs: ['operator-running'],
  run: async ({ kube, profile }) => {
    const operator = await foundOperator(kube);
    const watched = watchedBy(operator);
    const evidence = evidenceFor(
      deploymentsPath,
      watched.length === 0 ? 'no --watch-namespace: all namespaces' : `--watch-namespace ${watched.join(',')}`,
    );
    if (watches(operator, profile.namespace))
      return pass(`${titleOf(operator)} watches ${profile.namespace}.`, evidence);
    return fail(`${titleOf(operator)} watches only ${watched.join(', ')}, not ${profile.namespace}.`, {
      evidence: [evidence],
      fix: watchNamespace(profile, operator, watched),
    });
  },
};

const version: Check = {
  id: 'operator-version',
  category: 'versions',
  title: `Operator is KubeRay ${showMinor(oldestOperator)} or later`,
  severity: 'error',
  needs: ['operator-running'],
  run: async ({ kube, profile }) => {
    const operator = await foundOperator(kube);
    const found = operatorVersionOf(operator);
    if (!found) return unknown(`${titleOf(operator)} does not report its version.`, seen(operator));
    if (isAtLeast(found, oldestOperator)) return pass(`The operator is KubeRay ${showVersion(found)}.`, seen(operator));
    return fail(
      `${titleOf(operator)} is KubeRay ${showVersion(found)}; ${showMinor(oldestOperator)} or later is required.`,
      { evidence: [seen(operator)], fix: upgradeOperator(profile, operator) },
    );
  },
};

const pairing: Check = {
  id: 'operator-pairing',
  category: 'versions',
  title: 'Kubernetes and operator are compatible',
  severity: 'warning',
  needs: ['operator-version', 'k8s-version'],
  run: async ({ kube }) => {
    const operator = await foundOperator(kube);
    const gitVersion = stringAt(await kube.get('/version'), 'gitVersion');
    const kubernetes = versionIn(gitVersion);
    const found = operatorVersionOf(operator);
    if (!kubernetes || !found) return unknown('One of the versions is not known.');
    const isManaged = 'addonmanager.kubernetes.io/mode' in operator.labels;
    const pair = `Kubernetes ${showMinor(kubernetes)} with ${isManaged ? 'the managed ' : ''}operator ${showMinor(found)}`;
    const evidence = [evidenceFor('/version', gitVersion ?? ''), seen(operator), pairsShown];
    if (isPaired(kubernetes, found, isManaged)) return pass(`${pair} is a documented pair.`, ...evidence);
    return warn(`${pair} is not a documented pair.`, {
      evidence,
      fix: { kind: 'advice', text: 'Try a small job first. If it fails, use a documented pair.' },
    });
  },
};

export const operatorChecks: readonly Check[] = [running, watching, version, pairing];
