import { ClusterError, type ClusterErrorKind } from '#cluster/errors.ts';
import { isRecord } from '#shared/records.ts';

// The one place that looks at the words of API servers.

type StatusWords = { readonly kind: ClusterErrorKind; readonly said: string; readonly hint: string };

/** What a status means where the reply's own words do not say it better. */
const statuses: Readonly<Record<number, StatusWords>> = {
  400: { kind: 'InvalidRequest', said: 'the request was refused as wrong', hint: 'Correct what was asked for.' },
  401: {
    kind: 'CredentialsRefused',
    said: 'the API server does not accept these credentials',
    hint: 'Sign in again, or choose another context.',
  },
  403: {
    kind: 'Forbidden',
    said: 'you may not do that',
    hint: 'Ask an administrator of the cluster for this grant.',
  },
  404: { kind: 'NotFound', said: 'it is not there', hint: 'Check the name and the namespace.' },
  405: { kind: 'WrongServer', said: 'the server does not know this method', hint: 'Check the address of the server.' },
  408: { kind: 'Timeout', said: 'the server gave up waiting', hint: 'Try again.' },
  409: {
    kind: 'Conflict',
    said: 'somebody else changed it, or it exists already',
    hint: 'Read it anew, then try again.',
  },
  410: { kind: 'Conflict', said: 'what was read is too old to go on from', hint: 'Read it anew.' },
  413: { kind: 'InvalidRequest', said: 'the request is too large', hint: 'Send less at once.' },
  415: { kind: 'InvalidRequest', said: 'the server does not take this kind of patch', hint: 'The server is too old.' },
  422: { kind: 'InvalidRequest', said: 'the object is not valid', hint: 'Correct the fields that it names.' },
  429: { kind: 'Throttled', said: 'the server is asked too much at once', hint: 'Wait a moment, then try again.' },
  504: { kind: 'Timeout', said: 'the server took too long', hint: 'Try again; the cluster may be under load.' },
};

const otherStatus = (status: number): StatusWords =>
  status >= 500
    ? {
        kind: 'Unavailable',
        said: `the API server failed with status ${status}`,
        hint: 'Try again; where it stays so, ask who runs the cluster.',
      }
    : {
        kind: 'BadReply',
        said: `the server answered with status ${status}`,
        hint: 'Check that the address is that of a Kubernetes API server.',
      };

/**
 * The error for a reply that is none of the 2xx.
 * @param what the request as evidence shows it
 * @param body as it came: text, or what was parsed of it
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
      `The API server takes you for nobody (system:anonymous) at ${what}.`,
      'Name credentials in the kubeconfig, or sign in again.',
      options,
    );
  }
  if (status === 404 && told === undefined) {
    return new ClusterError(
      'NotFound',
      `${what}: the server does not serve this path.`,
      'Install what defines this kind of object, or check the address of the server.',
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

/** The error for a page meant for people: a proxy, a sign-in, a web server. */
export function pageError(
  what: string,
  title: string,
  options: { readonly cause?: unknown; readonly status?: number | undefined } = {},
): ClusterError {
  const named = title === '' ? '' : ` ("${title}")`;
  return new ClusterError(
    'WrongServer',
    `${what} was answered by a web page${named}, not by a Kubernetes API server.`,
    'Check the address in the kubeconfig; a proxy or a sign-in page may stand in between.',
    options,
  );
}

/** The title of an HTML page, empty where it has none; `undefined` for what is no page. */
export function htmlTitleOf(body: unknown): string | undefined {
  if (typeof body !== 'string' || !/^\s*<(?:!doctype\s+html|html|head|body)\b/i.test(body)) return undefined;
  const title = /<title[^>]*>([^<]{1,200})/i.exec(body)?.[1] ?? '';
  return title.replaceAll(/\s+/g, ' ').trim();
}

/** The message of the `Status` object by which API servers say what is wrong; empty where it has none. */
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
