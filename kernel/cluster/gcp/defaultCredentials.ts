import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { GoogleAuth, type AuthClient } from 'google-auth-library';
import type { HiddenTexts } from '#cluster/hiddenText.ts';
import { isRecord } from '#shared/records.ts';
import { cloudScope, googleEndpoints } from './googleEndpoints.ts';
import { hasMetadataServer } from './metadataServer.ts';
import { errorOfSignIn, noCredentials } from './signInErrors.ts';

/** A token for Google Cloud, good until it expires. */
export type AccessToken = { readonly token: string; readonly expiresAt: Date | undefined };

/** The application-default credentials of this machine. */
export type DefaultCredentials = {
  /** Where they come from, for people: a file, or the metadata server. */
  readonly source: string;
  /** The account, where the file names it; a person's login does not. */
  readonly account: string | undefined;
  /** The project that pays for questions, where the credentials name one. */
  readonly quotaProject: string | undefined;
  /** A token that is good for some minutes at least. @throws ClusterError for each way in which none is to be had */
  token(signal: AbortSignal): Promise<AccessToken>;
};

export type DefaultCredentialsOptions = {
  readonly hidden: HiddenTexts;
  readonly signal: AbortSignal;
  /** Base address of Google's OAuth. */
  readonly oauth2?: string | undefined;
};

/**
 * Finds the credentials that Google's own tools would take: the file of GOOGLE_APPLICATION_CREDENTIALS, that of
 * `gcloud auth application-default login`, the metadata server of a machine of Google's. Asks for no token yet.
 * @throws ClusterError CredentialsMissing
 */
export async function openDefaultCredentials(options: DefaultCredentialsOptions): Promise<DefaultCredentials> {
  const { hidden, signal, oauth2 = googleEndpoints.oauth2 } = options;
  const named = process.env['GOOGLE_APPLICATION_CREDENTIALS'] || undefined;
  if (named === undefined && !existsSync(wellKnownFile()) && !(await hasMetadataServer(signal))) throw noCredentials();
  const auth = new GoogleAuth({
    scopes: cloudScope,
    // Named, so that the library does not start gcloud to find one out; nothing here goes by it.
    projectId: '-',
    clientOptions: { endpoints: { oauth2TokenUrl: `${oauth2}/token` } },
  });
  const client = await untilStopped(signal, auth.getClient()).catch((error: unknown) => {
    throw errorOfSignIn(error, named ?? wellKnownFile(), signal);
  });
  const file: unknown = auth.jsonContent;
  const source = isRecord(file) ? (named ?? wellKnownFile()) : 'the metadata server of this machine';
  if (isRecord(file)) hideSecretsOf(file, hidden);
  return {
    source,
    account: isRecord(file) ? accountOf(file) : undefined,
    quotaProject: client.quotaProjectId,
    token: async (asking) => {
      const token = await tokenOf(client, source, asking);
      hidden.add(token.token);
      return token;
    },
  };
}

async function tokenOf(client: AuthClient, source: string, signal: AbortSignal): Promise<AccessToken> {
  try {
    const { token } = await untilStopped(signal, client.getAccessToken());
    if (typeof token !== 'string' || token === '') throw new Error('There was no token in the answer.');
    const expiry = client.credentials.expiry_date;
    return { token, expiresAt: typeof expiry === 'number' ? new Date(expiry) : undefined };
  } catch (error) {
    throw errorOfSignIn(error, source, signal);
  }
}

/** Where `gcloud auth application-default login` leaves them. */
function wellKnownFile(): string {
  const folder =
    process.env['CLOUDSDK_CONFIG'] ||
    (process.platform === 'win32'
      ? join(process.env['APPDATA'] || homedir(), 'gcloud')
      : join(process.env['HOME'] || homedir(), '.config', 'gcloud'));
  return join(folder, 'application_default_credentials.json');
}

/** What a credentials file has of secrets, one file in another too (impersonation). */
function hideSecretsOf(file: Record<string, unknown>, hidden: HiddenTexts): void {
  for (const name of ['refresh_token', 'client_secret', 'private_key', 'private_key_id']) {
    const value = file[name];
    if (typeof value === 'string') hidden.add(value);
  }
  const source = file['source_credentials'];
  if (isRecord(source)) hideSecretsOf(source, hidden);
}

function accountOf(file: Record<string, unknown>): string | undefined {
  const named = file['client_email'] ?? file['account'];
  if (typeof named === 'string' && named !== '') return named;
  const address = file['service_account_impersonation_url'];
  return typeof address === 'string' ? /serviceAccounts\/([^/:]+):/.exec(address)?.[1] : undefined;
}

/** The library knows no signals: what it does goes on, but nobody waits for it. */
function untilStopped<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('It was stopped.'));
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
