import type { KubernetesManifest, Mend } from './fix.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { manifestsYaml } from '#cluster/report/manifestYaml.ts';

// Lines for a shell that say the same as a mend. Names come from a cluster, so each word is quoted that needs it.

/** A word of a command as a POSIX shell reads it back unchanged. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** Words, some of them in groups that belong together. */
type Words = readonly (string | readonly string[])[];

export const shellLine = (...words: Words): string => words.flat().map(shellWord).join(' ');

/** A `kubectl` line for the cluster of the profile. */
export const kubectl = (profile: ClusterProfile, ...words: Words): string =>
  shellLine('kubectl', contextWords(profile, '--context'), ...words);

/** A `helm` line for the cluster of the profile. */
export const helm = (profile: ClusterProfile, ...words: Words): string =>
  shellLine('helm', contextWords(profile, '--kube-context'), ...words);

/** Which kubeconfig and context, where the profile says so: both programs would take others. */
function contextWords({ auth }: ClusterProfile, option: string): readonly string[] {
  if (auth.configMethod !== 'LOCAL') return [];
  return [
    ...(auth.kubeconfig === undefined ? [] : ['--kubeconfig', auth.kubeconfig]),
    ...(auth.context === undefined ? [] : [option, auth.context]),
  ];
}

/** Objects to be applied, with a line that does it where no shorter one is given. */
export function objectsMend(
  profile: ClusterProfile,
  objects: readonly KubernetesManifest[],
  command: string = applyLine(profile, objects),
): Mend {
  return { kind: 'objects', objects, command };
}

/** Server-side, since what is given may be a part of what is there. */
const applyLine = (profile: ClusterProfile, objects: readonly KubernetesManifest[]): string =>
  `${kubectl(profile, 'apply', '--server-side', '-f', '-')} <<'EOF'\n${manifestsYaml(objects)}EOF`;
