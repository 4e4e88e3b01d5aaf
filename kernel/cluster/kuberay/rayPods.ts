import { conditionAt } from '#cluster/kube/conditionAt.ts';
import { listAt, numberAt, stringAt } from '#shared/fields.ts';

/** The data of a pod that is needed to wait for its RayCluster. */
export type RayPod = {
  readonly name: string;
  readonly isHead: boolean;
  /** The worker group; `undefined` for the head. */
  readonly group: string | undefined;
  readonly state: 'pending' | 'starting' | 'ready' | 'failed' | 'ending';
  /** Why it is not ready, as reported by the scheduler, kubelet or container; `undefined` if not reported. */
  readonly reason: string | undefined;
};

export const podLabels = { cluster: 'ray.io/cluster', type: 'ray.io/node-type', group: 'ray.io/group' } as const;

export function readRayPod(item: unknown): RayPod | undefined {
  const name = stringAt(item, 'metadata', 'name');
  const type = stringAt(item, 'metadata', 'labels', podLabels.type);
  if (name === undefined || type === undefined) return undefined;
  const isHead = type === 'head';
  const group = isHead ? undefined : stringAt(item, 'metadata', 'labels', podLabels.group);
  return { name, isHead, group, ...stateOf(item) };
}

function stateOf(item: unknown): Pick<RayPod, 'state' | 'reason'> {
  const phase = stringAt(item, 'status', 'phase');
  if (stringAt(item, 'metadata', 'deletionTimestamp') !== undefined) return { state: 'ending', reason: undefined };
  if (phase === 'Failed' || phase === 'Succeeded')
    return {
      state: 'failed',
      reason: sentenceOf(stringAt(item, 'status', 'reason'), stringAt(item, 'status', 'message')),
    };
  if (conditionAt(item, 'Ready') === true) return { state: 'ready', reason: undefined };
  const waiting = containerReason(item);
  if (stringAt(item, 'spec', 'nodeName') === undefined) return { state: 'pending', reason: schedulerReason(item) };
  return { state: 'starting', reason: waiting };
}

/** Returns the scheduler's message if it found no node. */
function schedulerReason(item: unknown): string | undefined {
  const condition = listAt(item, 'status', 'conditions').find((one) => stringAt(one, 'type') === 'PodScheduled');
  return stringAt(condition, 'status') === 'False' ? stringAt(condition, 'message') : undefined;
}

/** The reasons for waiting that a container has when it starts normally. */
const usual = new Set(['ContainerCreating', 'PodInitializing']);

/** Returns why a container does not run: its image, its settings, or its exit. */
function containerReason(item: unknown): string | undefined {
  const statuses = [...listAt(item, 'status', 'initContainerStatuses'), ...listAt(item, 'status', 'containerStatuses')];
  for (const status of statuses) {
    const name = stringAt(status, 'name') ?? 'a container';
    const waiting = stringAt(status, 'state', 'waiting', 'reason');
    if (waiting !== undefined && !usual.has(waiting)) {
      const last = endOf(status, 'lastState');
      const said = sentenceOf(waiting, stringAt(status, 'state', 'waiting', 'message'));
      return `${name}: ${said}${last === undefined ? '' : ` (its previous run: ${last})`}`;
    }
    const ended = endOf(status, 'state');
    if (ended !== undefined) return `${name}: ${ended}`;
  }
  return undefined;
}

/** Describes how a container ended: `OOMKilled, exit code 137`. */
function endOf(status: unknown, state: 'state' | 'lastState'): string | undefined {
  const reason = stringAt(status, state, 'terminated', 'reason');
  const code = numberAt(status, state, 'terminated', 'exitCode');
  return code === undefined ? undefined : `${reason ?? 'ended'}, exit code ${code}`;
}

const sentenceOf = (reason: string | undefined, message: string | undefined): string | undefined =>
  reason === undefined ? message : message === undefined ? reason : `${reason}: ${message}`;
