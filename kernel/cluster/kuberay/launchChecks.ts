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
