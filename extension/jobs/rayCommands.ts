import * as vscode from 'vscode';
import type { OpenDashboard } from '#cluster/kuberay/dashboardProxy.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { chooseProfile, profileDescription } from '../cluster/chooseProfile.ts';
import type { ClusterServices } from '../cluster/register.ts';
import { pickOne } from '../host/ask.ts';
import { registerCommand } from '../host/commands.ts';
import { logFailure, type Log } from '../host/log.ts';
import { notifyProgress, showDone, showInformation, showWarning } from '../host/messages.ts';
import { connectToRay, type ConnectToRayDeps } from './connectToRay.ts';
import { mayCreateOn } from './launchGate.ts';
import type { RayConnections } from './rayAddresses.ts';

type RayCommandDeps = ConnectToRayDeps & {
  readonly log: Log;
  readonly rays: RayConnections;
  readonly cluster: ClusterServices;
};

export function registerRayCommands(parts: RayCommandDeps): vscode.Disposable {
  const { log } = parts;
  const dashboards = new Dashboards(log);
  return vscode.Disposable.from(
    dashboards,
    registerCommand(log, 'lanceCatalog.ray.connect', async () => {
      const address = await connectToRay(parts);
      if (address !== undefined) showDone(`Connected to Ray at ${address}`, 5000);
    }),
    registerCommand(log, 'lanceCatalog.ray.createCluster', async () => {
      const profile = await chooseProfile(parts.cluster, undefined, 'Select the cluster to create a RayCluster in');
      if (profile) await createCluster(parts, profile, dashboards);
    }),
    registerCommand(log, 'lanceCatalog.ray.openDashboard', async () => {
      const place = await askRay(parts);
      if (typeof place === 'string') await openAddress(place);
      else if (place) await dashboards.open(place);
    }),
    registerCommand(log, 'lanceCatalog.ray.forget', () => forgetRay(parts.rays)),
  );
}

/**
 * Prompts for the address of a Ray dashboard, or for a profile whose cluster runs Ray. `undefined` if the user cancels.
 */
async function askRay(parts: RayCommandDeps): Promise<string | ClusterProfile | undefined> {
  const profiles = parts.cluster.profiles.list().flatMap((one) => ('profile' in one ? [one.profile] : []));
  const choices = [
    ...parts.rays.list().map((address) => ({ label: `Ray at ${address}`, icon: 'server-environment', value: address })),
    ...profiles.map((profile) => ({
      label: `Ray in the cluster "${profile.name}"`,
      description: profileDescription(profile),
      icon: 'server-environment',
      value: profile,
    })),
    { label: 'Connect to Ray…', icon: 'plug', value: 'connect' },
  ];
  const chosen = await pickOne<string | ClusterProfile>('Select the Ray cluster whose dashboard to open', choices);
  return chosen === 'connect' ? connectToRay(parts) : chosen;
}

/** Removes only the connection, not the Ray cluster. */
async function forgetRay(rays: RayConnections): Promise<void> {
  const addresses = rays.list();
  if (addresses.length === 0) return void showInformation('There is no Ray connection to remove.');
  const choices = addresses.map((address) => ({ label: address, icon: 'server-environment', value: address }));
  const address = await pickOne('Select the Ray connection to remove, with its token', choices);
  if (address !== undefined) await rays.remove(address);
}

/** Creates the RayCluster of a profile after its checks. The RayCluster runs until the user deletes it. */
async function createCluster(parts: RayCommandDeps, profile: ClusterProfile, dashboards: Dashboards): Promise<void> {
  const { createRayCluster, rayClusterSpecOf } = await import('#cluster/entry.ts');
  const spec = rayClusterSpecOf(profile);
  if (!(await mayCreateOn(parts.cluster, profile, new AbortController().signal))) return;
  const cluster = await notifyProgress('Creating a RayCluster', ({ signal, report }) =>
    createRayCluster(profile, spec, {
      signal,
      onExit: 'retain',
      // Don't repeat the checks that have just run.
      verify: false,
      onProgress: ({ sentence }) => report(sentence),
      onWarning: (sentence) => void showWarning(sentence),
    }),
  );
  const { name, namespace, rayVersion, adopted } = cluster;
  // Closes only the connection; the RayCluster continues to run.
  await cluster[Symbol.asyncDispose]();
  const [dashboard, backfill] = ['Open Dashboard', 'Backfill Column…'] as const;
  const choice = await showInformation(
    `The RayCluster ${namespace}/${name} is ready: Ray ${rayVersion}${adopted ? '. It already existed' : ''}.`,
    dashboard,
    backfill,
  );
  if (choice === dashboard) await dashboards.open(profile);
  if (choice === backfill) await vscode.commands.executeCommand('lanceCatalog.backfill.column');
}

const openAddress = async (address: string): Promise<void> => {
  await vscode.env.openExternal(vscode.Uri.parse(address, true));
};

/** Opens Ray dashboards through a Kubernetes API server. The connections stay open until the window closes. */
class Dashboards implements vscode.Disposable {
  readonly #log: Log;
  readonly #open = new Map<string, OpenDashboard>();
  readonly #lifetime = new AbortController();

  constructor(log: Log) {
    this.#log = log;
  }

  async open(profile: ClusterProfile): Promise<void> {
    const dashboard = this.#open.get(profile.name) ?? (await this.#connect(profile));
    // The address contains a key, so it is passed only to the browser.
    await openAddress(dashboard.address);
  }

  dispose(): void {
    this.#lifetime.abort();
    for (const one of this.#open.values())
      Promise.resolve(one[Symbol.asyncDispose]()).catch((error: unknown) =>
        logFailure(this.#log, 'closing a dashboard', error),
      );
  }

  async #connect(profile: ClusterProfile): Promise<OpenDashboard> {
    const { openDashboard } = await import('#cluster/entry.ts');
    const opened = await notifyProgress(`Opening the Ray dashboard of "${profile.name}"`, ({ signal }) =>
      openDashboard(profile, {
        signal: AbortSignal.any([this.#lifetime.signal, signal]),
        onProblem: (sentence) => this.#log.warn(`the dashboard of "${profile.name}": ${sentence}`),
      }),
    );
    this.#open.set(profile.name, opened);
    return opened;
  }
}
