import type { V1Node } from '@kubernetes/client-node';
import { isUsable, spotLabelOf, type KubeNode } from '#cluster/kube/nodes.ts';
import { labelOf, nodeKinds, type NodeKind } from '#cluster/kube/placement.ts';
import { shortOf, type Resources } from '#cluster/kube/quantities.ts';
import type { Fix } from './fix.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { kubectl, manifestFix } from './commands.ts';

export const labelNodes = (
  profile: ClusterProfile,
  nodes: readonly KubeNode[],
  labels: Readonly<Record<string, string>>,
): Fix =>
  manifestFix(
    profile,
    nodes.map(({ name }) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels } }) satisfies V1Node),
    kubectl(
      profile,
      ['label', '--overwrite', 'nodes', ...nodes.map(({ name }) => name)],
      Object.entries(labels).map(([key, value]) => `${key}=${value}`),
    ),
  );

/** Removes labels of nodes. The fix is a command, because a manifest can't remove labels. */
export const unlabelNodes = (profile: ClusterProfile, nodes: readonly KubeNode[], labels: readonly string[]): Fix => ({
  kind: 'command',
  command: kubectl(
    profile,
    ['label', 'nodes', ...nodes.map(({ name }) => name)],
    labels.map((label) => `${label}-`),
  ),
});

/** Labels a suitable node; if there is none, advises to add one. */
export function labelUsableNode(
  profile: ClusterProfile,
  nodes: readonly KubeNode[],
  kind: NodeKind,
  value: string,
  needed: Resources,
): Fix {
  const label = labelOf(profile, kind);
  const marks = Object.values(nodeKinds).map((part) => `${profile.labelDomain}/${part}`);
  const isFree = (node: KubeNode): boolean =>
    isUsable(node) &&
    !marks.some((mark) => Object.hasOwn(node.labels, mark)) &&
    (kind === 'gpu') === node.allocatable.gpu > 0 &&
    (kind !== 'head' || spotLabelOf(node) === undefined) &&
    shortOf(needed, node.allocatable).length === 0;
  const free = nodes.find(isFree);
  return free
    ? labelNodes(profile, [free], { [label]: value })
    : { kind: 'advice', text: `Add a node, or an autoscaling node pool, with the label ${label}=${value}.` };
}

export const uncordon = (profile: ClusterProfile, nodes: readonly KubeNode[]): Fix =>
  manifestFix(
    profile,
    nodes.map(
      ({ name }) =>
        ({ apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: { unschedulable: false } }) satisfies V1Node,
    ),
    kubectl(profile, ['uncordon', ...nodes.map(({ name }) => name)]),
  );

/** Shows why a node is not ready. */
export const describeNodes = (profile: ClusterProfile, nodes: readonly KubeNode[]): Fix => ({
  kind: 'command',
  command: kubectl(profile, ['describe', 'nodes', ...nodes.map(({ name }) => name)]),
});
