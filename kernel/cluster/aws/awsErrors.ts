import { ClusterError, type ClusterErrorKind, isClusterError } from '#cluster/errors.ts';
import { messageOf } from '#shared/errors.ts';

/** What a call requests, for error messages. */
export type AwsQuestion = {
  /** The action's name in policies: `eks:DescribeCluster`. */
  readonly action: string;
  /** `the EKS cluster "prod" in eu-west-1` */
  readonly thing: string;
  /** The caller: `you`, or a role. */
  readonly as: string;
  /** The profile of `~/.aws/config` that the user's keys come from. */
  readonly profile?: string | undefined;
};

/**
 * Calls AWS and converts every error that the AWS library throws to a ClusterError.
 * Such errors are replies with an error code, missing credentials, network errors, and replies of servers that are not
 * AWS. The ClusterError has the original error as its cause.
 * @throws ClusterError
 */
export async function awsCall<T>(question: AwsQuestion, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw awsError(error, question);
  }
}

/** Returns the error code from AWS, such as `NoSuchBucket`. */
export const awsCodeOf = (error: unknown): string | undefined =>
  isClusterError(error) && isObject(error.cause) ? textOf(error.cause, 'name') : undefined;

/** Returns the error from AWS as evidence: `403 AccessDenied: User … is not authorized to perform …`. */
export function formatAwsError(error: unknown): string {
  const cause = isClusterError(error) && error.cause !== undefined ? error.cause : error;
  const said = [statusOf(cause), isObject(cause) ? textOf(cause, 'name') : undefined].filter(
    (part) => part !== undefined,
  );
  return `${said.join(' ')}: ${oneLine(messageOf(cause))}`;
}

/** Error codes by meaning; each service spells its codes differently. */
const kindsByCode = {
  CredentialsExpired: ['ExpiredToken', 'ExpiredTokenException', 'TokenRefreshRequired', 'ExpiredTradeInTokenException'],
  CredentialsRefused: [
    'InvalidClientTokenId',
    'UnrecognizedClientException',
    'InvalidAccessKeyId',
    'InvalidToken',
    'AuthFailure',
    'NotSignedUp',
    'MissingAuthenticationToken',
    'MissingAuthenticationTokenException',
    'SignatureDoesNotMatch',
    'InvalidSignatureException',
    'IncompleteSignature',
    'RequestTimeTooSkewed',
    'RequestExpired',
  ],
  Forbidden: ['AccessDenied', 'AccessDeniedException', 'UnauthorizedOperation', 'UnauthorizedException', 'Forbidden'],
  NotFound: [
    'ResourceNotFoundException',
    'NoSuchEntity',
    'NoSuchEntityException',
    'NoSuchBucket',
    'NoSuchKey',
    'NotFound',
    'NotFoundException',
  ],
  Throttled: [
    'Throttling',
    'ThrottlingException',
    'ThrottledException',
    'RequestLimitExceeded',
    'TooManyRequestsException',
    'SlowDown',
  ],
  Unavailable: [
    'InternalFailure',
    'InternalError',
    'ServiceUnavailable',
    'ServiceUnavailableException',
    'ServerException',
  ],
} as const satisfies Partial<Record<ClusterErrorKind, readonly string[]>>;

/** Codes for a wrong clock, or for a secret that does not belong to its key. */
const clockCodes: readonly string[] = [
  'SignatureDoesNotMatch',
  'InvalidSignatureException',
  'RequestTimeTooSkewed',
  'RequestExpired',
];

const tlsCode = /^(?:CERT_|ERR_TLS|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH)|ALTNAME/;
const networkCode =
  /^(?:E(?:NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|CONNABORTED|HOSTUNREACH|NETUNREACH|PIPE|PROTO)|UND_ERR_)/;

/** Converts an error that the AWS library threw to a ClusterError. */
export function awsError(error: unknown, question: AwsQuestion): ClusterError {
  if (isClusterError(error)) return error;
  const name = isObject(error) ? (textOf(error, 'name') ?? '') : '';
  const code = isObject(error) ? (textOf(error, 'code') ?? '') : '';
  const status = statusOf(error);
  const make = (kind: ClusterErrorKind, what: string, hint: string): ClusterError =>
    new ClusterError(kind, what, hint, { cause: error, status });
  const { action, thing } = question;

  if (name === 'AbortError') return make('Aborted', `The request for ${thing} was canceled.`, '');
  if (name === 'CredentialsProviderError' || name === 'TokenProviderError' || name === 'ProviderError')
    return errorOfChain(messageOf(error), question, make);
  if (tlsCode.test(code))
    return make(
      'TlsUntrusted',
      `Can't trust the certificate of the AWS endpoint (${action}): ${code}.`,
      'If a proxy inspects TLS traffic, set NODE_EXTRA_CA_CERTS to the file of its certificate.',
    );
  if (name === 'TimeoutError' || code === 'ETIMEDOUT')
    return make(
      'Timeout',
      `AWS did not reply in time (${action}).`,
      'Check the network, the VPN and the proxy, then try again.',
    );
  if (networkCode.test(code) || status === undefined)
    return status === undefined && code === '' && (name === 'SyntaxError' || name === 'TypeError')
      ? notAnAwsReply(question, make)
      : make(
          'Unreachable',
          `Can't reach AWS (${action}): ${oneLine(messageOf(error))}.`,
          'Check the network, the VPN, the proxy and the region.',
        );
  return errorOfReply(name, status, messageOf(error), question, make);
}

type Make = (kind: ClusterErrorKind, what: string, hint: string) => ClusterError;

