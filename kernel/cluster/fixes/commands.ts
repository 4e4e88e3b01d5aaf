import type { KubernetesManifest, Fix } from './fix.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { manifestsYaml } from '#cluster/report/manifestYaml.ts';

// Shell lines equivalent to a fix. Names come from a cluster, so words are quoted where needed.

/** Quotes a word for a POSIX shell, if needed. */
export const quoteShellArgument = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** Words, some in groups that belong together. */
type Words = readonly (string | readonly string[])[];

export const shellCommand = (...words: Words): string => words.flat().map(quoteShellArgument).join(' ');

export const kubectl = (profile: ClusterProfile, ...words: Words): string =>
  shellCommand('kubectl', contextWords(profile, '--context'), ...words);

export const helm = (profile: ClusterProfile, ...words: Words): string =>
  shellCommand('helm', contextWords(profile, '--kube-context'), ...words);

/** Returns the options for the profile's kubeconfig and context. By default, `kubectl` and `helm` may use others. */
function contextWords({ auth }: ClusterProfile, option: string): readonly string[] {
  if (auth.configMethod !== 'LOCAL') return [];
  return [
    ...(auth.kubeconfig === undefined ? [] : ['--kubeconfig', auth.kubeconfig]),
    ...(auth.context === undefined ? [] : [option, auth.context]),
  ];
}

/** A fix that applies objects. Default command: `kubectl apply` of their manifests. */
export function manifestFix(
  profile: ClusterProfile,
  objects: readonly KubernetesManifest[],
  command: string = applyLine(profile, objects),
): Fix {
  return { kind: 'objects', objects, command };
}

/** The apply is server-side, because an object may be only a part of the existing one. */
const applyLine = (profile: ClusterProfile, objects: readonly KubernetesManifest[]): string =>
  `${kubectl(profile, 'apply', '--server-side', '-f', '-')} <<'EOF'\n${manifestsYaml(objects)}EOF`;
