import type { ClusterProfile } from '#cluster/profile.ts';
import type { KubeNode } from './nodes.ts';
import type { GroupSpec } from './rayGroups.ts';

// Selects the nodes for each group.

/** The last part of the label that marks nodes for a kind of pod. */
export const nodeKinds = { head: 'ray-head', cpu: 'ray-worker-cpu', gpu: 'ray-worker-gpu' } as const;
export type NodeKind = keyof typeof nodeKinds;

export const kindOf = ({ role, resources }: GroupSpec): NodeKind =>
  role === 'head' ? 'head' : resources.gpu > 0 ? 'gpu' : 'cpu';

/** `geneva.lancedb.com/ray-head`. */
export const labelOf = ({ labelDomain }: ClusterProfile, kind: NodeKind): string => `${labelDomain}/${nodeKinds[kind]}`;

/** Returns whether the selector of a group has the label of its kind. */
export const usesLabel = (profile: ClusterProfile, group: GroupSpec): boolean =>
  Object.hasOwn(group.nodeSelector, labelOf(profile, kindOf(group)));

/** Returns the value that the selector of a group requires for the label of its kind. */
export const valueOf = (profile: ClusterProfile, group: GroupSpec): string =>
  group.nodeSelector[labelOf(profile, kindOf(group))] ?? 'true';

/** Returns the group's selector without the label of its kind. */
export const otherSelectors = (profile: ClusterProfile, group: GroupSpec): readonly (readonly [string, string])[] =>
  Object.entries(group.nodeSelector).filter(([key]) => key !== labelOf(profile, kindOf(group)));

/**
 * Returns the nodes for a group. If the group's selector has the label of its kind, these are the nodes with this
 * label. The label may have any value, because a separate check reports wrong values. Otherwise these are the nodes
 * that match the whole selector.
 */
export function nodesForGroup(
  profile: ClusterProfile,
  group: GroupSpec,
  nodes: readonly KubeNode[],
): readonly KubeNode[] {
  if (usesLabel(profile, group)) {
    const label = labelOf(profile, kindOf(group));
    return nodes.filter(({ labels }) => Object.hasOwn(labels, label));
  }
  return nodes.filter(({ labels }) =>
    Object.entries(group.nodeSelector).every(([key, value]) => labels[key] === value),
  );
}

/** Returns the nodes for a group (see `nodesForGroup`) that also match the rest of its selector. */
export function matchingNodes(
  profile: ClusterProfile,
  group: GroupSpec,
  nodes: readonly KubeNode[],
): readonly KubeNode[] {
  const others = otherSelectors(profile, group);
  return nodesForGroup(profile, group, nodes).filter(({ labels }) =>
    others.every(([key, value]) => labels[key] === value),
  );
}

/** Returns the matching nodes, or all nodes for the group if none match; `nodes-selector-match` reports that. */
export function candidateNodes(
  profile: ClusterProfile,
  group: GroupSpec,
  nodes: readonly KubeNode[],
): readonly KubeNode[] {
  const places = matchingNodes(profile, group, nodes);
  return places.length > 0 ? places : nodesForGroup(profile, group, nodes);
}

/** Formats a selector for display: `pool=head, zone=a`. */
export const showSelector = (selector: Readonly<Record<string, string>>): string =>
  Object.entries(selector)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ') || 'none';
