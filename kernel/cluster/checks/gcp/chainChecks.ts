import type { Check, CheckContext } from '#cluster/check.ts';
import { ClusterError, isClusterError } from '#cluster/errors.ts';
import { fail, pass } from '#cluster/checkResults.ts';
import type { Fix } from '#cluster/fixes/fix.ts';
import { createAccount, createBucket, grantBucket, grantWorkloadUser } from '#cluster/gcp/gcloud.ts';
import { bucketPermissions } from '#cluster/gcp/gcpReads.ts';
import {
  bucketOf,
  gkePlace,
  notOnGoogleCloud,
  noGoogleBucket,
  workloadMember,
  workloadPoolOf,
} from '#cluster/gcp/gkeTarget.ts';
import { refusalOf } from '#cluster/gcp/googleErrors.ts';
import { serviceAccountPath, serviceAccountUser } from '#cluster/kube/serviceAccounts.ts';
import type { Evidence, Finding } from '#cluster/result.ts';

// These checks repeat, without a pod, the steps in which GKE's metadata server gets a token for a pod. Each check is
// one step, and uses the token of the step before.

const token: Check = {
  id: 'gcp-chain-token',
  category: 'gcp',
  title: 'Cluster signs a token for Google',
  severity: 'error',
  needs: ['sa-exists'],
  skip: notOnGoogleCloud,
  run: async ({ gcp, profile }) => {
    const { namespace, serviceAccount: name } = profile;
    const pool = workloadPoolOf(gkePlace(profile));
    const { claims } = await gcp.podToken();
    const { iss, sub, aud } = claims;
    const audiences = (Array.isArray(aud) ? aud : [aud]).filter((one) => typeof one === 'string');
    const evidence: Evidence = {
      asked: `POST ${serviceAccountPath(namespace, name)}/token for ${pool}`,
      saw: `iss ${String(iss)}, sub ${String(sub)}, aud ${audiences.join(', ')}`,
    };
    const user = serviceAccountUser(namespace, name);
    if (sub === user && audiences.includes(pool)) return pass(`The token is for ${user} and ${pool}.`, evidence);
    const fix: Fix = {
      kind: 'advice',
      text: 'Check the proxies between this machine and the API server: one of them changed the request.',
    };
    return fail(
      `The API server's token is for ${String(sub)} and ${audiences.join(', ') || 'no audience'}, not for ${user} and ${pool}.`,
      {
        evidence: [evidence],
        fix,
      },
    );
  },
};

const exchange: Check = {
  id: 'gcp-chain-exchange',
  category: 'gcp',
  title: 'Google accepts that token',
  severity: 'error',
  needs: ['gcp-chain-token', 'gcp-wi-cluster'],
  limit: 15_000,
  skip: notOnGoogleCloud,
  run: async ({ gcp, kube, profile }) => {
    const gke = gkePlace(profile);
    try {
      const { asked } = await gcp.federatedToken();
      return pass(`Google accepts the token for the workload identity pool ${workloadPoolOf(gke)}.`, {
        asked,
        saw: 'a federated token',
      });
    } catch (error) {
      const refusal = refusalOf(error);
      if (!refusal || refusal.reason === 'SERVICE_DISABLED') throw error;
      const { asked, value } = await gcp.cluster();
      const { source, server } = await kube.connection();
      return fail(`Google does not accept the service account's token. Google reports: ${withStop(refusal.message)}`, {
        evidence: [
          { asked: 'sts.googleapis.com/v1/token', saw: `${refusal.status} ${refusal.reason}` },
          // The usual cause is a profile whose `gcp` settings and kubeconfig name different clusters. The two addresses
          // show the difference.
          { asked: source, saw: `the API server at ${server}` },
          { asked, saw: `the API server at ${value.endpoints.join(', ')}` },
        ],
        fix: {
          kind: 'advice',
          text: `Check that gcp.project, gcp.location and gcp.clusterName of the profile (${gke.project}, ${gke.location}, ${gke.clusterName}) name the cluster that the profile's kubeconfig connects to.`,
        },
      });
    }
  },
};

const impersonate: Check = {
  id: 'gcp-chain-impersonate',
  category: 'gcp',
  title: 'Google service account issues a token',
  severity: 'error',
  needs: ['gcp-chain-exchange', 'gcp-sa-annotation'],
  limit: 15_000,
  skip: notOnGoogleCloud,
  run: async ({ gcp, profile }) => {
    const email = await annotated(gcp, profile.serviceAccount);
    const gke = gkePlace(profile);
    return refusedAs(
      async () => {
        const { asked } = await gcp.accountToken(email);
        return pass(`Pods get a token for ${email}.`, { asked, saw: 'an access token' });
      },
      {
        Forbidden: [`${workloadMember(profile, gke)} may not act as ${email}.`, grantWorkloadUser(profile, gke, email)],
        NotFound: [`There is no Google service account ${email}.`, createAccount(email)],
      },
    );
  },
};

const bucket: Check = {
  id: 'gcp-chain-bucket',
  category: 'gcp',
  title: 'That token may use the bucket',
  severity: 'error',
  needs: ['gcp-chain-impersonate', 'bucket-uri'],
  limit: 15_000,
  skip: noGoogleBucket,
  run: async ({ gcp, profile }) => {
    const email = await annotated(gcp, profile.serviceAccount);
    const place = `gs://${bucketOf(profile)}`;
    return refusedAs(
      async () => {
        const { asked, value: held } = await gcp.permissionsOf(email);
        const missing = bucketPermissions.filter((permission) => !held.includes(permission));
        const evidence = { asked, saw: held.length === 0 ? 'none of them' : held.join(', ') };
        if (missing.length === 0)
          return pass(`${email} has all permissions that a backfill needs on ${place}.`, evidence);
        return fail(`${email} lacks ${missing.join(', ')} on ${place}.`, {
          evidence: [evidence],
          fix: grantBucket(profile, email),
        });
      },
      {
        Forbidden: [`${email} may not access ${place} at all.`, grantBucket(profile, email)],
        NotFound: [`There is no bucket ${place}.`, createBucket(profile, gkePlace(profile))],
      },
    );
  },
};

/** Returns the Google account that pods act as. The annotation determines this account, and the profile does not. */
async function annotated(gcp: CheckContext['gcp'], name: string): Promise<string> {
  const email = await gcp.annotatedAccount();
  if (email !== undefined) return email;
  throw new ClusterError(
    'NotFound',
    `The service account ${name} has no annotation with a Google service account.`,
    '',
  );
}

type Refusals = Readonly<Partial<Record<'Forbidden' | 'NotFound', readonly [sentence: string, fix: Fix]>>>;

/**
 * Converts refusals to findings. Google refused the service account, not the user, so the check fails instead of being
 * skipped.
 */
async function refusedAs(how: () => Promise<Finding>, refusals: Refusals): Promise<Finding> {
  try {
    return await how();
  } catch (error) {
    if (!isClusterError(error) || (error.kind !== 'Forbidden' && error.kind !== 'NotFound')) throw error;
    const known = refusals[error.kind];
    if (!known) throw error;
    const [sentence, fix] = known;
    const saw = refusalOf(error)?.message ?? error.what;
    return fail(sentence, { evidence: [{ asked: 'as the service account', saw }], fix });
  }
}

const withStop = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

export const gcpChainChecks: readonly Check[] = [token, exchange, impersonate, bucket];
