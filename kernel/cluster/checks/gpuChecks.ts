import type { Check } from '#cluster/check.ts';
import { isClusterError } from '#cluster/errors.ts';
import { fail, pass, skip, warn } from '#cluster/checkResults.ts';
import { kubectl } from '#cluster/fixes/commands.ts';
import type { Fix } from '#cluster/fixes/fix.ts';
import { describeNodes } from '#cluster/fixes/nodeFixes.ts';
import { type KubeReads, evidenceFor } from '#cluster/kube/kubeReads.ts';
import { type KubeNode, formatNodeNames } from '#cluster/kube/nodes.ts';
import { daemonSetsOf, daemonSetsPath, groupsOf, nodesOf, nodesPath } from '#cluster/kube/objectReads.ts';
import { kindOf, nodesForGroup } from '#cluster/kube/placement.ts';
import { gpuResource } from '#cluster/kube/quantities.ts';
import type { Workload } from '#cluster/kube/workloads.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { Evidence } from '#cluster/result.ts';

async function gpuNodesOf(kube: KubeReads): Promise<readonly KubeNode[]> {
  const [groups, nodes] = await Promise.all([groupsOf(kube), nodesOf(kube)]);
  const meant = new Set(
    groups.filter((one) => kindOf(one) === 'gpu').flatMap((one) => nodesForGroup(kube.profile, one, nodes)),
  );
  return [...meant];
}

/** Returns whether a DaemonSet is NVIDIA's device plugin, installed by its manifest, its chart, its operator or GKE. */
const isPlugin = ({ name, containers }: Workload): boolean =>
  /nvidia.*device-plugin/.test(name) || containers.some(({ image }) => /nvidia.*device-plugin/.test(image));

async function pluginsOf(kube: KubeReads): Promise<readonly Workload[] | undefined> {
  try {
    return (await daemonSetsOf(kube)).filter(isPlugin);
  } catch (error) {
    if (isClusterError(error) && error.kind === 'Forbidden') return undefined;
    throw error;
  }
}

const manifest =
  'https://raw.githubusercontent.com/NVIDIA/k8s-device-plugin/v0.17.1/deployments/static/nvidia-device-plugin.yml';

/** GKE installs its own plugin on nodes with GPUs; only the driver can be missing. */
const install = (profile: ClusterProfile): Fix =>
  profile.gcp
    ? {
        kind: 'advice',
        text: 'Create the node pool with --accelerator …,gpu-driver-version=default: GKE installs the plugin and the driver.',
      }
    : { kind: 'command', command: kubectl(profile, ['apply', '-f', manifest]) };

const plugin: Check = {
  id: 'gpu-plugin',
  category: 'nodes',
  title: 'GPU device plugin is ready',
  severity: 'error',
  needs: ['nodes-gpu'],
  run: async ({ kube, profile }) => {
    const [plugins, nodes] = await Promise.all([pluginsOf(kube), gpuNodesOf(kube)]);
    const isOffered = nodes.some(({ allocatable }) => allocatable.gpu > 0);
    if (!plugins) {
      const evidence = evidenceFor(daemonSetsPath, 'you may not list them');
      return isOffered
        ? pass('Nodes offer GPUs, so a device plugin is running; you may not list DaemonSets.', evidence)
        : warn('You may not list DaemonSets, and no node offers a GPU.', { evidence: [evidence] });
    }
    const evidence: Evidence = evidenceFor(
      daemonSetsPath,
      plugins.map((one) => `${one.namespace}/${one.name}: ${one.ready} of ${one.wanted} ready`).join('; ') ||
        'no device plugin',
    );
    const [first] = plugins;
    if (!first) {
      if (nodes.length === 0)
        return warn('There is no GPU device plugin, and no node with GPUs that would show whether one is needed.', {
          evidence: [evidence],
          fix: install(profile),
        });
      // The plugin may be present without a DaemonSet: some node images contain it, such as Bottlerocket's images for
      // GPUs and the images of EKS Auto Mode.
      return (isOffered ? warn : fail)(
        isOffered
          ? 'There is no DaemonSet of a GPU device plugin; nodes offer GPUs, so it is part of their image, or was just removed.'
          : 'No GPU device plugin is installed, so pods that request a GPU are never scheduled.',
        { evidence: [evidence], fix: install(profile) },
      );
    }
    const lame = plugins.find(({ ready, wanted }) => ready < wanted);
    if (!lame) return pass(`The GPU device plugin ${first.namespace}/${first.name} is ready.`, evidence);
    // The check fails only if no plugin has a ready pod, because a cluster may have a plugin for each kind of node.
    return (plugins.every(({ ready }) => ready === 0) ? fail : warn)(
      `The GPU device plugin ${lame.namespace}/${lame.name} is ready on ${lame.ready} of ${lame.wanted} nodes.`,
      {
        evidence: [evidence],
        fix: {
          kind: 'command',
          command: kubectl(profile, ['describe', 'daemonset', lame.name, '--namespace', lame.namespace]),
        },
      },
    );
  },
};

const allocatable: Check = {
  id: 'gpu-allocatable',
  category: 'nodes',
  title: 'Nodes for GPU workers offer GPUs',
  severity: 'error',
  needs: ['gpu-plugin'],
  run: async ({ kube, profile }) => {
    const nodes = await gpuNodesOf(kube);
    if (nodes.length === 0) return skip('There is no node for GPU workers now.');
    const evidence = evidenceFor(
      nodesPath,
      nodes.map(({ name, allocatable: { gpu } }) => `${name}: ${gpuResource} ${gpu}`).join('; '),
    );
    const without = nodes.filter(({ allocatable: { gpu } }) => gpu === 0);
    if (without.length === 0) return pass('The nodes for GPU workers offer GPUs.', evidence);
    return (without.length === nodes.length ? fail : warn)(
      `No GPU is offered by ${formatNodeNames(without)}: the node has no GPU, or its driver or the device plugin does not run.`,
      { evidence: [evidence], fix: describeNodes(profile, without) },
    );
  },
};

export const gpuChecks: readonly Check[] = [plugin, allocatable];
