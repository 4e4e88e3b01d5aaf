import { ClusterError, type ClusterErrorKind } from '#cluster/errors.ts';
import { isRecord } from '#shared/records.ts';

// Converts errors of API servers, and of connections to them, to `ClusterError`s.

type Words = { readonly kind: ClusterErrorKind; readonly said: string; readonly hint: string };

const network = 'Check the network: a VPN may be off, or a proxy may be needed.';
const untrusted =
  'Check "certificate-authority" of the cluster in the kubeconfig. If a proxy inspects TLS traffic, set it to the certificate authority of the proxy.';

/** Messages by error code of Node, OpenSSL or undici. */
const codes: Readonly<Record<string, Words>> = {
  ENOTFOUND: { kind: 'Unreachable', said: 'its host name does not exist', hint: `Check the address. ${network}` },
  EAI_AGAIN: { kind: 'Unreachable', said: "its host name can't be resolved at the moment", hint: network },
  ECONNREFUSED: {
    kind: 'Unreachable',
    said: 'no server listens there',
    hint: 'Check that the cluster is running and that the port is right. A tunnel may have closed.',
  },
  ECONNRESET: { kind: 'Unreachable', said: 'the connection was closed unexpectedly', hint: network },
  EPIPE: { kind: 'Unreachable', said: 'the connection was closed unexpectedly', hint: network },
  EHOSTUNREACH: { kind: 'Unreachable', said: 'there is no network route to it', hint: network },
  ENETUNREACH: { kind: 'Unreachable', said: 'there is no network route to it', hint: network },
  UND_ERR_SOCKET: { kind: 'Unreachable', said: 'the connection was closed unexpectedly', hint: network },
  UND_ERR_CLOSED: { kind: 'Unreachable', said: 'the connection was closed', hint: 'Try again.' },
  UND_ERR_DESTROYED: { kind: 'Unreachable', said: 'the connection was closed', hint: 'Try again.' },
  ETIMEDOUT: { kind: 'Timeout', said: 'it does not respond', hint: network },
  UND_ERR_CONNECT_TIMEOUT: { kind: 'Timeout', said: 'it does not respond', hint: network },
  UND_ERR_HEADERS_TIMEOUT: { kind: 'Timeout', said: 'it accepted the request but did not reply', hint: 'Try again.' },
  UND_ERR_BODY_TIMEOUT: { kind: 'Timeout', said: 'it stopped in the middle of its reply', hint: 'Try again.' },
  DEPTH_ZERO_SELF_SIGNED_CERT: { kind: 'TlsUntrusted', said: 'its certificate is self-signed', hint: untrusted },
  SELF_SIGNED_CERT_IN_CHAIN: {
    kind: 'TlsUntrusted',
    said: 'its certificate comes from an authority that is not trusted',
    hint: untrusted,
  },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: {
    kind: 'TlsUntrusted',
    said: 'its certificate comes from an authority that is not trusted',
    hint: untrusted,
  },
  UNABLE_TO_GET_ISSUER_CERT: {
    kind: 'TlsUntrusted',
    said: 'the authority of its certificate is not known',
    hint: untrusted,
  },
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: {
    kind: 'TlsUntrusted',
    said: 'the authority of its certificate is not known',
    hint: untrusted,
  },
  CERT_SIGNATURE_FAILURE: {
    kind: 'TlsUntrusted',
    said: 'its certificate is not signed by the authority that it names',
    hint: untrusted,
  },
  CERT_HAS_EXPIRED: {
    kind: 'TlsUntrusted',
    said: 'its certificate has expired',
    hint: 'Check the clock of this machine. If it is right, ask the administrator of the cluster to renew the certificate.',
  },
  CERT_NOT_YET_VALID: {
    kind: 'TlsUntrusted',
    said: 'its certificate is not valid yet',
    hint: 'Check the clock of this machine.',
  },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    kind: 'TlsUntrusted',
    said: 'its certificate is for other names',
    hint: 'Use an address that the certificate names, or set tls-server-name of the cluster in the kubeconfig.',
  },
  ERR_SSL_WRONG_VERSION_NUMBER: {
    kind: 'WrongServer',
    said: 'the server there does not use TLS',
    hint: 'Check the port, and whether the address should begin with http://.',
  },
  ERR_SSL_PACKET_LENGTH_TOO_LONG: {
    kind: 'WrongServer',
    said: 'the server there does not use TLS',
    hint: 'Check the port.',
  },
  EPROTO: { kind: 'WrongServer', said: 'the TLS handshake failed', hint: 'Check the port.' },
};

