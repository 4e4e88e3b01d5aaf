import { ClusterError } from '#cluster/errors.ts';
import { messageOf } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import { errorOfConnection, loginCommand } from './googleErrors.ts';

const signIn = `Sign in: ${loginCommand}.`;

/**
 * Why there are no credentials, or none that Google takes. The library's errors hold the request with its secrets, so none
 * of them is kept.
 * @param source the file that was read, or what else gives them
 */
export function errorOfSignIn(error: unknown, source: string, signal: AbortSignal): unknown {
  if (signal.aborted || error instanceof ClusterError) return error;
  return ofOAuth(error, source) ?? ofFile(error, source) ?? ofMetadata(error, source) ?? ofRest(error, source);
}

/** Google's own answer to credentials: `{ error: 'invalid_grant', error_description, error_subtype }`. */
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
      `Google refuses the credentials of ${source}: ${words}.`,
      signIn,
      about,
    );
  }
  if (data?.['error_subtype'] === 'invalid_rapt' || /reauth/i.test(words)) {
    return new ClusterError(
      'CredentialsExpired',
      `The login in ${source} is too old for its organisation.`,
      signIn,
      about,
    );
  }
  if (/expired/i.test(words)) {
    const what = `The login in ${source} has expired or was revoked.`;
    return new ClusterError('CredentialsExpired', what, signIn, about);
  }
  if (/short-lived token|iat and exp/i.test(words)) {
    const what = `Google refuses the credentials of ${source}, since the clock of this machine is wrong.`;
    return new ClusterError('CredentialsRefused', what, 'Set the clock.', about);
  }
  const what = `Google refuses the credentials of ${source}: ${words.replace(/\.$/, '')}.`;
  const hint = `The account or its key is disabled or deleted. ${signIn}`;
  return new ClusterError('CredentialsRefused', what, hint, about);
}

/** Neither a file nor a metadata server. */
export function noCredentials(): ClusterError {
  const what = 'There are no application-default credentials of Google Cloud on this machine.';
  return new ClusterError('CredentialsMissing', what, signIn);
}

/** A file that is not there, or is none of Google's. */
function ofFile(error: unknown, source: string): ClusterError | undefined {
  const words = messageOf(error);
  const cause = new Error(words);
  if (/does not exist, or it is not a file/.test(words)) {
    const what = `GOOGLE_APPLICATION_CREDENTIALS names ${source}, where there is no file.`;
    return new ClusterError('CredentialsMissing', what, `Correct it, or unset it and: ${loginCommand}.`, { cause });
  }
  if (/Could not load the default credentials/.test(words)) return noCredentials();
  const isUnreadable = error instanceof SyntaxError || /in JSON at position|does not contain a|EACCES/.test(words);
  if (!isUnreadable) return undefined;
  // Not with the words: those of a JSON parser quote the file.
  return new ClusterError('CredentialsMissing', `${source} holds no credentials of Google Cloud.`, signIn);
}

/** A machine of Google's that has no service account, or may not use it. */
function ofMetadata(error: unknown, source: string): ClusterError | undefined {
  if (!source.includes('metadata server')) return undefined;
  const status = isRecord(error) && typeof error['status'] === 'number' ? error['status'] : undefined;
  if (status === undefined) return undefined;
  return new ClusterError(
    'CredentialsMissing',
    `The metadata server of this machine gives no token (status ${status}).`,
    `Give the machine a service account, or: ${loginCommand}.`,
    { status },
  );
}

function ofRest(error: unknown, source: string): ClusterError {
  const failure = errorOfConnection(`Asking Google for a token with the credentials of ${source}`, error);
  const isConnection = isRecord(error) && (typeof error['code'] === 'string' || isRecord(error['cause']));
  if (isConnection) return failure;
  const cause = new Error(messageOf(error));
  return new ClusterError('CredentialsRefused', `The credentials of ${source} give no token.`, signIn, { cause });
}
