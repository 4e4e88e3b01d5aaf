import { ClusterError } from '#cluster/errors.ts';
import type { ClusterProfile } from '#cluster/profile.ts';

/** The part of a profile that says which GKE cluster it is. */
export type GkePlace = NonNullable<ClusterProfile['gcp']>;

/** Why nothing of Google Cloud is asked for a profile; `undefined` where it is. */
export const noGoogle = ({ profile }: { readonly profile: ClusterProfile }): string | undefined =>
  profile.gcp === undefined ? 'The profile does not name a GKE cluster ("gcp").' : undefined;

/** The same where the bucket matters too. */
export const noGoogleBucket = (context: { readonly profile: ClusterProfile }): string | undefined =>
  noGoogle(context) ??
  (context.profile.storage?.scheme === 'gs'
    ? undefined
    : 'The profile does not name a Google Cloud Storage bucket ("storage": gs://…).');

/** @throws ClusterError ProfileInvalid */
export function gkePlace(profile: ClusterProfile): GkePlace {
  if (profile.gcp) return profile.gcp;
  throw new ClusterError(
    'ProfileInvalid',
    `The profile "${profile.name}" does not name a GKE cluster.`,
    'Add gcp: { project, location, clusterName } to the profile.',
  );
}

/** @throws ClusterError ProfileInvalid */
export function bucketOf(profile: ClusterProfile): string {
  if (profile.storage?.scheme === 'gs') return profile.storage.bucket;
  throw new ClusterError(
    'ProfileInvalid',
    `The profile "${profile.name}" does not name a Google Cloud Storage bucket.`,
    'Add storage: gs://BUCKET to the profile.',
  );
}

/** The name of a cluster in Google's interfaces. */
export const clusterPath = ({ project, location, clusterName }: GkePlace): string =>
  `projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(location)}/clusters/${encodeURIComponent(clusterName)}`;

/** The pool that every GKE cluster of a project with workload identity is in: also the audience of its tokens. */
export const workloadPoolOf = ({ project }: GkePlace): string => {
  // A project of an organisation's domain, `example.com:name`, has it turned round.
  const [domain, name] = project.split(':');
  return `${name === undefined ? project : `${name}.${domain}`}.svc.id.goog`;
};

/** How the token service calls a cluster that gives tokens: by its name, wherever it is asked. */
export const tokenAudience = (place: GkePlace): string =>
  `identitynamespace:${workloadPoolOf(place)}:https://container.googleapis.com/v1/${clusterPath(place)}`;

/** A Kubernetes service account as IAM knows it. */
export const workloadMember = (profile: ClusterProfile, place: GkePlace): string =>
  `serviceAccount:${workloadPoolOf(place)}[${profile.namespace}/${profile.serviceAccount}]`;
