import type { Check } from '#cluster/check.ts';
import { fail, pass, skip, warn } from '#cluster/checkResults.ts';
import type { Fix } from '#cluster/fixes/fix.ts';
import { formatNodeNames, type KubeNode } from '#cluster/kube/nodes.ts';
import { groupsOf, nodesOf } from '#cluster/kube/objectReads.ts';
import { candidateNodes } from '#cluster/kube/placement.ts';
import { shortOf, showResources } from '#cluster/kube/quantities.ts';
import type { GroupSpec } from '#cluster/kube/rayGroups.ts';
import { tagOf } from '#cluster/kube/versionNumbers.ts';
import type { Evidence } from '#cluster/result.ts';

/** The minimum that upstream recommends for a head. */
const advised = { cpu: 4, memory: 8 * 2 ** 30, gpu: 0 };

const offered = (group: GroupSpec, nodes: readonly KubeNode[]): Evidence => ({
  asked: `allocatable of the nodes for ${group.title}, which requests ${showResources(group.resources)}`,
  saw: nodes.map(({ name, allocatable }) => `${name}: ${showResources(allocatable)}`).join('; '),
});

const fits = (group: GroupSpec, { allocatable }: KubeNode): boolean =>
  shortOf(group.resources, allocatable).length === 0;

/** Describes what is missing on the node that lacks the fewest resources. */
function shortage(group: GroupSpec, nodes: readonly KubeNode[]): string {
  const best = nodes
    .map((node) => ({ node, short: shortOf(group.resources, node.allocatable) }))
    .toSorted((a, b) => a.short.length - b.short.length)[0];
  return best ? `${best.short.join(' and ')} on ${best.node.name}` : '';
}

const larger = (group: GroupSpec): Fix => ({
  kind: 'advice',
  text: `Request less for ${group.title}, or use a larger node type: part of each node is reserved for the system.`,
});

const headSize: Check = {
  id: 'head-size',
  category: 'nodes',
  title: 'Head fits on a node and is large enough',
  severity: 'error',
  needs: ['nodes-head'],
  run: async ({ kube, profile }) => {
    const [groups, nodes] = await Promise.all([groupsOf(kube), nodesOf(kube)]);
    const head = groups.find(({ role }) => role === 'head');
    const places = head ? candidateNodes(profile, head, nodes) : [];
    if (!head || places.length === 0) return skip('There is no known node for the head.');
    const evidence = offered(head, places);
    if (!places.some((node) => fits(head, node)))
      return fail(`The head fits on no node: short of ${shortage(head, places)}.`, {
        evidence: [evidence],
        fix: larger(head),
      });
    const short = shortOf(advised, head.resources);
    if (short.length > 0)
      return warn(
        `The head requests ${showResources(head.resources)}; with less than ${showResources(advised)} it runs out of memory.`,
        {
          evidence: [evidence],
          fix: { kind: 'advice', text: `Give the head ${showResources(advised)} or more.` },
        },
      );
    return pass(`The head fits on ${formatNodeNames(places.filter((node) => fits(head, node)))}.`, evidence);
  },
};

const workerFit: Check = {
  id: 'worker-fit',
  category: 'nodes',
  title: 'Workers fit on a node',
  severity: 'error',
  needs: ['client-nodes-list'],
  run: async ({ kube, profile }) => {
    const [groups, nodes] = await Promise.all([groupsOf(kube), nodesOf(kube)]);
    const evidence: Evidence[] = [];
    for (const group of groups.filter(({ role }) => role === 'worker')) {
      // Nodes without their GPUs are left out, because gpu-allocatable reports them.
      const places = candidateNodes(profile, group, nodes).filter(
        ({ allocatable }) => group.resources.gpu === 0 || allocatable.gpu > 0,
      );
      if (places.length === 0) continue;
      evidence.push(offered(group, places));
      if (!places.some((node) => fits(group, node)))
        return fail(`A pod of ${group.title} fits on no node: short of ${shortage(group, places)}.`, {
          evidence,
          fix: larger(group),
        });
    }
    if (evidence.length === 0) return skip('There is currently no node for workers, so their size is not known.');
    return pass('A pod of each worker group fits on a node.', ...evidence);
  },
};

/**
 * Returns the architecture of an image: the architecture in its tag, or amd64 for Ray's images, because their tags omit
 * it.
 */
export function architectureOf(image: string): string | undefined {
  const tag = tagOf(image) ?? '';
  if (/aarch64|arm64/.test(tag)) return 'arm64';
  if (/amd64|x86[-_]64/.test(tag)) return 'amd64';
  return /^(?:docker\.io\/)?rayproject\//.test(image) && tag !== '' ? 'amd64' : undefined;
}

export const architecture: Check = {
  id: 'arch-match',
  category: 'nodes',
  title: 'Nodes have the architecture of images',
  severity: 'warning',
  needs: ['client-nodes-list'],
  run: async ({ kube, profile }) => {
    const [groups, nodes] = await Promise.all([groupsOf(kube), nodesOf(kube)]);
    const evidence: Evidence[] = [];
    for (const group of groups) {
      const places = candidateNodes(profile, group, nodes).filter((node) => node.architecture !== undefined);
      if (places.length === 0) continue;
      const found = [...new Set(places.map((node) => `${node.system ?? 'linux'}/${node.architecture}`))];
      const made = group.image === undefined ? undefined : architectureOf(group.image);
      evidence.push({
        asked: `architecture of the nodes for ${group.title}, image ${group.image ?? 'not set'}`,
        saw: found.join(', '),
      });
      const [first = '', ...others] = found;
      if (others.length > 0)
        return warn(`The nodes for ${group.title} differ: ${found.join(', ')}. An image runs on only one of them.`, {
          evidence,
          fix: { kind: 'advice', text: `Add kubernetes.io/arch to the nodeSelector of ${group.title}.` },
        });
      if (made !== undefined && first !== `linux/${made}`)
        return warn(
          `The image ${group.image} is built for linux/${made}, but the nodes for ${group.title} are ${first}.`,
          {
            evidence,
            fix: { kind: 'advice', text: `Use an image for ${first}, or nodes of linux/${made}, for ${group.title}.` },
          },
        );
    }
    if (evidence.length === 0) return skip('No node for head or workers reports its architecture.');
    return pass('Nodes and images have the same architecture.', ...evidence);
  },
};

export const sizeChecks: readonly Check[] = [headSize, workerFit];