/** The error for a reply that is not from AWS: an HTML page, or a reply without required fields. */
export const notAnAwsReply = ({ action }: AwsQuestion, make: Make = makePlain): ClusterError =>
  make(
    'WrongServer',
    `The server that replied to ${action} is not AWS: its reply can't be parsed.`,
    'Check AWS_ENDPOINT_URL, and whether a proxy replies with a web page.',
  );

const makePlain: Make = (kind, what, hint) => new ClusterError(kind, what, hint);

function errorOfReply(name: string, status: number, message: string, question: AwsQuestion, make: Make): ClusterError {
  const { action, thing, as } = question;
  // An HTML page has no error code. The library reports that it can't parse the page, and the status.
  if (name === 'SyntaxError' || /deserializ|Unexpected token|XML parse|Unclosed|is not expected/i.test(message))
    return notAnAwsReply(question, make);
  switch (kindOfReply(name, status)) {
    case 'CredentialsExpired':
      return make(
        'CredentialsExpired',
        `AWS rejected ${ownedBy(as, 'credentials')}, which have expired.`,
        signInHint(question),
      );
    case 'CredentialsRefused':
      return clockCodes.includes(name)
        ? make(
            'CredentialsRefused',
            `AWS rejected ${ownedBy(as, 'signature')} (${name}).`,
            'Set the clock of this machine, and check that the secret key belongs to the access key.',
          )
        : make(
            'CredentialsRefused',
            `AWS does not recognize ${ownedBy(as, 'access key')} (${name}).`,
            'The key may have been deleted or belong to another AWS partition. Sign in again.',
          );
    case 'Forbidden':
      return make(
        'Forbidden',
        `AWS does not allow ${as} to call ${action} on ${thing}.`,
        `Ask an administrator of the AWS account to allow ${action}.`,
      );
    case 'NotFound':
      return make('NotFound', `AWS can't find ${thing}.`, 'Check the name, the region and the account.');
    case 'Throttled':
      return make('Throttled', `AWS throttled the request (${action}).`, 'Try again in a minute.');
    case 'Unavailable':
      return make('Unavailable', `AWS failed to process ${action} (${status} ${name}).`, 'Try again in a minute.');
    case 'InvalidRequest':
      return make('InvalidRequest', `AWS refused ${action} on ${thing}: ${oneLine(message)} (${name})`, '');
  }
}

/** `your credentials`, `the credentials of the service account`. */
const ownedBy = (as: string, what: string): string => (as === 'you' ? `your ${what}` : `the ${what} of ${as}`);

type ReplyKind = keyof typeof kindsByCode | 'InvalidRequest';

function kindOfReply(name: string, status: number): ReplyKind {
  for (const [kind, codes] of Object.entries(kindsByCode))
    if ((codes as readonly string[]).includes(name)) return kind as ReplyKind;
  // A reply to `HEAD` has no body, so only the status is known.
  if (status === 403) return 'Forbidden';
  if (status === 404) return 'NotFound';
  if (status === 429) return 'Throttled';
  return status >= 500 ? 'Unavailable' : 'InvalidRequest';
}

/** Converts a failure to find credentials, before any request to AWS. */
function errorOfChain(message: string, question: AwsQuestion, make: Make): ClusterError {
  const profile = question.profile ?? process.env['AWS_PROFILE'];
  const whose = profile === undefined ? '' : ` of the profile "${profile}"`;
  if (/expired|re-?authenticate|refresh/i.test(message) && !/not found/i.test(message))
    return make('CredentialsExpired', `The AWS sign-in${whose} has expired.`, signInHint(question));
  if (/could not load credentials from any providers/i.test(message) && profile !== undefined)
    return make(
      'CredentialsMissing',
      `There is no profile "${profile}" with credentials in ~/.aws/config or ~/.aws/credentials.`,
      'Check its name, or create it with "aws configure sso".',
    );
  if (/could not load credentials from any providers/i.test(message))
    return make(
      'CredentialsMissing',
      'No AWS credentials were found.',
      'Sign in ("aws sso login"), or set AWS_PROFILE to a profile. An editor that was not started from a terminal may lack the environment variables of your terminal.',
    );
  return make('CredentialsMissing', `Can't get the AWS credentials${whose}: ${oneLine(message)}`, signInHint(question));
}

/** Returns how to sign in again. A role has no separate sign-in, so the user's sign-in applies. */
function signInHint(question: AwsQuestion): string {
  const profile = question.profile ?? process.env['AWS_PROFILE'];
  return profile === undefined
    ? 'Sign in to AWS again, for instance with "aws sso login".'
    : `Run "aws sso login --profile ${profile}".`;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function textOf(value: object, key: string): string | undefined {
  const text: unknown = Reflect.get(value, key);
  return typeof text === 'string' ? text : undefined;
}

function statusOf(error: unknown): number | undefined {
  const metadata: unknown = isObject(error) ? Reflect.get(error, '$metadata') : undefined;
  const status: unknown = isObject(metadata) ? Reflect.get(metadata, 'httpStatusCode') : undefined;
  return typeof status === 'number' ? status : undefined;
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, 400);

/** The KMS action that was refused, and the key's ARN. */
export type KmsAccessDenied = { readonly action: string; readonly key: string };

/**
 * Returns the refused KMS action and key, or `undefined` if the error is about the bucket.
 * S3 returns the same error code if the caller lacks a right to the bucket or to its encryption key. Only the message
 * differs.
 */
export function keyRefusalOf({ cause }: ClusterError): KmsAccessDenied | undefined {
  const parts =
    /perform: (kms:\w+) on(?: the)? resource(?: associated with this ciphertext)?:? *"?(arn:[\w-]+:kms:[\w:/-]+)?/.exec(
      messageOf(cause),
    );
  return parts?.[1] === undefined ? undefined : { action: parts[1], key: parts[2] ?? '*' };
}