const clientCertificate: Words = {
  kind: 'CredentialsRefused',
  said: 'it rejected the client certificate',
  hint: 'Sign in again, or get a new client certificate for the kubeconfig.',
};

function wordsOf(code: string): Words | undefined {
  const known = codes[code];
  if (known) return known;
  // The server ended the handshake because of the client certificate.
  if (/^ERR_SSL_\w*ALERT_(?:\w*CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)/.test(code)) {
    return /EXPIRED/.test(code)
      ? { ...clientCertificate, kind: 'CredentialsExpired', said: 'the client certificate has expired' }
      : clientCertificate;
  }
  if (code.startsWith('ERR_SSL_')) {
    return { kind: 'WrongServer', said: 'the TLS handshake failed', hint: 'Check the port, and any proxy.' };
  }
  if (code.startsWith('HPE_') || code === 'UND_ERR_RESPONSE') {
    return {
      kind: 'WrongServer',
      said: 'its reply is not valid HTTP',
      hint: 'Check the port, and whether the address should begin with https://.',
    };
  }
  return undefined;
}

/**
 * Returns the error for a request without a reply, or `undefined` if it is not a connection error.
 * @param subject the subject of the message: an address, or a request
 */
export function connectionErrorOf(error: unknown, subject: string): ClusterError | undefined {
  for (const one of chainOf(error)) {
    if (one.name === 'TimeoutError') {
      return new ClusterError('Timeout', `${subject} did not respond in time.`, network, { cause: error });
    }
    if (one.name === 'AbortError') {
      return new ClusterError('Aborted', `${subject}: the request was canceled.`, '', { cause: error });
    }
    const { code } = one as { code?: unknown };
    const words = typeof code === 'string' ? wordsOf(code) : undefined;
    if (words) {
      const detail = code === 'ERR_TLS_CERT_ALTNAME_INVALID' ? namesIn(one.message) : '';
      return new ClusterError(words.kind, `${subject}: ${words.said}${detail} (${String(code)}).`, words.hint, {
        cause: error,
      });
    }
  }
  return undefined;
}

/** Returns an error with its causes and aggregated errors: the message `fetch failed` alone does not say the reason. */
function chainOf(error: unknown): readonly Error[] {
  const found: Error[] = [];
  const waiting = [error];
  while (waiting.length > 0 && found.length < 20) {
    const next = waiting.shift();
    if (!(next instanceof Error) || found.includes(next)) continue;
    found.push(next);
    if (next instanceof AggregateError) waiting.push(...(next.errors as unknown[]));
    waiting.push(next.cause);
  }
  return found;
}

/** Returns `: DNS:a, DNS:b` from Node's message about the names in a certificate. */
function namesIn(message: string): string {
  const names = /cert's altnames: (.{1,300})/.exec(message)?.[1];
  return names === undefined ? '' : `: ${names}`;
}

type StatusWords = { readonly kind: ClusterErrorKind; readonly said: string; readonly hint: string };

