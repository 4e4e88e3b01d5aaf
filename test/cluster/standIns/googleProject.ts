import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CheckId, checkIdsByCategory } from '#cluster/checkIds.ts';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { CheckReport } from '#cluster/result.ts';
import { verifyCluster, type VerifyOptions } from '#cluster/verifyCluster.ts';
import { tempFolder } from '../../harness/temp.ts';
import { soundCluster, type SoundCluster } from '../parts/soundCluster.ts';
import { GoogleStandIn } from './googleStandIn.ts';
import { google, soundState } from './googleState.ts';
import type { KeySet } from './webToken.ts';

/** A secret in a credentials file in addition to the refresh token. */
export const clientSecret = 'GOCSPX-client-secret';

/** The sound cluster as a GKE cluster of a project without faults, with a user who is signed in. */
export type GoogleProject = {
  readonly cluster: SoundCluster;
  readonly standIn: GoogleStandIn;
  readonly profile: ClusterProfile;
  /** Runs the checks of Google Cloud, or only some with the checks that they need. */
  check(profile?: ClusterProfile, only?: readonly CheckId[], more?: Partial<VerifyOptions>): Promise<CheckReport>;
  /** Removes all faults of the project. */
  reset(): void;
  stop(): Promise<void>;
};

export async function startGoogleProject(): Promise<GoogleProject> {
  const cluster = await soundCluster();
  // The stand-in of Google verifies tokens with the keys that the API server publishes.
  const keys = (await cluster.api.ask('GET', '/openid/v1/jwks', undefined, undefined, '*/*')) as KeySet;
  const standIn = await GoogleStandIn.start(soundState(cluster.address, keys));
  const { project, location, clusterName, account, bucket, refreshToken } = google;
  const profile: ClusterProfile = {
    ...cluster.profile,
    storage: { scheme: 'gs', bucket, prefix: '' },
    gcp: { project, location, clusterName, serviceAccount: account },
  };
  const file = join(tempFolder('adc-'), 'credentials.json');
  const login = { type: 'authorized_user', client_id: 'x', client_secret: clientSecret, refresh_token: refreshToken };
  writeFileSync(file, JSON.stringify(login));
  const before = process.env['GOOGLE_APPLICATION_CREDENTIALS'];
  process.env['GOOGLE_APPLICATION_CREDENTIALS'] = file;
  return {
    cluster,
    standIn,
    profile,
    check: (given = profile, only = checkIdsByCategory.gcp, more = {}) =>
      verifyCluster(given, {
        signal: AbortSignal.timeout(60_000),
        only,
        endpoints: { google: standIn.endpoints },
        ...more,
      }),
    reset: () => {
      standIn.state = soundState(cluster.address, keys);
      standIn.asked.length = 0;
    },
    stop: async () => {
      if (before === undefined) delete process.env['GOOGLE_APPLICATION_CREDENTIALS'];
      else process.env['GOOGLE_APPLICATION_CREDENTIALS'] = before;
      await standIn.stop();
    },
  };
}

/** Returns the checks that did not pass, with their statuses; omits probes that were not requested. */
export const others = ({ results }: CheckReport): Partial<Record<CheckId, string>> =>
  Object.fromEntries(
    results
      .filter(({ id, status }) => status !== 'pass' && !(id === 'gcp-probe-pod' && status === 'skipped'))
      .map(({ id, status }) => [id, status]),
  );
