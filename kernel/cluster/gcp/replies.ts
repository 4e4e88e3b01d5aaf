import { ClusterError } from '#cluster/errors.ts';
import { at, listAt, mapAt, textAt, textsAt } from '#cluster/kube/fields.ts';

// Replies of Google Cloud, parsed into plain data.

export type NodePool = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** With `GKE_METADATA`, pods get tokens of their service account; otherwise of the node's. */
  readonly metadataMode: string | undefined;
};

export type GkeCluster = {
  readonly status: string;
  readonly isAutopilot: boolean;
  /** `PROJECT.svc.id.goog` if workload identity is on. */
  readonly workloadPool: string | undefined;
  /** Hosts of its API server. */
  readonly endpoints: readonly string[];
  readonly nodePools: readonly NodePool[];
};

/** @throws ClusterError BadReply if the body is not a cluster */
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

/** The members that have a role. */
export type Binding = {
  readonly role: string;
  readonly members: readonly string[];
  /** The expression that must be true for the binding to apply. */
  readonly condition: string | undefined;
};

/** Reads the bindings of an IAM policy; an empty policy has none. */
export const readPolicy = (body: unknown): readonly Binding[] =>
  listAt(body, 'bindings').map((binding) => ({
    role: textAt(binding, 'role') ?? '',
    members: textsAt(binding, 'members'),
    condition: textAt(binding, 'condition', 'expression'),
  }));

/** Returns the bindings that give any of these members any of these roles. */
export const bindingsOf = (
  policy: readonly Binding[],
  members: readonly string[],
  roles: readonly string[],
): readonly Binding[] =>
  policy.filter((binding) => roles.includes(binding.role) && binding.members.some((one) => members.includes(one)));

/** Reads a token from a reply. @throws ClusterError BadReply, which names the request */
export function tokenAt(body: unknown, name: string, asked: string): string {
  const token = textAt(body, name);
  if (token !== undefined) return token;
  throw new ClusterError('BadReply', `The reply to ${asked} has no "${name}".`, 'Check which server replies there.');
}
