import type { Check } from '#cluster/check.ts';
import { fail, pass, skip } from '#cluster/checkResults.ts';
import { evidenceFor, type KubeReads } from '#cluster/kube/kubeReads.ts';
import { blockingTaints, formatNodeNames, showTaint, spotLabelOf, type KubeNode } from '#cluster/kube/nodes.ts';
import { groupsOf, nodesOf, nodesPath, rayClusterOf } from '#cluster/kube/objectReads.ts';
import { labelOf, candidateNodes } from '#cluster/kube/placement.ts';
import type { GroupSpec } from '#cluster/kube/rayGroups.ts';
import { unlabelNodes } from '#cluster/fixes/nodeFixes.ts';
import { idleHead } from '#cluster/fixes/rayClusterFixes.ts';

/** Returns the head and the nodes that it may be scheduled on. @throws ClusterError */
async function headOf(
  kube: KubeReads,
): Promise<{ readonly head: GroupSpec | undefined; readonly nodes: readonly KubeNode[] }> {
  const [groups, nodes] = await Promise.all([groupsOf(kube), nodesOf(kube)]);
  const head = groups.find(({ role }) => role === 'head');
  return { head, nodes: head ? candidateNodes(kube.profile, head, nodes) : [] };
}

const noNode = 'There is currently no node for the head to check.';

const notSpot: Check = {
  id: 'head-not-spot',
  category: 'nodes',
  title: 'Head is not on a spot node',
  severity: 'error',
  needs: ['nodes-head'],
  run: async ({ kube, profile }) => {
    const { head, nodes } = await headOf(kube);
    // The pod's selector is checked too. If nodes are created on demand, the selector determines their kind.
    const asked = head && spotLabelOf({ labels: head.nodeSelector });
    if (asked !== undefined)
      return fail(
        `The head selects a spot node (${asked}), which can be removed at any time. All jobs are then lost.`,
        {
          evidence: [{ asked: 'nodeSelector of the head', saw: asked }],
          fix: { kind: 'advice', text: `Remove ${asked} from the nodeSelector of the head.` },
        },
      );
    if (nodes.length === 0) return skip(noNode);
    const spot = nodes.filter((node) => spotLabelOf(node) !== undefined);
    const evidence = evidenceFor(
      nodesPath,
      nodes.map((node) => `${node.name}: ${spotLabelOf(node) ?? 'no label of a spot node'}`).join('; '),
    );
    const [first] = spot;
    if (!first) return pass('No node for the head is a spot node.', evidence);
    const isOnly = spot.length === nodes.length;
    return fail(
      `${formatNodeNames(spot)} can be removed at any time (${spotLabelOf(first)}). All jobs of the head are then lost.`,
      {
        evidence: [evidence],
        fix: isOnly
          ? {
              kind: 'advice',
              text: `Instead, label an on-demand node with ${labelOf(profile, 'head')}=true.`,
            }
          : unlabelNodes(profile, spot, [labelOf(profile, 'head')]),
      },
    );
  },
};

const noProcessing: Check = {
  id: 'head-no-processing',
  category: 'nodes',
  title: 'Head runs no tasks',
  severity: 'error',
  needs: ['nodes-head'],
  run: async ({ kube, profile }) => {
    const { head, nodes } = await headOf(kube);
    const workerLabels = [labelOf(profile, 'cpu'), labelOf(profile, 'gpu')];
    const both = nodes.filter(({ labels }) => workerLabels.some((label) => Object.hasOwn(labels, label)));
    const evidence = [
      evidenceFor(
        nodesPath,
        nodes.map(({ name, taints }) => `${name}: ${taints.map(showTaint).join(', ') || 'no taint'}`).join('; '),
      ),
      { asked: 'num-cpus of the head', saw: head?.toldCpus ?? 'not set' },
    ];
    if (both.length > 0) {
      const extra = workerLabels.filter((label) => both.some(({ labels }) => Object.hasOwn(labels, label)));
      return fail(
        `Nodes are labeled for both the head and workers, which then use the head's memory: ${formatNodeNames(both)}.`,
        {
          evidence,
          fix: unlabelNodes(profile, both, extra),
        },
      );
    }
    if (head?.toldCpus === '0') return pass('Ray schedules no tasks on the head: it has num-cpus 0.', ...evidence);
    if (nodes.length === 0) return skip(noNode, ...evidence);
    const isKept = nodes.every((node) => blockingTaints(node).length > 0);
    if (isKept) return pass('A taint keeps other pods off the nodes for the head.', ...evidence);
    const cluster = await rayClusterOf(kube);
    return fail('Tasks may run on the head: its nodes have no taint, and it does not set num-cpus 0.', {
      evidence,
      fix: cluster && idleHead(profile, cluster),
    });
  },
};

export const headChecks: readonly Check[] = [notSpot, noProcessing];
