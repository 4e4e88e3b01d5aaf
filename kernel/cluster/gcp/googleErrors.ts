import { ClusterError, type ClusterErrorKind } from '#cluster/errors.ts';
import { shellCommand } from '#cluster/fixes/commands.ts';
import { messageOf } from '#shared/errors.ts';
import { isRecord, parseRecord } from '#shared/records.ts';

// Converts errors of Google Cloud's APIs, and of connections to Google Cloud, to `ClusterError`s.
// `defaultCredentials.ts` converts the errors of the sign-in.

/** The command with which users sign in to Google Cloud for this program. */
export const loginCommand = 'gcloud auth application-default login';

/** An error with Google's message. It is the cause of the ClusterError that is created from it. */
class GoogleRefusal extends Error {
  readonly status: number;
  /** Google's name for the cause, such as `SERVICE_DISABLED` or `invalid_grant`; empty if it sends none. */
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.name = 'GoogleRefusal';
    this.status = status;
    this.reason = reason;
  }
}

/** Returns Google's refusal, which is the error's cause if the error is from a reply. */
export const refusalOf = (error: unknown): GoogleRefusal | undefined =>
  error instanceof ClusterError && error.cause instanceof GoogleRefusal ? error.cause : undefined;

type FailedReply = {
  /** `GET https://…`, for display. */
  readonly asked: string;
  readonly status: number;
  readonly contentType: string;
  /** The start of the body. */
  readonly text: string;
};

/** Returns the error for a response with a status other than 2xx. */
export function errorOfReply({ asked, status, contentType, text }: FailedReply): ClusterError {
  const told = readRefusal(status, text);
  if (!told) {
    const page = contentType.startsWith('text/html') ? ' and a web page' : '';
    return new ClusterError(
      status >= 500 ? 'Unavailable' : 'WrongServer',
      `${asked} returned status ${status}${page}.`,
      status >= 500
        ? 'Try again later.'
        : 'Check whether a proxy or a sign-in page is between this machine and Google Cloud.',
      { status },
    );
  }
  const { kind, hint } = meaningOf(told);
  return new ClusterError(kind, `${asked} was refused: ${sentence(told.message)}`, hint, { status, cause: told });
}

type Meaning = { readonly kind: ClusterErrorKind; readonly hint: string };

function meaningOf({ status, reason, message }: GoogleRefusal): Meaning {
  if (reason === 'SERVICE_DISABLED') return { kind: 'InvalidRequest', hint: enableHint(message) };
  if (reason === 'USER_PROJECT_DENIED' || /quota project/i.test(message)) {
    return {
      kind: 'InvalidRequest',
      hint: 'Set the project that pays for the request: gcloud auth application-default set-quota-project PROJECT.',
    };
  }
  if (reason === 'ACCESS_TOKEN_EXPIRED') return { kind: 'CredentialsExpired', hint: signIn };
  return byStatus(status);
}

const signIn = `Sign in again: ${loginCommand}.`;

function byStatus(status: number): Meaning {
  switch (status) {
    case 400:
      return { kind: 'InvalidRequest', hint: '' };
    case 401:
      return { kind: 'CredentialsRefused', hint: signIn };
    case 403:
      return { kind: 'Forbidden', hint: '' };
    case 404:
      return { kind: 'NotFound', hint: '' };
    case 409:
      return { kind: 'Conflict', hint: '' };
    case 429:
      return { kind: 'Throttled', hint: 'Try again in a minute.' };
    default:
      return status >= 500 ? { kind: 'Unavailable', hint: 'Try again later.' } : { kind: 'InvalidRequest', hint: '' };
  }
}

/** Builds the command from the API and the project that Google's message names. */
function enableHint(message: string): string {
  const service = /\b([a-z][a-z0-9-]*\.googleapis\.com)\b/.exec(message)?.[1];
  const project = /\bproject[ =/]([a-z0-9-]+)/.exec(message)?.[1];
  if (service === undefined || project === undefined) return 'Enable the API for the project.';
  return `Enable the API: ${shellCommand('gcloud', 'services', 'enable', service, '--project', project)}.`;
}

/** Parses an error. Google's APIs send it as an object, OAuth and the token service send it as a string. */
function readRefusal(status: number, text: string): GoogleRefusal | undefined {
  const body = parseRecord(text);
  const error = body?.['error'];
  if (typeof error === 'string') {
    const description = body?.['error_description'];
    return new GoogleRefusal(status, error, typeof description === 'string' ? description : error);
  }
  if (!isRecord(error)) return undefined;
  const { message, status: name } = error;
  const reason = reasonOf(error) ?? (typeof name === 'string' ? name : '');
  return new GoogleRefusal(status, reason, firstLine(typeof message === 'string' ? message : reason));
}

function reasonOf({ details, errors }: Record<string, unknown>): string | undefined {
  for (const list of [details, errors]) {
    if (!Array.isArray(list)) continue;
    for (const one of list) if (isRecord(one) && typeof one['reason'] === 'string') return one['reason'];
  }
  return undefined;
}

const firstLine = (text: string): string => text.split('\n', 1)[0]?.trim() ?? '';
const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

const untrusted = /SELF_SIGNED|UNABLE_TO_(?:GET_ISSUER|VERIFY)|CERT_/;

/** Returns the error for a connection that failed before a response. */
export function errorOfConnection(asked: string, error: unknown): ClusterError {
  if (error instanceof ClusterError) return error;
  const code = codeOf(error);
  const cause = new Error(messageOf(error));
  if (untrusted.test(code)) {
    return new ClusterError(
      'TlsUntrusted',
      `${asked} failed: the certificate of the server is not trusted (${code}).`,
      'If a proxy inspects TLS traffic, set NODE_EXTRA_CA_CERTS to the file of its certificate.',
      { cause },
    );
  }
  if (code.endsWith('TIMEOUT') || code === 'ETIMEDOUT')
    return new ClusterError('Timeout', `${asked} timed out.`, 'Check the network and the proxy.', { cause });
  return new ClusterError(
    'Unreachable',
    `${asked} failed: the server can't be reached (${code || messageOf(error)}).`,
    'Check the network, and HTTPS_PROXY if a proxy is needed.',
    { cause },
  );
}

function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  if (!isRecord(error)) return '';
  const { code, cause } = error;
  if (typeof code === 'string' && code !== '') return code;
  return cause === undefined ? '' : codeOf(cause);
}
