import type { Check } from '#cluster/check.ts';
import { ClusterError, isClusterError } from '#cluster/errors.ts';
import { fail, pass, warn } from '#cluster/checkResults.ts';
import { installOperator, upgradeDefinitions } from '#cluster/fixes/operatorFixes.ts';
import { conditionAt } from '#cluster/kube/conditionAt.ts';
import { fieldAt, listAt, stringAt } from '#shared/fields.ts';
import { type KubeReads, evidenceFor } from '#cluster/kube/kubeReads.ts';
import { definitionPath } from '#cluster/kube/objectReads.ts';
import { isAtLeast, showMinor, versionIn, type VersionNumber } from '#cluster/kube/versionNumbers.ts';
import type { Evidence, Finding } from '#cluster/result.ts';
import { operatorChecks } from './operatorChecks.ts';
import { oldestPaired, pairsShown } from './operatorPairs.ts';
import { rayVersionChecks } from './rayVersionChecks.ts';

/** Returns the version of the API server. @throws ClusterError */
async function kubernetesVersionOf(
  kube: KubeReads,
): Promise<{ readonly version: VersionNumber; readonly evidence: Evidence }> {
  const said = stringAt(await kube.get('/version'), 'gitVersion');
  const version = versionIn(said);
  if (said === undefined || !version)
    throw new ClusterError(
      'BadReply',
      `The API server reports "${said ?? ''}", which is not a version number.`,
      'Check that the address is that of a Kubernetes API server.',
    );
  return { version, evidence: evidenceFor('/version', said) };
}

const kubernetesVersion: Check = {
  id: 'k8s-version',
  category: 'versions',
  title: 'Kubernetes version is supported',
  severity: 'warning',
  needs: ['k8s-whoami'],
  run: async ({ kube }) => {
    const { version, evidence } = await kubernetesVersionOf(kube);
    const shown = `Kubernetes ${showMinor(version)}`;
    if (isAtLeast(version, oldestPaired)) return pass(`${shown} is recent enough.`, evidence);
    return warn(`${shown} is older than ${showMinor(oldestPaired)}, the oldest documented version.`, {
      evidence: [evidence, pairsShown],
      fix: { kind: 'advice', text: `Upgrade the cluster to Kubernetes ${showMinor(oldestPaired)} or later.` },
    });
  },
};

/** The API version of the resources that this product and the documented tools use. */
const servedVersion = 'v1';

async function checkDefinition(kube: KubeReads, plural: string): Promise<Finding> {
  const name = `${plural}.ray.io`;
  const path = definitionPath(name);
  let definition: unknown;
  try {
    definition = await kube.find(path);
  } catch (error) {
    if (isClusterError(error) && error.kind === 'Forbidden') return checkServed(kube, plural);
    throw error;
  }
  if (definition === undefined) {
    return fail(`The resource ${name} is not defined on this cluster: KubeRay is not installed.`, {
      evidence: [evidenceFor(path, 'not found')],
      fix: installOperator(kube.profile),
    });
  }
  const versions = listAt(definition, 'spec', 'versions');
  const served = versions.filter((one) => fieldAt(one, 'served') === true).map((one) => stringAt(one, 'name') ?? '?');
  const isEstablished = conditionAt(definition, 'Established') === true;
  const evidence = [
    evidenceFor(
      path,
      `serves ${served.join(', ') || 'no version'}; ${isEstablished ? 'established' : 'not established'}`,
    ),
  ];
  if (!served.includes(servedVersion)) {
    return fail(`The resource ${name} is served as ${served.join(', ') || 'no version'}, not as ${servedVersion}.`, {
      evidence,
      fix: upgradeDefinitions(kube.profile),
    });
  }
  if (!isEstablished) {
    return fail(`The resource ${name} is defined but not established, so no object of it can be created.`, {
      evidence,
      fix: upgradeDefinitions(kube.profile),
    });
  }
  return pass(`The resource ${name} is served as ${servedVersion}.`, ...evidence);
}

/**
 * Checks whether the API server lists the resource as served. Every user may read this list, but only administrators
 * may read definitions.
 */
async function checkServed(kube: KubeReads, plural: string): Promise<Finding> {
  const path = `/apis/ray.io/${servedVersion}`;
  const resources = listAt(await kube.find(path), 'resources').map((one) => stringAt(one, 'name'));
  const name = `${plural}.ray.io`;
  if (resources.includes(plural))
    return pass(`The resource ${name} is served as ${servedVersion}.`, evidenceFor(path, `serves ${plural}`));
  return fail(`The resource ${name} is not served as ${servedVersion} on this cluster.`, {
    evidence: [evidenceFor(path, `does not serve ${plural}`)],
    fix: installOperator(kube.profile),
  });
}

const rayClusters: Check = {
  id: 'crd-rayclusters',
  category: 'versions',
  title: `CRD rayclusters.ray.io serves ${servedVersion}`,
  severity: 'error',
  needs: ['k8s-whoami'],
  run: ({ kube }) => checkDefinition(kube, 'rayclusters'),
};

const rayJobs: Check = {
  id: 'crd-rayjobs',
  category: 'versions',
  title: `CRD rayjobs.ray.io serves ${servedVersion}`,
  severity: 'warning',
  needs: ['k8s-whoami'],
  run: ({ kube }) => checkDefinition(kube, 'rayjobs'),
};

export const versionChecks: readonly Check[] = [
  kubernetesVersion,
  rayClusters,
  rayJobs,
  ...operatorChecks,
  ...rayVersionChecks,
];
