import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici';
import { ClusterError } from '#cluster/errors.ts';
import { readBytes } from '#processes/readBytes.ts';
import { isRecord } from '#shared/records.ts';
import { errorOfConnection, errorOfReply } from './googleErrors.ts';

/** Base URLs of Google Cloud's APIs, without a slash at the end. */
export type GoogleEndpoints = {
  readonly oauth2: string;
  readonly container: string;
  readonly iam: string;
  readonly iamcredentials: string;
  readonly sts: string;
  readonly storage: string;
};

type GoogleApi = keyof GoogleEndpoints;

export const googleEndpoints: GoogleEndpoints = {
  oauth2: 'https://oauth2.googleapis.com',
  container: 'https://container.googleapis.com',
  iam: 'https://iam.googleapis.com',
  iamcredentials: 'https://iamcredentials.googleapis.com',
  sts: 'https://sts.googleapis.com',
  storage: 'https://storage.googleapis.com',
};

/** The scope of all requests; IAM limits what the account may do. */
export const cloudScope = 'https://www.googleapis.com/auth/cloud-platform';

export type GoogleAsk = {
  readonly api: GoogleApi;
  /** The path from the slash after the host, with its query. */
  readonly path: string;
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Sent as JSON. */
  readonly json?: object;
  /** Sent as a form instead of JSON, for OAuth. */
  readonly form?: Readonly<Record<string, string>>;
  /** Sent as bearer token; without it the request is anonymous. */
  readonly token?: string | undefined;
  /** The project that is billed for the request, if the credentials name one. */
  readonly quotaProject?: string | undefined;
};

export type GoogleReply = {
  /** `GET https://…`, for evidence. */
  readonly asked: string;
  readonly body: Readonly<Record<string, unknown>>;
};

/** Policies and clusters take some kilobytes; larger replies are not from Google. */
const mostBytes = 8 * 1024 * 1024;
const mostOfError = 16 * 1024;

/** Connections to Google Cloud, kept alive for a run. The creator closes them. */
export class GoogleClient {
  readonly #endpoints: GoogleEndpoints;
  readonly #dispatcher: Dispatcher;

  constructor(endpoints: Partial<GoogleEndpoints> = {}) {
    this.#endpoints = { ...googleEndpoints, ...endpoints };
    // Uses HTTPS_PROXY and NO_PROXY; connects directly if no proxy is set.
    this.#dispatcher = dispatcherBy(process.env);
  }

  get endpoints(): GoogleEndpoints {
    return this.#endpoints;
  }

  /** Returns a request as evidence shows it. */
  asked({ api, path, method = 'GET' }: Pick<GoogleAsk, 'api' | 'path' | 'method'>): string {
    return `${method} ${this.#endpoints[api]}${path}`;
  }

  /**
   * Sends a request and returns the object in the response.
   * @throws ClusterError with Google's message, Unreachable and the like for the network, BadReply if the response is
   * not an object
   */
  async call(ask: GoogleAsk, signal: AbortSignal): Promise<GoogleReply> {
    const asked = this.asked(ask);
    const { status, contentType, text } = await this.#send(ask, asked, signal);
    if (status >= 300 || status < 200)
      throw errorOfReply({ asked, status, contentType, text: text.slice(0, mostOfError) });
    if (text === '') return { asked, body: {} };
    const body = parse(text);
    if (body) return { asked, body };
    throw new ClusterError(
      contentType.startsWith('text/html') ? 'WrongServer' : 'BadReply',
      `The reply to ${asked} is ${contentType.startsWith('text/html') ? 'a web page' : 'not a JSON object'}.`,
      'Check whether a proxy or a sign-in page is between this machine and Google Cloud.',
      { status },
    );
  }

  async #send(
    { api, path, method = 'GET', json, form, token, quotaProject }: GoogleAsk,
    asked: string,
    signal: AbortSignal,
  ): Promise<{ status: number; contentType: string; text: string }> {
    const type = form ? 'application/x-www-form-urlencoded' : 'application/json';
    const body = form ? new URLSearchParams(form).toString() : json && JSON.stringify(json);
    try {
      const { origin, pathname, search } = new URL(this.#endpoints[api] + path);
      const answer = await this.#dispatcher.request({
        origin,
        path: pathname + search,
        method,
        signal,
        headers: {
          accept: 'application/json',
          ...(body !== undefined && { 'content-type': type }),
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(quotaProject !== undefined && { 'x-goog-user-project': quotaProject }),
        },
        ...(body !== undefined && { body }),
      });
      const contentType = String(answer.headers['content-type'] ?? '');
      const text = (await readBytes(answer.body, mostBytes, () => tooLong(asked))).toString('utf8');
      return { status: answer.statusCode, contentType, text };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw errorOfConnection(asked, error);
    }
  }

  /** Closes the connections; cancels running requests. */
  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }
}

function dispatcherBy(env: NodeJS.ProcessEnv): Dispatcher {
  const httpsProxy = proxyIn(env, 'https_proxy');
  const httpProxy = proxyIn(env, 'http_proxy');
  if (httpsProxy === undefined && httpProxy === undefined) return new Agent();
  try {
    return new EnvHttpProxyAgent({ httpsProxy: httpsProxy ?? httpProxy ?? '', httpProxy: httpProxy ?? '' });
  } catch {
    // The URL is in neither the message nor the cause, because it may hold a password.
    throw new ClusterError(
      'ProfileInvalid',
      'The proxy in HTTPS_PROXY or HTTP_PROXY is not a valid URL.',
      'Set the variable to a URL such as http://proxy.example.com:3128.',
    );
  }
}

/** Reads a proxy as other tools do: `http://` is optional. */
function proxyIn(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = (env[name] || env[name.toUpperCase()] || '').trim();
  if (value === '') return undefined;
  return value.includes('://') ? value : `http://${value}`;
}

const tooLong = (asked: string): ClusterError =>
  new ClusterError('BadReply', `The reply to ${asked} is larger than ${mostBytes / 1024 / 1024} MB.`, '');

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
