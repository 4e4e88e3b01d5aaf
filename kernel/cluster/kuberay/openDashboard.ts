import type { ClusterProfile } from '#cluster/profile.ts';
import { DashboardDoor } from './dashboardDoor.ts';
import { openRayLink, type OpenRayLinkOptions } from './openRayLink.ts';

/** A dashboard that is open to this machine's browsers. */
export type OpenDashboard = AsyncDisposable & {
  /** With a key: to be opened, and never logged. */
  readonly address: string;
};

/** Opens the dashboard of a RayCluster that is there, through the API server. @throws ClusterError as `openRayLink` */
export async function openDashboard(profile: ClusterProfile, options: OpenRayLinkOptions): Promise<OpenDashboard> {
  const link = await openRayLink(profile, options);
  try {
    const door = await DashboardDoor.open(link.target);
    return {
      address: door.address,
      [Symbol.asyncDispose]: async () => {
        await door[Symbol.asyncDispose]();
        await link[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    // Nobody else has it.
    await link[Symbol.asyncDispose]();
    throw error;
  }
}
