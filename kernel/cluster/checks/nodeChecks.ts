import type { Check, CheckContext } from '#cluster/check.ts';
import { fail, pass, skip, warn } from '#cluster/checkResults.ts';
import type { Fix } from '#cluster/fixes/fix.ts';
import { describeNodes, labelUsableNode, uncordon } from '#cluster/fixes/nodeFixes.ts';
import { type KubeReads, evidenceFor } from '#cluster/kube/kubeReads.ts';
import { isUsable, type KubeNode, formatNodeNames, nodeMakerOf, nodeStateText } from '#cluster/kube/nodes.ts';
import { groupsOf, nodesOf, nodesPath } from '#cluster/kube/objectReads.ts';
import {
  kindOf,
  labelOf,
  nodesForGroup,
  type NodeKind,
  showSelector,
  usesLabel,
  valueOf,
} from '#cluster/kube/placement.ts';
import type { GroupSpec } from '#cluster/kube/rayGroups.ts';
import type { Evidence, Finding } from '#cluster/result.ts';
import { gpuChecks } from './gpuChecks.ts';
import { headChecks } from './headChecks.ts';
import { labelChecks } from './labelChecks.ts';
import { roomChecks } from './quotaChecks.ts';
import { architecture, sizeChecks } from './sizeChecks.ts';

/** Returns the groups of one kind (the head, or worker groups), and all nodes. @throws ClusterError */
async function groupsAndNodes(
  kube: KubeReads,
  kind: NodeKind,
): Promise<{ readonly groups: readonly GroupSpec[]; readonly nodes: readonly KubeNode[] }> {
  const [groups, nodes] = await Promise.all([groupsOf(kube), nodesOf(kube)]);
  return { groups: groups.filter((group) => kindOf(group) === kind), nodes };
}

const seen = (nodes: readonly KubeNode[], by: string): Evidence =>
  evidenceFor(
    nodesPath,
    nodes.length === 0 ? `none with ${by}` : nodes.map((node) => `${node.name}: ${nodeStateText(node)}`).join('; '),
  );

/**
 * Checks whether a group has a node now. If nodes exist but accept no pods at the moment, the check fails for the head
 * and warns for workers. If there is no node at all, the check fails.
 * The check only warns if nodes are created on demand, or if the group needs GPUs and no node has any, because a GPU
 * pool may scale from zero.
 */
function placementFinding(
  kind: NodeKind,
  group: GroupSpec,
  nodes: readonly KubeNode[],
  { profile }: CheckContext,
): Finding {
  const label = labelOf(profile, kind);
  const isLabelled = usesLabel(profile, group);
  const by = isLabelled ? `the label ${label}` : `the labels ${showSelector(group.nodeSelector)}`;
  const meant = nodesForGroup(profile, group, nodes);
  const usable = meant.filter(isUsable);
  const evidence = [seen(meant, by)];
  if (usable.length > 0) return pass(`${formatNodeNames(usable)} can run ${group.title}.`, ...evidence);
  if (meant.length > 0) {
    const problem = kind === 'head' ? fail : warn;
    const states = meant.map((node) => `${node.name} is ${nodeStateText(node)}`).join(', ');
    const isCordoned = meant.every(({ isReady }) => isReady);
    const fix: Fix = (isCordoned ? uncordon : describeNodes)(profile, meant);
    return problem(`No node for ${group.title} accepts pods: ${states}.`, { evidence, fix });
  }
  const maker = nodeMakerOf(nodes);
  if (maker !== undefined)
    return warn(`No node has ${by} yet; ${maker} is expected to create one when ${group.title} is launched.`, {
      evidence,
      fix: { kind: 'advice', text: `Check that the node pools of ${maker} can create nodes with ${by}.` },
    });
  const mayGrow = kind === 'gpu' && nodes.every(({ allocatable }) => allocatable.gpu === 0);
  const until = mayGrow ? ' A node pool that scales from zero may create one when needed.' : '';
  return (mayGrow ? warn : fail)(`No node has ${by}, which is required for ${group.title}.${until}`, {
    evidence,
    fix: isLabelled
      ? labelUsableNode(profile, nodes, kind, valueOf(profile, group), group.resources)
      : { kind: 'advice', text: `Add a node with ${by}, or change the nodeSelector of ${group.title}.` },
  });
}

const placeCheck = (id: 'nodes-head' | 'nodes-cpu' | 'nodes-gpu', kind: NodeKind): Check => ({
  id,
  category: 'nodes',
  title: {
    head: 'Node for the head is ready',
    cpu: 'Node for workers is ready',
    gpu: 'Node for GPU workers is ready',
  }[kind],
  severity: 'error',
  needs: ['client-nodes-list'],
  run: async (context) => {
    const { groups, nodes } = await groupsAndNodes(context.kube, kind);
    if (groups.length === 0)
      return skip(kind === 'gpu' ? 'No worker group requests GPUs.' : 'All worker groups request GPUs.');
    const findings = groups.map((group) => placementFinding(kind, group, nodes, context));
    return findings.find(({ status }) => status !== 'pass') ?? findings[0] ?? skip('There are no worker groups.');
  },
});

export const nodeChecks: readonly Check[] = [
  placeCheck('nodes-head', 'head'),
  placeCheck('nodes-cpu', 'cpu'),
  placeCheck('nodes-gpu', 'gpu'),
  ...labelChecks,
  ...headChecks,
  ...sizeChecks,
  ...gpuChecks,
  architecture,
  ...roomChecks,
];
