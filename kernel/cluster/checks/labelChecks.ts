import type { Check } from '#cluster/check.ts';
import { fail, pass, skip, warn } from '#cluster/checkResults.ts';
import { labelNodes } from '#cluster/fixes/nodeFixes.ts';
import { evidenceFor } from '#cluster/kube/kubeReads.ts';
import { type KubeNode, formatNodeNames, showTaint, taintsAgainst } from '#cluster/kube/nodes.ts';
import { groupsOf, nodesOf, nodesPath } from '#cluster/kube/objectReads.ts';
import {
  kindOf,
  labelOf,
  nodesForGroup,
  otherSelectors,
  matchingNodes,
  showSelector,
  usesLabel,
  valueOf,
} from '#cluster/kube/placement.ts';
import type { GroupSpec } from '#cluster/kube/rayGroups.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { Evidence } from '#cluster/result.ts';

const values: Check = {
  id: 'nodes-label-value',
  category: 'nodes',
  title: 'Node labels have the right values',
  severity: 'error',
  needs: ['client-nodes-list'],
  run: async ({ kube, profile }) => {
    const [groups, nodes] = await Promise.all([groupsOf(kube), nodesOf(kube)]);
    const evidence: Evidence[] = [];
    const wrong: { readonly group: GroupSpec; readonly nodes: readonly KubeNode[]; readonly isAll: boolean }[] = [];
    for (const group of groups.filter((one) => usesLabel(profile, one))) {
      const label = labelOf(profile, kindOf(group));
      const meant = nodesForGroup(profile, group, nodes);
      const others = meant.filter(({ labels }) => labels[label] !== valueOf(profile, group));
      if (others.length > 0) wrong.push({ group, nodes: others, isAll: others.length === meant.length });
      if (meant.length > 0)
        evidence.push(
          evidenceFor(nodesPath, meant.map(({ name, labels }) => `${name}: ${label}=${labels[label]}`).join('; ')),
        );
    }
    // Groups for which no node has the right value come first.
    const worst = wrong.toSorted((a, b) => Number(b.isAll) - Number(a.isAll))[0];
    if (!worst)
      return evidence.length === 0
        ? skip('No node has one of the labels.')
        : pass('The labels have the selected values.', ...evidence);
    const label = labelOf(profile, kindOf(worst.group));
    const wanted = valueOf(profile, worst.group);
    const value = worst.nodes[0]?.labels[label] ?? '';
    return (worst.isAll ? fail : warn)(
      `${formatNodeNames(worst.nodes)}: ${label} is "${value}", but ${worst.group.title} selects "${wanted}" and would not be scheduled there.`,
      { evidence, fix: labelNodes(profile, worst.nodes, { [label]: wanted }) },
    );
  },
};

/** GKE adds tolerations for GPU and ARM nodes to pods that request them; the specs do not show these tolerations. */
const againstGroup = (profile: ClusterProfile, group: GroupSpec, node: KubeNode) => {
  const added = [
    ...(profile.gcp && group.resources.gpu > 0 ? ['nvidia.com/gpu'] : []),
    ...(profile.gcp && 'kubernetes.io/arch' in group.nodeSelector ? ['kubernetes.io/arch'] : []),
  ];
  return taintsAgainst(node, group.tolerations ?? []).filter(({ key }) => !added.includes(key));
};

const selectors: Check = {
  id: 'nodes-selector-match',
  category: 'nodes',
  title: 'Selectors and tolerations match nodes',
  severity: 'error',
  needs: ['nodes-label-value'],
  run: async ({ kube, profile }) => {
    const [groups, nodes] = await Promise.all([groupsOf(kube), nodesOf(kube)]);
    const evidence: Evidence[] = [];
    for (const group of groups) {
      const meant = nodesForGroup(profile, group, nodes);
      // Skips a group without nodes, because nodes-head, nodes-cpu and nodes-gpu report that.
      if (meant.length === 0) continue;
      const places = matchingNodes(profile, group, nodes);
      evidence.push({
        asked: `nodeSelector of ${group.title}: ${showSelector(group.nodeSelector)}`,
        saw: formatNodeNames(places) || 'no node',
      });
      if (places.length === 0) {
        const others = Object.fromEntries(otherSelectors(profile, group));
        return fail(`No node for ${group.title} also has ${showSelector(others)}, which its nodeSelector requires.`, {
          evidence,
          fix: labelNodes(profile, meant.slice(0, 1), others),
        });
      }
      if (group.tolerations === undefined) continue;
      const [first] = places;
      const against = first && places.every((node) => againstGroup(profile, group, node).length > 0);
      if (against) {
        const taints = againstGroup(profile, group, first).map(showTaint).join(', ');
        return fail(`${capital(group.title)}: the taint ${taints} of ${formatNodeNames(places)} is not tolerated.`, {
          evidence,
          fix: { kind: 'advice', text: `Add a toleration for ${taints} to the pod template of ${group.title}.` },
        });
      }
    }
    if (evidence.length === 0) return skip('No node is labeled for head or workers.');
    return pass('The selectors of head and workers match nodes.', ...evidence);
  },
};

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export const labelChecks: readonly Check[] = [values, selectors];
