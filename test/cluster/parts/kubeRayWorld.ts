import { createRayCluster, type CreateRayClusterOptions } from '#cluster/kuberay/createRayCluster.ts';
import type { OpenRayCluster } from '#cluster/kuberay/openRayCluster.ts';
import { rayClusterSpecOf } from '#cluster/kuberay/rayClusterSpec.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { OperatorVersion } from '../../harness/needs/kuberayNeeds.ts';
import { RayDashboardStandIn } from '../standIns/rayDashboardStandIn.ts';
import type { KubeObject } from './kubeApi.ts';
import { startKubeCluster } from './kubeCluster.ts';
import { type KubeRay, startKubeRay } from './kubeRay.ts';
import { names } from './sound/names.ts';
import { profileFor } from './soundCluster.ts';

const { namespace } = names;

/** Time limit for each operation of these tests, in milliseconds. */
export const longEnough = 60_000;

/** A cluster with a KubeRay operator. A stand-in of Ray's dashboard responds for its heads. */
export class KubeRayWorld {
  readonly ray: KubeRay;
  readonly dashboard: RayDashboardStandIn;
  /** Alice's profile, with one group of workers. */
  readonly profile: ClusterProfile;

  private constructor(ray: KubeRay, dashboard: RayDashboardStandIn) {
    this.ray = ray;
    this.dashboard = dashboard;
    const alice = profileFor(ray.cluster.kubeconfig('alice'));
    const workerGroups = alice.workerGroups.slice(0, 1).map((group) => ({ ...group, minReplicas: 1 }));
    this.profile = { ...alice, rayCluster: undefined, workerGroups };
  }

  static async start(version: OperatorVersion): Promise<KubeRayWorld> {
    const dashboard = await RayDashboardStandIn.start();
    try {
      return new KubeRayWorld(await startKubeRay(await startKubeCluster(), version), dashboard);
    } catch (error) {
      await dashboard.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.dashboard.stop();
    await this.ray.stop();
    await this.ray.cluster.stop();
  }

  async isThere(name: string): Promise<boolean> {
    const object = { apiVersion: 'ray.io/v1', kind: 'RayCluster', metadata: { name, namespace } };
    return (await this.ray.cluster.api.get(object)) !== undefined;
  }

  async podsOf(name: string): Promise<KubeObject[]> {
    const pods = await this.ray.cluster.api.list('v1', 'Pod');
    return pods.filter(({ metadata }) => metadata.labels?.['ray.io/cluster'] === name);
  }

  create(
    name: string,
    options: Partial<CreateRayClusterOptions> = {},
    change: Partial<ClusterProfile> = {},
  ): Promise<OpenRayCluster> {
    const changed = { ...this.profile, ...change };
    const common = { signal: AbortSignal.timeout(longEnough), verify: false };
    return createRayCluster(changed, rayClusterSpecOf(changed, { name }), { ...common, ...options });
  }
}
