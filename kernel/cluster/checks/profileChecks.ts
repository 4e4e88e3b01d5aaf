import type { Check } from '#cluster/check.ts';
import { fail, pass, warn } from '#cluster/checkResults.ts';
import type { ClusterProfile } from '#cluster/profile.ts';

const category = 'profile';

/** Returns the cloud of a profile and the setting that shows the cloud, or `undefined` if no setting does. */
function cloudOf({
  auth,
  aws,
  gcp,
}: ClusterProfile): { readonly cloud: 'aws' | 'gcp'; readonly by: string } | undefined {
  if (auth.configMethod === 'EKS_AUTH') return { cloud: 'aws', by: 'configMethod "EKS_AUTH"' };
  if (aws) return { cloud: 'aws', by: 'its "aws"' };
  if (gcp) return { cloud: 'gcp', by: 'its "gcp"' };
  const context = auth.configMethod === 'LOCAL' ? (auth.context ?? '') : '';
  if (/^arn:aws[\w-]*:eks:/.test(context)) return { cloud: 'aws', by: `the context ${context}` };
  if (context.startsWith('gke_')) return { cloud: 'gcp', by: `the context ${context}` };
  return undefined;
}

/** The settings that checks of the cloud need and the profile lacks. */
function leftOut(profile: ClusterProfile): readonly string[] {
  const { auth, aws, gcp, storage } = profile;
  const cloud = cloudOf(profile)?.cloud ?? { s3: 'aws', gs: 'gcp', none: undefined }[storage?.scheme ?? 'none'];
  return [
    ...(cloud === 'aws' && !aws && auth.configMethod !== 'EKS_AUTH' ? ['aws (region, clusterName, clientRole)'] : []),
    ...(cloud === 'gcp' && !gcp ? ['gcp (project, location, clusterName)'] : []),
    ...(cloud !== undefined && !storage ? ['storage (s3://… or gs://…)'] : []),
  ];
}

const complete: Check = {
  id: 'profile-complete',
  category,
  title: 'Profile is complete',
  severity: 'warning',
  needs: [],
  run: ({ profile }) => {
    const missing = leftOut(profile);
    const { name, namespace, serviceAccount, storage } = profile;
    if (missing.length === 0)
      return Promise.resolve(
        pass(
          `The profile "${name}" is for the service account "${serviceAccount}" in the namespace "${namespace}"${
            storage ? '' : ', without storage'
          }.`,
        ),
      );
    return Promise.resolve(
      warn(`The profile "${name}" does not set ${missing.join(' or ')}, so that is not checked.`, {
        fix: { kind: 'advice', text: `Add it to lanceCatalog.cluster.profiles.${name}.` },
      }),
    );
  },
};

const schemes = { aws: 's3', gcp: 'gs' } as const;
const clouds = { aws: 'AWS', gcp: 'Google Cloud' } as const;

const bucket: Check = {
  id: 'bucket-uri',
  category,
  title: "Bucket is in the cluster's cloud",
  severity: 'error',
  needs: [],
  skip: ({ profile }) => (profile.storage ? undefined : 'The profile has no storage.'),
  run: ({ profile }) => {
    const { storage, name } = profile;
    const found = cloudOf(profile);
    const address = storage ? `${storage.scheme}://${storage.bucket}` : '';
    if (!found || storage?.scheme === schemes[found.cloud]) return Promise.resolve(pass(`The bucket is ${address}.`));
    const { cloud, by } = found;
    return Promise.resolve(
      fail(`The bucket ${address} is not in ${clouds[cloud]}, but the cluster is, according to ${by}.`, {
        fix: {
          kind: 'advice',
          text: `Set lanceCatalog.cluster.profiles.${name}.storage to a bucket that starts with ${schemes[cloud]}://.`,
        },
      }),
    );
  },
};

/** Checks of the profile alone; they send no request. */
export const profileChecks: readonly Check[] = [complete, bucket];