/** The meaning of a status. If the reply has a message, the message replaces `said`. */
const statuses: Readonly<Record<number, StatusWords>> = {
  400: { kind: 'InvalidRequest', said: 'the API server rejected the request as invalid', hint: 'Correct the request.' },
  401: {
    kind: 'CredentialsRefused',
    said: 'the API server does not accept these credentials',
    hint: 'Sign in again, or choose another context.',
  },
  403: {
    kind: 'Forbidden',
    said: 'you are not allowed to do this',
    hint: 'Ask an administrator of the cluster for the permission.',
  },
  404: { kind: 'NotFound', said: 'it does not exist', hint: 'Check the name and the namespace.' },
  405: {
    kind: 'WrongServer',
    said: 'the server does not support this method',
    hint: 'Check the address of the server.',
  },
  408: { kind: 'Timeout', said: 'the server timed out', hint: 'Try again.' },
  409: {
    kind: 'Conflict',
    said: 'it was changed by another client, or it already exists',
    hint: 'Read it again, then retry.',
  },
  410: { kind: 'Conflict', said: 'the version that was read is too old to continue from', hint: 'Read it again.' },
  413: { kind: 'InvalidRequest', said: 'the request is too large', hint: 'Send less data at once.' },
  415: { kind: 'InvalidRequest', said: 'the server does not support this kind of patch', hint: 'Upgrade the cluster.' },
  422: { kind: 'InvalidRequest', said: 'the object is not valid', hint: 'Correct the fields that the message names.' },
  429: { kind: 'Throttled', said: 'the server has too many requests', hint: 'Wait a moment, then try again.' },
  504: { kind: 'Timeout', said: 'the server took too long', hint: 'Try again; the cluster may be under load.' },
};

const otherStatus = (status: number): StatusWords =>
  status >= 500
    ? {
        kind: 'Unavailable',
        said: `the API server failed with status ${status}`,
        hint: 'Try again. If the error persists, ask the administrator of the cluster.',
      }
    : {
        kind: 'BadReply',
        said: `the server returned status ${status}`,
        hint: 'Check that the address is that of a Kubernetes API server.',
      };

/**
 * Returns the error for a status other than 2xx.
 * @param what the request as evidence shows it
 * @param body text or parsed JSON
 */
export function errorOfReply(what: string, status: number, body: unknown, cause?: unknown): ClusterError {
  const options = { status, ...(cause === undefined ? {} : { cause }) };
  const page = htmlTitleOf(body);
  if (page !== undefined) return pageError(what, page, options);
  const told = messageOfStatus(body);
  const { kind, said, hint } = statuses[status] ?? otherStatus(status);
  if (status === 403 && told?.includes('"system:anonymous"')) {
    return new ClusterError(
      'CredentialsMissing',
      `The API server treats ${what} as anonymous (system:anonymous).`,
      'Add credentials to the kubeconfig, or sign in again.',
      options,
    );
  }
  if (status === 404 && told === undefined) {
    return new ClusterError(
      'NotFound',
      `${what}: the server does not serve this path.`,
      'Install the resource definition of this kind of object, or check the address of the server.',
      options,
    );
  }
  return new ClusterError(
    kind,
    `${what}: ${told === undefined || told === '' ? `${said}.` : sentenceOf(told)}`,
    hint,
    options,
  );
}

/** Returns the error for an HTML page, which is from a proxy, a sign-in or a web server. */
export function pageError(
  what: string,
  title: string,
  options: { readonly cause?: unknown; readonly status?: number | undefined } = {},
): ClusterError {
  const named = title === '' ? '' : ` ("${title}")`;
  return new ClusterError(
    'WrongServer',
    `The reply to ${what} is a web page${named}, not a response of the Kubernetes API.`,
    'Check the address in the kubeconfig. A proxy or a sign-in page may be in between.',
    options,
  );
}

/** Returns the title of an HTML page, which may be empty, or `undefined` if it is not a page. */
export function htmlTitleOf(body: unknown): string | undefined {
  if (typeof body !== 'string' || !/^\s*<(?:!doctype\s+html|html|head|body)\b/i.test(body)) return undefined;
  const title = /<title[^>]*>([^<]{1,200})/i.exec(body)?.[1] ?? '';
  return title.replaceAll(/\s+/g, ' ').trim();
}

/** Returns the message of a `Status` object, which may be empty. Returns `undefined` if the body is not a `Status`. */
function messageOfStatus(body: unknown): string | undefined {
  const value = typeof body === 'string' ? parsed(body) : body;
  if (!isRecord(value) || value['kind'] !== 'Status') return undefined;
  const { message } = value;
  return typeof message === 'string' ? firstLineOf(message) : '';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const longest = 600;

function firstLineOf(text: string): string {
  const line = text.split('\n', 1)[0]?.trim() ?? '';
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}

const sentenceOf = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);
