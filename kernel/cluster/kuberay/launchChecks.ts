import type { CheckId } from '#cluster/checkIds.ts';

/** What has to be so before a RayCluster is made: without any of these it does not come up, or cannot be reached. */
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
 * What has to be so before a job is sent to a RayCluster that is there: it can be reached, its pods are who they ought to be,
 * and they get at the bucket. Those of another cloud than the profile's do not apply.
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
