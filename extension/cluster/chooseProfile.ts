import type { ClusterProfile } from '#cluster/profile.ts';
import { pickOne } from '../host/ask.ts';
import type { ClusterProfiles, ListedProfile } from './clusterProfiles.ts';
import { newProfile } from './newProfile.ts';

/**
 * Returns the named profile, the only profile, or the profile that the user picks. If no profile exists, prompts the
 * user to create one. Returns `undefined` if the user cancels.
 */
export async function chooseProfile(
  { profiles }: { profiles: ClusterProfiles },
  name?: string,
  question = 'Select the cluster to verify',
): Promise<ClusterProfile | undefined> {
  if (name !== undefined) return profiles.get(name);
  const listed = profiles.list();
  const [only] = listed;
  if (!only) return newProfile(profiles, 'There is no cluster profile yet. Select the cluster of the first one');
  const chosen = listed.length === 1 ? only : await pick(question, listed);
  if (chosen === 'new') return newProfile(profiles);
  return chosen && profiles.get(chosen.name);
}

function pick(question: string, listed: readonly ListedProfile[]): Promise<ListedProfile | 'new' | undefined> {
  return pickOne<ListedProfile | 'new'>(question, [
    ...listed.map((one) => ({
      label: one.name,
      icon: 'problem' in one ? 'warning' : 'server-environment',
      ...('problem' in one ? { description: one.problem } : { description: profileDescription(one.profile) }),
      value: one,
    })),
    { label: 'New Cluster Profile…', icon: 'add', value: 'new' as const },
  ]);
}

export function profileDescription({ auth, namespace, serviceAccount }: ClusterProfile): string {
  const who = `${namespace}/${serviceAccount}`;
  switch (auth.configMethod) {
    case 'EKS_AUTH':
      return `EKS ${auth.clusterName}, ${auth.region} · ${who}`;
    case 'IN_CLUSTER':
      return `the cluster that VS Code runs in · ${who}`;
    case 'LOCAL':
      return `${auth.context === undefined ? 'current context' : `context ${auth.context}`} · ${who}`;
  }
}
