import { listAt, mapAt, stringAt } from '#shared/fields.ts';

/** The service account of pods that name none. */
export const defaultPodAccount = 'default';

export type Pod = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly serviceAccount: string;
  readonly node: string | undefined;
  /** `Pending`, `Running`, … */
  readonly phase: string | undefined;
  /** The containers. `variables` has only variables about AWS, because others may be secrets. */
  readonly containers: readonly { readonly name: string; readonly variables: Readonly<Record<string, string>> }[];
};

const shownVariables = new Set([
  'AWS_ROLE_ARN',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_REGION',
]);

/** Parses a pod; returns `undefined` if it is not a pod, has ended or is being deleted. */
export function readPod(item: unknown): Pod | undefined {
  const name = stringAt(item, 'metadata', 'name');
  const phase = stringAt(item, 'status', 'phase');
  const isLeaving = stringAt(item, 'metadata', 'deletionTimestamp') !== undefined;
  if (name === undefined || isLeaving || phase === 'Succeeded' || phase === 'Failed') return undefined;
  return {
    name,
    labels: mapAt(item, 'metadata', 'labels'),
    serviceAccount: stringAt(item, 'spec', 'serviceAccountName') ?? defaultPodAccount,
    node: stringAt(item, 'spec', 'nodeName'),
    phase,
    containers: listAt(item, 'spec', 'containers').map((container) => ({
      name: stringAt(container, 'name') ?? '',
      variables: Object.fromEntries(
        listAt(container, 'env').flatMap((one) => {
          const variable = stringAt(one, 'name');
          return variable === undefined || !shownVariables.has(variable)
            ? []
            : [[variable, stringAt(one, 'value') ?? '']];
        }),
      ),
    })),
  };
}

/** Labels that the operator sets on the pods of a RayCluster. */
const rayLabels = { cluster: 'ray.io/cluster', type: 'ray.io/node-type', group: 'ray.io/group' } as const;

export const isOfRayCluster = ({ labels }: Pod, name: string): boolean => labels[rayLabels.cluster] === name;
export const isHead = ({ labels }: Pod): boolean => labels[rayLabels.type] === 'head';
export const isWorkerOf = ({ labels }: Pod, group: string | undefined): boolean =>
  labels[rayLabels.type] === 'worker' && (group === undefined || labels[rayLabels.group] === group);
