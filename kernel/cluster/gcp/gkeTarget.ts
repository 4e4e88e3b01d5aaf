import { ClusterError } from '#cluster/errors.ts';
import type { ClusterProfile } from '#cluster/profile.ts';

export type GkeTarget = NonNullable<ClusterProfile['gcp']>;

/** Returns why the checks of Google Cloud don't apply to a profile, or `undefined` if they do. */
export const notOnGoogleCloud = ({ profile }: { readonly profile: ClusterProfile }): string | undefined =>
  profile.gcp === undefined ? 'The profile does not name a GKE cluster ("gcp").' : undefined;

/** Like `notOnGoogleCloud`, but for checks that also need the bucket. */
export const noGoogleBucket = (context: { readonly profile: ClusterProfile }): string | undefined =>
  notOnGoogleCloud(context) ??
  (context.profile.storage?.scheme === 'gs'
    ? undefined
    : 'The profile does not name a Google Cloud Storage bucket ("storage": gs://…).');

/** @throws ClusterError ProfileInvalid */
export function gkePlace(profile: ClusterProfile): GkeTarget {
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

/** The resource name of a cluster in Google's APIs. */
export const clusterPath = ({ project, location, clusterName }: GkeTarget): string =>
  `projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(location)}/clusters/${encodeURIComponent(clusterName)}`;

/** Returns the workload pool of a project's GKE clusters. The pool is also the audience of their tokens. */
export const workloadPoolOf = ({ project }: GkeTarget): string => {
  // For a project of a domain (`example.com:name`), the pool has the two parts in the other order (`name.example.com`).
  const [domain, name] = project.split(':');
  return `${name === undefined ? project : `${name}.${domain}`}.svc.id.goog`;
};

/** Returns the name that Google's token service uses for the cluster that issues the tokens. */
export const tokenAudience = (place: GkeTarget): string =>
  `identitynamespace:${workloadPoolOf(place)}:https://container.googleapis.com/v1/${clusterPath(place)}`;

/** Returns the IAM member of the Kubernetes service account. */
export const workloadMember = (profile: ClusterProfile, place: GkeTarget): string =>
  `serviceAccount:${workloadPoolOf(place)}[${profile.namespace}/${profile.serviceAccount}]`;
