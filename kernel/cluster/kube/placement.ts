import type { ClusterProfile } from '#cluster/profile.ts';
import type { KubeNode } from './nodes.ts';
import type { GroupSpec } from './rayGroups.ts';

// Which nodes are meant for which group.

/** The last part of the label that marks nodes for a kind of pod. */
export const nodeKinds = { head: 'ray-head', cpu: 'ray-worker-cpu', gpu: 'ray-worker-gpu' } as const;
export type NodeKind = keyof typeof nodeKinds;

export const kindOf = ({ role, resources }: GroupSpec): NodeKind =>
  role === 'head' ? 'head' : resources.gpu > 0 ? 'gpu' : 'cpu';

/** `geneva.lancedb.com/ray-head`. */
export const labelOf = ({ labelDomain }: ClusterProfile, kind: NodeKind): string => `${labelDomain}/${nodeKinds[kind]}`;

/** Whether a group is placed by the label of its kind, and not by others of the person's own. */
export const usesLabel = (profile: ClusterProfile, group: GroupSpec): boolean =>
  Object.hasOwn(group.nodeSelector, labelOf(profile, kindOf(group)));

/** The value that the label must have: what the selector asks for. */
export const valueOf = (profile: ClusterProfile, group: GroupSpec): string =>
  group.nodeSelector[labelOf(profile, kindOf(group))] ?? 'true';

/** What a group's selector asks for beside the label of its kind. */
export const otherSelectors = (profile: ClusterProfile, group: GroupSpec): readonly (readonly [string, string])[] =>
  Object.entries(group.nodeSelector).filter(([key]) => key !== labelOf(profile, kindOf(group)));

/**
 * The nodes that are meant for a group: those with the label of its kind, whatever its value, since a wrong value is told by
 * a check of its own; for a group with other labels those that its whole selector finds.
 */
export function meantFor(profile: ClusterProfile, group: GroupSpec, nodes: readonly KubeNode[]): readonly KubeNode[] {
  if (usesLabel(profile, group)) {
    const label = labelOf(profile, kindOf(group));
    return nodes.filter(({ labels }) => Object.hasOwn(labels, label));
  }
  return nodes.filter(({ labels }) =>
    Object.entries(group.nodeSelector).every(([key, value]) => labels[key] === value),
  );
}

/** Those of them that the rest of its selector finds too. */
export function placesFor(profile: ClusterProfile, group: GroupSpec, nodes: readonly KubeNode[]): readonly KubeNode[] {
  const others = otherSelectors(profile, group);
  return meantFor(profile, group, nodes).filter(({ labels }) => others.every(([key, value]) => labels[key] === value));
}

/** Those, or all that are meant for it where no selector finds any: that is told by `nodes-selector-match`. */
export function likelyPlaces(
  profile: ClusterProfile,
  group: GroupSpec,
  nodes: readonly KubeNode[],
): readonly KubeNode[] {
  const places = placesFor(profile, group, nodes);
  return places.length > 0 ? places : meantFor(profile, group, nodes);
}

/** A selector for people: `pool=head, zone=a`. */
export const showSelector = (selector: Readonly<Record<string, string>>): string =>
  Object.entries(selector)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ') || 'none';
