import type { V1Taint, V1Toleration } from '@kubernetes/client-node';
import { definedEntries } from '#shared/records.ts';
import { conditionAt } from './conditionAt.ts';
import { fieldAt, listAt, mapAt, stringAt } from '#shared/fields.ts';
import { gpuResource, parseQuantity, type Resources } from './quantities.ts';

type Taint = Readonly<Pick<V1Taint, 'key' | 'effect' | 'value'>>;

export type KubeNode = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly isReady: boolean;
  /** `kubectl cordon`: accepts no new pods. */
  readonly isCordoned: boolean;
  readonly taints: readonly Taint[];
  /** The resources available to pods. */
  readonly allocatable: Resources;
  /** `amd64`, `arm64`. */
  readonly architecture: string | undefined;
  readonly system: string | undefined;
};

/** Parses a node, or returns `undefined` if it is not one. */
export function readNode(item: unknown): KubeNode | undefined {
  const name = stringAt(item, 'metadata', 'name');
  if (name === undefined) return undefined;
  const amount = (resource: string): number => parseQuantity(fieldAt(item, 'status', 'allocatable', resource)) ?? 0;
  const labels = mapAt(item, 'metadata', 'labels');
  return {
    name,
    labels,
    isReady: conditionAt(item, 'Ready') === true,
    isCordoned: fieldAt(item, 'spec', 'unschedulable') === true,
    taints: listAt(item, 'spec', 'taints').flatMap((taint) => {
      const key = stringAt(taint, 'key');
      const effect = stringAt(taint, 'effect');
      return key === undefined || effect === undefined
        ? []
        : [{ key, effect, ...definedEntries({ value: stringAt(taint, 'value') }) }];
    }),
    allocatable: { cpu: amount('cpu'), memory: amount('memory'), gpu: amount(gpuResource) },
    architecture: stringAt(item, 'status', 'nodeInfo', 'architecture') ?? labels['kubernetes.io/arch'],
    system: stringAt(item, 'status', 'nodeInfo', 'operatingSystem') ?? labels['kubernetes.io/os'],
  };
}

/** Returns whether the scheduler places pods on the node now. */
export const isUsable = ({ isReady, isCordoned }: KubeNode): boolean => isReady && !isCordoned;

export const nodeStateText = ({ isReady, isCordoned }: KubeNode): string =>
  [isReady ? 'ready' : 'not ready', ...(isCordoned ? ['cordoned'] : [])].join(', ');

/** Returns the label with which a cloud marks a node that it may remove at any time. */
export function spotLabelOf({ labels }: Pick<KubeNode, 'labels'>): string | undefined {
  const found = spotLabels.find(([key, value]) => labels[key]?.toLowerCase() === value);
  return found && `${found[0]}=${labels[found[0]]}`;
}

const spotLabels = [
  ['cloud.google.com/gke-spot', 'true'],
  ['cloud.google.com/gke-preemptible', 'true'],
  ['eks.amazonaws.com/capacityType', 'spot'],
  ['karpenter.sh/capacity-type', 'spot'],
  ['kubernetes.azure.com/scalesetpriority', 'spot'],
] as const;

/**
 * Returns the provisioner that creates nodes on demand, if it has created any of the given nodes.
 * GKE Autopilot is detected by node names, Karpenter and EKS Auto Mode by labels. With a provisioner, a missing node is
 * not a problem.
 */
export function nodeMakerOf(nodes: readonly KubeNode[]): string | undefined {
  if (nodes.some(({ name }) => name.startsWith('gk3-'))) return 'GKE Autopilot';
  if (nodes.some(({ labels }) => labels['eks.amazonaws.com/compute-type'] === 'auto')) return 'EKS Auto Mode';
  return nodes.some(({ labels }) => Object.hasOwn(labels, 'karpenter.sh/nodepool')) ? 'Karpenter' : undefined;
}

/** A toleration without a key matches every key. A toleration without an effect matches every effect. */
export type Toleration = Readonly<Pick<V1Toleration, 'key' | 'operator' | 'value' | 'effect'>>;

export const readToleration = (item: unknown): Toleration =>
  definedEntries({
    key: stringAt(item, 'key'),
    operator: stringAt(item, 'operator'),
    value: stringAt(item, 'value'),
    effect: stringAt(item, 'effect'),
  });

/**
 * Taints that Kubernetes and autoscalers set while a node is cordoned, not ready, under pressure, new or about to be
 * removed. They are ignored, because the state of the node reports the reason.
 */
const passing =
  /^(?:node\.kubernetes\.io|node\.cloudprovider\.kubernetes\.io)\/|^(?:ToBeDeleted|DeletionCandidateOf)|^karpenter\.sh\/(?:unregistered|disrupt)/;

/** Returns the permanent taints that keep pods without a toleration off the node. */
export const blockingTaints = ({ taints }: KubeNode): readonly Taint[] =>
  taints.filter(({ key, effect }) => effect !== 'PreferNoSchedule' && !passing.test(key));

/** Returns the permanent taints of a node that none of these tolerations tolerates. */
export function taintsAgainst(node: KubeNode, tolerations: readonly Toleration[]): readonly Taint[] {
  return blockingTaints(node).filter((taint) => !tolerations.some((one) => tolerates(one, taint)));
}

function tolerates({ key, operator, value, effect }: Toleration, taint: Taint): boolean {
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key === undefined) return operator === 'Exists';
  return key === taint.key && (operator === 'Exists' || (value ?? '') === (taint.value ?? ''));
}

export const showTaint = ({ key, value, effect }: Taint): string =>
  `${key}${value === undefined ? '' : `=${value}`}:${effect}`;

/** Lists nodes for display, up to three by name: `n1, n2, n3 and 7 more`. */
export function formatNodeNames(nodes: readonly { readonly name: string }[]): string {
  const shown = nodes.slice(0, 3).map(({ name }) => name);
  const more = nodes.length - shown.length;
  if (more > 0) return `${shown.join(', ')} and ${more} more`;
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}
