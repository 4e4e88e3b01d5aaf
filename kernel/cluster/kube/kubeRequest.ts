import type { Dispatcher } from 'undici';
import { ClusterError, isClusterError } from '#cluster/errors.ts';
import { readBytes } from '#processes/readBytes.ts';
import type { KubeCredential } from './credential.ts';
import { connectionErrorOf, errorOfReply, htmlTitleOf, pageError } from './kubeErrors.ts';

/** A user to act as; the signed-in user needs the right to impersonate. */
export type Impersonation = { readonly user: string; readonly groups: readonly string[] };

export type KubeAsk = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path from the first slash, with the query. The caller escapes its parts. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Default: `application/json`; patches need their own type. */
  readonly contentType?: string | undefined;
  readonly as?: Impersonation | undefined;
  /** Another identity's token, which replaces the credentials of the connection. */
  readonly token?: string | undefined;
};

/** A 2xx reply. `body` is the parsed JSON, or the text if the reply is not JSON. Neither is validated. */
export type KubeReply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
};

/** Bytes of a reply; 5,000 nodes with their images take about 60 MB. */
const longestReply = 128 * 1024 * 1024;

/**
 * Sends one request and reads the reply. Does not follow redirects, because an API server sends none, and a sign-in
 * page at the target would look like a reply.
 * @param server the URL of the server; its path comes before the path of each request
 * @throws ClusterError for a status other than 2xx; the caller explains a 401, because it knows the credential
 */
export async function sendRequest(
  ask: KubeAsk,
  options: {
    readonly server: string;
    readonly dispatcher: Dispatcher;
    readonly credential: KubeCredential;
    readonly signal: AbortSignal;
    /** Host and port of the proxy, if there is one. */
    readonly proxy?: string | undefined;
    /** Receives the headers of every reply, also of errors. */
    readonly onHeaders?: (headers: Readonly<Record<string, string>>) => void;
  },
): Promise<KubeReply> {
  const { server, dispatcher, credential, signal } = options;
  const url = new URL(`${server}${ask.path}`);
  const what = requestLabel(ask);
  try {
    const reply = await dispatcher.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: ask.method,
      headers: {
        accept: 'application/json',
        'user-agent': 'lance-catalog',
        ...(ask.body === undefined ? {} : { 'content-type': ask.contentType ?? 'application/json' }),
        ...authorization(credential),
        ...impersonation(ask.as),
      },
      body: ask.body === undefined ? null : JSON.stringify(ask.body),
      signal,
    });
    const { statusCode: status } = reply;
    const headers = headersOf(reply.headers);
    options.onHeaders?.(headers);
    const text = (await readBytes(reply.body, longestReply, () => tooLong(what))).toString('utf8');
    if (status >= 300 && status < 400) throw redirected(what, headers['location']);
    const title = htmlTitleOf(text);
    if (title !== undefined) throw pageError(what, title, { status });
    const body = parsed(text, headers['content-type'] ?? '', what);
    if (status < 200 || status > 299) throw errorOfReply(what, status, body);
    return { status, headers, body };
  } catch (error) {
    if (isClusterError(error)) throw error;
    if (signal.aborted) throw abortedError(what, signal);
    throw unansweredError(error, options) ?? unreadable(what, error);
  }
}

/**
 * Returns the error for a failed connection. With a proxy, the message names the server and the proxy, because either
 * of them may be the cause.
 */
function unansweredError(
  error: unknown,
  { server, proxy }: { readonly server: string; readonly proxy?: string | undefined },
): ClusterError | undefined {
  const subject = `The API server ${server}`;
  if (proxy === undefined) return connectionErrorOf(error, subject);
  const found = connectionErrorOf(error, `${subject}, through the proxy ${proxy}`);
  if (!found?.isTransient) return found;
  const hint = 'Check the proxy: HTTPS_PROXY and NO_PROXY, or proxy-url in the kubeconfig.';
  return new ClusterError(found.kind, found.what, `${hint} ${found.hint}`, { cause: error });
}

/** Returns the request as evidence shows it. */
export const requestLabel = ({ method, path }: KubeAsk): string => `${method} ${path}`;

/** The error for a request that its caller canceled. */
export const abortedError = (what: string, signal: AbortSignal): ClusterError =>
  new ClusterError('Aborted', `${what} was canceled.`, '', { cause: signal.reason });

export function authorization({ token, basic }: KubeCredential): Record<string, string> {
  if (token !== undefined) return { authorization: `Bearer ${token}` };
  if (basic !== undefined) return { authorization: `Basic ${Buffer.from(basic).toString('base64')}` };
  return {};
}

/** Returns the headers that name the user to act as. */
export function impersonation(as: Impersonation | undefined): Record<string, string | string[]> {
  if (!as) return {};
  return { 'impersonate-user': as.user, ...(as.groups.length > 0 ? { 'impersonate-group': [...as.groups] } : {}) };
}

const tooLong = (what: string): ClusterError =>
  new ClusterError('BadReply', `The reply to ${what} is longer than 128 MiB.`, 'Request less data at once.');

const headersOf = (headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );

function parsed(text: string, contentType: string, what: string): unknown {
  if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(contentType)) return text;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unreadable(what, cause);
  }
}

const unreadable = (what: string, cause: unknown): ClusterError =>
  new ClusterError(
    'BadReply',
    `Can't parse the reply to ${what}.`,
    'Check that the address is that of a Kubernetes API server, and that no proxy changes its replies.',
    { cause },
  );

/** Names only the host, because the rest of such a URL may hold credentials. */
function redirected(what: string, location: string | undefined): ClusterError {
  const to = location !== undefined && URL.canParse(location) ? ` to ${new URL(location).host}` : '';
  return new ClusterError(
    'WrongServer',
    `${what} was redirected${to}. A Kubernetes API server does not redirect.`,
    'Check the address in the kubeconfig. A sign-in page or a proxy may be in between.',
  );
}
