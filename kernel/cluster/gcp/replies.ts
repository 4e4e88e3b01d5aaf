import { ClusterError } from '#cluster/errors.ts';
import { fieldAt, listAt, mapAt, stringAt, textsAt } from '#shared/fields.ts';

// Replies of Google Cloud, parsed into plain data.

export type NodePool = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** With `GKE_METADATA`, pods get tokens of their service account; otherwise, tokens of the node. */
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
  const status = stringAt(body, 'status');
  if (status === undefined)
    throw new ClusterError(
      'BadReply',
      `The reply to ${asked} is not a GKE cluster.`,
      'Check which server replies there.',
    );
  const endpoints = [
    stringAt(body, 'endpoint'),
    stringAt(body, 'privateClusterConfig', 'publicEndpoint'),
    stringAt(body, 'privateClusterConfig', 'privateEndpoint'),
    stringAt(body, 'controlPlaneEndpointsConfig', 'ipEndpointsConfig', 'publicEndpoint'),
    stringAt(body, 'controlPlaneEndpointsConfig', 'ipEndpointsConfig', 'privateEndpoint'),
    stringAt(body, 'controlPlaneEndpointsConfig', 'dnsEndpointConfig', 'endpoint'),
  ];
  return {
    status,
    isAutopilot: fieldAt(body, 'autopilot', 'enabled') === true,
    workloadPool: stringAt(body, 'workloadIdentityConfig', 'workloadPool'),
    endpoints: endpoints.filter((one) => one !== undefined),
    nodePools: listAt(body, 'nodePools').map((pool) => ({
      name: stringAt(pool, 'name') ?? '',
      labels: mapAt(pool, 'config', 'labels'),
      metadataMode: stringAt(pool, 'config', 'workloadMetadataConfig', 'mode'),
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
    role: stringAt(binding, 'role') ?? '',
    members: textsAt(binding, 'members'),
    condition: stringAt(binding, 'condition', 'expression'),
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
  const token = stringAt(body, name);
  if (token !== undefined) return token;
  throw new ClusterError('BadReply', `The reply to ${asked} has no "${name}".`, 'Check which server replies there.');
}
