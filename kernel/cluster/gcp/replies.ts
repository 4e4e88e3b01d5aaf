import { ClusterError } from '#cluster/errors.ts';
import { at, listAt, mapAt, textAt, textsAt } from '#cluster/kube/fields.ts';

// What Google Cloud answers, read field by field into plain data.

/** A pool of nodes, as far as checks look at it. */
export type NodePool = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** `GKE_METADATA` where its pods get tokens of their own service account; without it they get the node's. */
  readonly metadataMode: string | undefined;
};

/** A GKE cluster, as far as checks look at it. */
export type GkeCluster = {
  readonly status: string;
  readonly isAutopilot: boolean;
  /** `PROJECT.svc.id.goog` where workload identity is on. */
  readonly workloadPool: string | undefined;
  /** Hosts by which its API server is reached. */
  readonly endpoints: readonly string[];
  readonly nodePools: readonly NodePool[];
};

/** @throws ClusterError BadReply where that is no cluster */
export function readGkeCluster(body: unknown, asked: string): GkeCluster {
  const status = textAt(body, 'status');
  if (status === undefined)
    throw new ClusterError(
      'BadReply',
      `The reply to ${asked} is not a GKE cluster.`,
      'Check which server replies there.',
    );
  const endpoints = [
    textAt(body, 'endpoint'),
    textAt(body, 'privateClusterConfig', 'publicEndpoint'),
    textAt(body, 'privateClusterConfig', 'privateEndpoint'),
    textAt(body, 'controlPlaneEndpointsConfig', 'ipEndpointsConfig', 'publicEndpoint'),
    textAt(body, 'controlPlaneEndpointsConfig', 'ipEndpointsConfig', 'privateEndpoint'),
    textAt(body, 'controlPlaneEndpointsConfig', 'dnsEndpointConfig', 'endpoint'),
  ];
  return {
    status,
    isAutopilot: at(body, 'autopilot', 'enabled') === true,
    workloadPool: textAt(body, 'workloadIdentityConfig', 'workloadPool'),
    endpoints: endpoints.filter((one) => one !== undefined),
    nodePools: listAt(body, 'nodePools').map((pool) => ({
      name: textAt(pool, 'name') ?? '',
      labels: mapAt(pool, 'config', 'labels'),
      metadataMode: textAt(pool, 'config', 'workloadMetadataConfig', 'mode'),
    })),
  };
}

/** Who has a role; with a condition only while that holds. */
export type Binding = {
  readonly role: string;
  readonly members: readonly string[];
  /** The condition's expression. */
  readonly condition: string | undefined;
};

/** The bindings of an IAM policy; an empty policy has none. */
export const readPolicy = (body: unknown): readonly Binding[] =>
  listAt(body, 'bindings').map((binding) => ({
    role: textAt(binding, 'role') ?? '',
    members: textsAt(binding, 'members'),
    condition: textAt(binding, 'condition', 'expression'),
  }));

/** The bindings by which one of these members has one of these roles. */
export const bindingsOf = (
  policy: readonly Binding[],
  members: readonly string[],
  roles: readonly string[],
): readonly Binding[] =>
  policy.filter((binding) => roles.includes(binding.role) && binding.members.some((one) => members.includes(one)));

/** A token of an answer. @throws ClusterError BadReply, which names what was asked */
export function tokenAt(body: unknown, name: string, asked: string): string {
  const token = textAt(body, name);
  if (token !== undefined) return token;
  throw new ClusterError('BadReply', `The reply to ${asked} has no "${name}".`, 'Check which server replies there.');
}
