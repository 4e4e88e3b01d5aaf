import type { CheckId } from '#cluster/checkIds.ts';

/** Checks before creating a RayCluster; if one fails, the RayCluster would not start or not be reachable. */
export const launchCheckIds: readonly CheckId[] = [
  'k8s-whoami',
  'crd-rayclusters',
  'operator-running',
  'operator-watches',
  'operator-version',
  'ns-exists',
  'sa-exists',
  'client-rayclusters-create',
  'client-rayclusters-get',
  'client-rayclusters-patch',
  'client-rayclusters-delete',
  'client-portforward',
  'nodes-selector-match',
  'head-size',
  'worker-fit',
  'quota-room',
  'limits-room',
];

/**
 * Checks before submitting a job to an existing RayCluster: whether it is reachable, whether its pods have the right
 * identity, and whether the pods can access the bucket. Checks for another cloud than the profile's do not apply.
 */
export const jobCheckIds: readonly CheckId[] = [
  'k8s-whoami',
  'ns-exists',
  'sa-exists',
  'pods-run-as',
  'client-rayclusters-get',
  'client-portforward',
  'ray-version-head',
  'irsa-assume',
  'irsa-bucket-list',
  'irsa-bucket-get',
  'gcp-chain-impersonate',
  'gcp-chain-bucket',
];
