import { randomBytes } from 'node:crypto';
import type { Check } from '#cluster/check.ts';
import { ClusterError } from '#cluster/errors.ts';
import { fail, pass, warn } from '#cluster/checkResults.ts';
import { grantBucket } from '#cluster/gcp/gcloud.ts';
import { bucketOf, noGoogleBucket } from '#cluster/gcp/gkeTarget.ts';
import { probeImage, probePod } from '#cluster/probe/probePod.ts';
import { type ProbeLog, readProbeLog } from '#cluster/probe/probeScript.ts';
import { runProbe } from '#cluster/probe/runProbe.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { Evidence, Finding } from '#cluster/result.ts';

const probe: Check = {
  id: 'gcp-probe-pod',
  category: 'gcp',
  title: 'A pod can write into the bucket',
  severity: 'error',
  needs: ['gcp-sa-annotation', 'bucket-uri'],
  // The limit is long, because a node may have to start first. The end of the run removes leftovers.
  limit: 150_000,
  retries: 0,
  writes:
    'start a pod under the service account for some seconds, which writes one object into the bucket and removes it',
  skip: noGoogleBucket,
  run: async ({ gcp, kube, profile, leftovers }, signal) => {
    const email = await gcp.annotatedAccount();
    if (email === undefined)
      throw new ClusterError('NotFound', 'The service account has no annotation with a Google service account.', '');
    // Requests the token before anything is written. If the pod can't remove its object, the cleanup needs this token
    // to remove the object.
    await gcp.accountToken(email).catch(() => undefined);
    const name = `lance-catalog-probe-${randomBytes(5).toString('hex')}`;
    const object = objectOf(profile, name);
    const bucket = bucketOf(profile);
    const writes = leftovers.add(`The object gs://${bucket}/${object}`, (own) => gcp.removeObject(email, object, own));
    const outcome = await runProbe({
      kube,
      leftovers,
      pod: probePod(profile, { name, bucket, object }),
      writes,
      signal,
    });
    const asked = `pod ${profile.namespace}/${name} under ${profile.serviceAccount}`;
    if (!outcome.ran) {
      await writes.remove().catch(() => undefined);
      return warn(`The probe pod did not run: ${withStop(outcome.why)}`, {
        evidence: [{ asked, saw: outcome.why }],
        fix: { kind: 'advice', text: `Check that a node has room for the pod and can pull the image ${probeImage}.` },
      });
    }
    const log = readProbeLog(outcome.log);
    if (log.written === undefined || log.removed?.startsWith('2')) writes.forget();
    else await writes.remove().catch(() => undefined);
    const evidence = outcome.log
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => ({ asked, saw: line }));
    return judge(log, { profile, email, evidence });
  },
};

type Seen = { readonly profile: ClusterProfile; readonly email: string; readonly evidence: readonly Evidence[] };

function judge({ identity, written }: ProbeLog, { profile, email, evidence }: Seen): Finding {
  const place = `gs://${bucketOf(profile)}`;
  if (identity === undefined) {
    const text = 'See the check gcp-wi-nodepool: it names the node pools that give pods an identity.';
    return fail('The pod got no identity from the metadata server.', { evidence, fix: { kind: 'advice', text } });
  }
  if (identity !== email) {
    const text = 'Its node pool has no GKE_METADATA, or the annotation was just changed. Check again in a minute.';
    return fail(`The pod is ${identity}, not ${email}.`, { evidence, fix: { kind: 'advice', text } });
  }
  if (written?.startsWith('2')) return pass(`A pod is ${identity}, and can write into ${place}.`, ...evidence);
  if (written === '403')
    return fail(`The pod is ${identity}, which may not write into ${place}.`, {
      evidence,
      fix: grantBucket(profile, email),
    });
  const how =
    written === undefined ? 'it got no token' : written === '000' ? 'there was no response' : `status ${written}`;
  return fail(`The pod is ${identity}, and could not write into ${place}: ${how}.`, {
    evidence,
    fix: { kind: 'advice', text: 'Check that pods can reach storage.googleapis.com, and that the bucket exists.' },
  });
}

const objectOf = ({ storage }: ClusterProfile, name: string): string =>
  `${storage?.prefix ? `${storage.prefix}/` : ''}.${name}`;

const withStop = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

export const gcpProbeChecks: readonly Check[] = [probe];
