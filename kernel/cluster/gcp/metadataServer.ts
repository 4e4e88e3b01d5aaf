import { request } from 'undici';

/** Where a machine of Google's finds its metadata server, unless the environment says otherwise. */
const usual = '169.254.169.254';

/** Milliseconds: on a machine of Google's it answers at once; elsewhere nobody may answer at all. */
const patience = 3_000;

/**
 * Whether this machine has Google's metadata server. Google's library finds that out too, but it knows no signal, and writes
 * a warning on the terminal of everybody whose network answers in its own way.
 */
export async function hasMetadataServer(signal: AbortSignal): Promise<boolean> {
  const detection = process.env['METADATA_SERVER_DETECTION']?.trim().toLowerCase();
  if (detection === 'none') return false;
  if (detection === 'assume-present') return true;
  const host = process.env['GCE_METADATA_IP'] || process.env['GCE_METADATA_HOST'] || usual;
  const address = /^https?:\/\//.test(host) ? host : `http://${host}`;
  try {
    const answer = await request(`${address}/computeMetadata/v1/instance`, {
      headers: { 'metadata-flavor': 'Google' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(patience)]),
    });
    await answer.body.dump();
    return answer.headers['metadata-flavor'] === 'Google';
  } catch {
    signal.throwIfAborted();
    return false;
  }
}
