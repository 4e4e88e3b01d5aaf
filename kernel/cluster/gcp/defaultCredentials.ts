import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type AuthClient, GoogleAuth } from 'google-auth-library';
import { request } from 'undici';
import { ClusterError } from '#cluster/errors.ts';
import type { CredentialSource } from '#cluster/kube/credential.ts';
import type { SecretRedactor } from '#cluster/secretTexts.ts';
import { untilAborted } from '#processes/wait.ts';
import { messageOf } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import { cloudScope, googleEndpoints } from './googleClient.ts';
import { errorOfConnection, loginCommand } from './googleErrors.ts';

/** Default address of the metadata server. */
const usual = '169.254.169.254';

/** Milliseconds. On a Google machine the server responds at once; elsewhere there may be no response at all. */
const patience = 3_000;

/**
 * Returns whether this machine has Google's metadata server. Google's library can detect it too, but can't be canceled
 * by a signal, and prints a warning on networks with unusual responses.
 */
async function hasMetadataServer(signal: AbortSignal): Promise<boolean> {
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

const signIn = `Sign in: ${loginCommand}.`;

/**
 * Converts a missing or refused sign-in. Drops the library's errors, because they contain the request with its secrets.
 * @param source the file that was read, or another origin of the credentials
 */
function errorOfSignIn(error: unknown, source: string, signal: AbortSignal): unknown {
  if (signal.aborted || error instanceof ClusterError) return error;
  return ofOAuth(error, source) ?? ofFile(error, source) ?? ofMetadata(error, source) ?? ofRest(error, source);
}

/** Converts a response of Google's OAuth: `{ error: 'invalid_grant', error_description, error_subtype }`. */
function ofOAuth(error: unknown, source: string): ClusterError | undefined {
  const response = isRecord(error) && isRecord(error['response']) ? error['response'] : undefined;
  const data = response && isRecord(response['data']) ? response['data'] : undefined;
  const reason = data?.['error'];
  if (!response || typeof reason !== 'string') return undefined;
  const status = typeof response['status'] === 'number' ? response['status'] : undefined;
  const description = data?.['error_description'];
  const words = typeof description === 'string' ? description : reason;
  const about = { status, cause: new Error(`${reason}: ${words}`) };
  if (reason !== 'invalid_grant') {
    return new ClusterError(
      'CredentialsRefused',
      `Google rejected the credentials from ${source}: ${words}.`,
      signIn,
      about,
    );
  }
  if (data?.['error_subtype'] === 'invalid_rapt' || /reauth/i.test(words)) {
    return new ClusterError(
      'CredentialsExpired',
      `The sign-in stored in ${source} is older than its organization allows.`,
      signIn,
      about,
    );
  }
  if (/expired/i.test(words)) {
    const what = `The sign-in stored in ${source} has expired or was revoked.`;
    return new ClusterError('CredentialsExpired', what, signIn, about);
  }
  if (/short-lived token|iat and exp/i.test(words)) {
    const what = `Google rejected the credentials from ${source} because the clock of this machine is wrong.`;
    return new ClusterError('CredentialsRefused', what, 'Set the clock of this machine.', about);
  }
  const what = `Google rejected the credentials from ${source}: ${words.replace(/\.$/, '')}.`;
  const hint = `The account or its key is disabled or deleted. ${signIn}`;
  return new ClusterError('CredentialsRefused', what, hint, about);
}

/** The error if there is neither a file nor a metadata server. */
function noCredentials(): ClusterError {
  const what = 'This machine has no application default credentials for Google Cloud.';
  return new ClusterError('CredentialsMissing', what, signIn);
}

/** Converts the error for a file that is missing or holds no Google credentials. */
function ofFile(error: unknown, source: string): ClusterError | undefined {
  const words = messageOf(error);
  const cause = new Error(words);
  if (/does not exist, or it is not a file/.test(words)) {
    const what = `GOOGLE_APPLICATION_CREDENTIALS names ${source}, which does not exist or is not a file.`;
    return new ClusterError(
      'CredentialsMissing',
      what,
      `Correct the variable, or unset it and sign in: ${loginCommand}.`,
      { cause },
    );
  }
  if (/Could not load the default credentials/.test(words)) return noCredentials();
  const isUnreadable = error instanceof SyntaxError || /in JSON at position|does not contain a|EACCES/.test(words);
  if (!isUnreadable) return undefined;
  // The parser's message is left out, because it quotes the file.
  return new ClusterError('CredentialsMissing', `${source} does not contain Google Cloud credentials.`, signIn);
}

/** Converts the error of a metadata server: the machine has no service account, or may not use it. */
function ofMetadata(error: unknown, source: string): ClusterError | undefined {
  if (!source.includes('metadata server')) return undefined;
  const status = isRecord(error) && typeof error['status'] === 'number' ? error['status'] : undefined;
  if (status === undefined) return undefined;
  return new ClusterError(
    'CredentialsMissing',
    `The metadata server of this machine returned no token (status ${status}).`,
    `Assign a service account to the machine, or sign in: ${loginCommand}.`,
    { status },
  );
}

function ofRest(error: unknown, source: string): ClusterError {
  const failure = errorOfConnection(`The token request to Google with the credentials from ${source}`, error);
  const isConnection = isRecord(error) && (typeof error['code'] === 'string' || isRecord(error['cause']));
  if (isConnection) return failure;
  const cause = new Error(messageOf(error));
  return new ClusterError('CredentialsRefused', `Can't get a token with the credentials from ${source}.`, signIn, {
    cause,
  });
}

type AccessToken = { readonly token: string; readonly expiresAt: Date | undefined };

export type DefaultCredentials = {
  /** Where the credentials come from, for display: a file, or the metadata server. */
  readonly source: string;
  /** The account, if the file names it; the file of a user's sign-in does not. */
  readonly account: string | undefined;
  /** The project that is billed for requests, if the credentials name one. */
  readonly quotaProject: string | undefined;
  /** Returns a token that is valid for at least some minutes. @throws ClusterError if there is none */
  token(signal: AbortSignal): Promise<AccessToken>;
};

type DefaultCredentialsOptions = {
  readonly hidden: SecretRedactor;
  readonly signal: AbortSignal;
  /** Base URL of Google's OAuth. */
  readonly oauth2?: string | undefined;
};

/**
 * Finds the credentials that Google's own tools use, without requesting a token.
 * Uses the file that GOOGLE_APPLICATION_CREDENTIALS names, else the file that `gcloud auth application-default login`
 * writes, else the metadata server.
 * @throws ClusterError CredentialsMissing
 */
export async function openDefaultCredentials(options: DefaultCredentialsOptions): Promise<DefaultCredentials> {
  const { hidden, signal, oauth2 = googleEndpoints.oauth2 } = options;
  const named = process.env['GOOGLE_APPLICATION_CREDENTIALS'] || undefined;
  if (named === undefined && !existsSync(wellKnownFile()) && !(await hasMetadataServer(signal))) throw noCredentials();
  const auth = new GoogleAuth({
    scopes: cloudScope,
    // Set so that the library does not start gcloud to find a project; the value is not used.
    projectId: '-',
    clientOptions: { endpoints: { oauth2TokenUrl: `${oauth2}/token` } },
  });
  const client = await untilAborted(auth.getClient(), signal).catch((error: unknown) => {
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
    if (typeof token !== 'string' || token === '') throw new Error('The reply contains no token.');
    const expiry = client.credentials.expiry_date;
    return { token, expiresAt: typeof expiry === 'number' ? new Date(expiry) : undefined };
  } catch (error) {
    throw errorOfSignIn(error, source, signal);
  }
}

/** Returns the path to which `gcloud auth application-default login` writes. */
function wellKnownFile(): string {
  const folder =
    process.env['CLOUDSDK_CONFIG'] ||
    (process.platform === 'win32'
      ? join(process.env['APPDATA'] || homedir(), 'gcloud')
      : join(process.env['HOME'] || homedir(), '.config', 'gcloud'));
  return join(folder, 'application_default_credentials.json');
}

/** Hides the secrets of a credentials file, and of the credentials that are nested in it for impersonation. */
function hideSecretsOf(file: Record<string, unknown>, hidden: SecretRedactor): void {
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

function untilStopped<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const stop = (): void =>
      reject(signal.reason instanceof Error ? signal.reason : new Error('The request was canceled.'));
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/**
 * Signs in to a GKE cluster with the application-default credentials.
 * Used if a kubeconfig needs the program `gke-gcloud-auth-plugin`, but the program is not installed. GKE accepts the
 * access token itself as bearer token.
 */
export function gkeCredential({
  hidden,
  oauth2,
}: {
  readonly hidden: SecretRedactor;
  readonly oauth2?: string | undefined;
}): CredentialSource {
  let opened: DefaultCredentials | undefined;
  return async (signal) => {
    opened ??= await openDefaultCredentials({ hidden, signal, oauth2 });
    // The library caches the token until shortly before it expires.
    return opened.token(signal);
  };
}
