import type { Fix } from '#cluster/fixes/fix.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import { shellCommand, quoteShellArgument } from '#cluster/fixes/commands.ts';
import { bucketOf, workloadMember, workloadPoolOf, type GkeTarget } from './gkeTarget.ts';

// Fixes in Google Cloud: gcloud command lines with the names filled in.

/** @param group the gcloud command group, written as it is; `words` are quoted if necessary */
const line = (group: string, ...words: readonly string[]): string => `gcloud ${group} ${shellCommand(...words)}`;

const command = (...lines: readonly string[]): Fix => ({ kind: 'command', command: lines.join(' \\\n  && ') });

/** Returns the options for a cluster's location. */
const place = ({ project, location }: GkeTarget): readonly string[] => ['--location', location, '--project', project];

/** @param member the user as an IAM member. Default: the account that gcloud is signed in with */
export const grantClusterViewer = ({ project }: GkeTarget, member: string | undefined): Fix => {
  const account = member === undefined ? `"user:$(gcloud config get-value account)"` : quoteShellArgument(member);
  const binding = line('projects add-iam-policy-binding', project);
  return command(`${binding} --role roles/container.clusterViewer --member ${account}`);
};

export const listClusters = ({ project }: GkeTarget): Fix =>
  command(line('container clusters list', '--project', project));

export const turnOnWorkloadIdentity = (gke: GkeTarget): Fix =>
  command(line('container clusters update', gke.clusterName, ...place(gke), `--workload-pool=${workloadPoolOf(gke)}`));

/** Returns a command with one line per pool. When the command runs, GKE recreates the nodes of each pool. */
export const turnOnMetadata = (gke: GkeTarget, pools: readonly string[]): Fix => {
  const rest = ['--cluster', gke.clusterName, ...place(gke), '--workload-metadata=GKE_METADATA'];
  return command(...pools.map((pool) => line('container node-pools update', pool, ...rest)));
};

export const createAccount = (email: string): Fix => {
  const [name = email, domain = ''] = email.split('@');
  const project = domain.replace(/\.iam\.gserviceaccount\.com$/, '');
  return command(line('iam service-accounts create', name, '--project', project));
};

/** Allows the Kubernetes service account to act as the Google one. */
export const grantWorkloadUser = (profile: ClusterProfile, gke: GkeTarget, email: string): Fix => {
  const grant = ['--role', 'roles/iam.workloadIdentityUser', '--member', workloadMember(profile, gke)];
  return command(line('iam service-accounts add-iam-policy-binding', email, ...grant));
};

export const grantBucket = (profile: ClusterProfile, email: string): Fix => {
  const grant = ['--role', 'roles/storage.objectAdmin', '--member', `serviceAccount:${email}`];
  return command(line('storage buckets add-iam-policy-binding', `gs://${bucketOf(profile)}`, ...grant));
};

export const createBucket = (profile: ClusterProfile, { project, location }: GkeTarget): Fix => {
  // A bucket needs a region, but the location of a cluster may be a zone.
  const region = location.replace(/-[a-z]$/, '');
  const words = [`gs://${bucketOf(profile)}`, '--project', project, '--location', region];
  return command(line('storage buckets create', ...words));
};
