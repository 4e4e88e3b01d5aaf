import type { KeySet } from './webToken.ts';

/** The state of the project that `GoogleStandIn` simulates. A test changes a part of it to create a fault. */
export type GoogleState = {
  /** The state of the user's login. It decides how the token endpoint replies to the refresh token. */
  login: 'good' | 'expired' | 'too old' | 'account deleted';
  /** The permissions of the user. */
  mayPerson: Set<string>;
  /** APIs that are not enabled, by host. */
  disabled: Set<string>;
  cluster: {
    path: string;
    endpoint: string;
    workloadPool: string | undefined;
    autopilot: boolean;
    nodePools: { name: string; labels: Record<string, string>; mode: string | undefined }[];
  };
  /** The token issuers of the pool: addresses of providers, with their issuers and keys. */
  issuers: Map<string, { issuer: string; keys: KeySet }>;
  /** Bindings by Google service account. Their members have the role roles/iam.workloadIdentityUser. */
  accounts: Map<string, Binding[]>;
  /** Bindings by bucket. */
  buckets: Map<string, Binding[]>;
  /**
   * Bindings of the project. They apply to everything in the project, but the policies of its resources don't list
   * them.
   */
  project: Binding[];
  /** Objects by `bucket/name`. */
  objects: Map<string, string>;
};

export type Binding = { role: string; members: string[]; condition?: { expression: string } };

/** The permissions of a role that matter here. */
export const permissionsOf: Readonly<Record<string, readonly string[]>> = {
  'roles/iam.workloadIdentityUser': ['iam.serviceAccounts.getAccessToken'],
  'roles/storage.objectAdmin': [
    'storage.objects.create',
    'storage.objects.delete',
    'storage.objects.get',
    'storage.objects.list',
  ],
  'roles/storage.objectViewer': ['storage.objects.get', 'storage.objects.list'],
};

export const google = {
  project: 'test-project',
  location: 'europe-west1-b',
  clusterName: 'ray',
  pool: 'test-project.svc.id.goog',
  account: 'geneva@test-project.iam.gserviceaccount.com',
  bucket: 'geneva-tables',
  person: 'alice@example.com',
  refreshToken: '1//refresh-token-of-alice',
} as const;

const clusterPath = `projects/${google.project}/locations/${google.location}/clusters/${google.clusterName}`;
export const provider = `https://container.googleapis.com/v1/${clusterPath}`;
export const workload = `serviceAccount:${google.pool}[geneva/geneva-sa]`;

/**
 * Returns a state without faults.
 * @param issuer the issuer of the cluster's tokens
 * @param keys the keys of `issuer`
 */
export const soundState = (issuer: string, keys: KeySet): GoogleState => ({
  login: 'good',
  mayPerson: new Set(['container.clusters.get', 'iam.serviceAccounts.getIamPolicy', 'storage.buckets.getIamPolicy']),
  disabled: new Set(),
  cluster: {
    path: clusterPath,
    endpoint: new URL(issuer).hostname,
    workloadPool: google.pool,
    autopilot: false,
    nodePools: [
      { name: 'system', labels: {}, mode: undefined },
      { name: 'head', labels: { 'geneva.lancedb.com/ray-head': 'true' }, mode: 'GKE_METADATA' },
      { name: 'gpu', labels: { 'geneva.lancedb.com/ray-worker-gpu': 'true' }, mode: 'GKE_METADATA' },
    ],
  },
  issuers: new Map([[provider, { issuer, keys }]]),
  accounts: new Map([[google.account, [{ role: 'roles/iam.workloadIdentityUser', members: [workload] }]]]),
  buckets: new Map([
    [google.bucket, [{ role: 'roles/storage.objectAdmin', members: [`serviceAccount:${google.account}`] }]],
  ]),
  project: [],
  objects: new Map(),
});

/** Whether these bindings give a member a permission. A binding with a condition gives none here. */
export const holds = (bindings: readonly Binding[], member: string, permission: string): boolean =>
  bindings.some(
    ({ role, members, condition }) =>
      condition === undefined && members.includes(member) && permissionsOf[role]?.includes(permission) === true,
  );
