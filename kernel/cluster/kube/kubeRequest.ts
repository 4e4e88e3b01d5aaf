import { ApiException, HttpMethod, RequestContext } from '@kubernetes/client-node';
import { fetch } from 'undici';
import { ClusterError } from '#cluster/errors.ts';
import type { KubeConnection } from './connectKube.ts';
import { kubeCall } from './kubeErrors.ts';

/** A request to an API server. */
export type KubeAsk = {
  readonly method: keyof typeof HttpMethod;
  /** From the root of the API server, with its query. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** What the body is; `application/json` where nothing is said. */
  readonly contentType?: string | undefined;
};

export type KubeReply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** What the JSON says; the text as it came where it is none. */
  readonly body: unknown;
};

/** More than any page of a list that we ask for: what is longer is no reply to us. */
const longestReply = 64 * 1024 * 1024;

/**
 * Asks an API server. The client's generated classes are passed by: they make objects of a reply without looking whether it
 * is one, and a report shows the request as it was sent.
 * @throws ClusterError for every reply that is not a success and every way in which none comes
 */
export function kubeRequest(connection: KubeConnection, ask: KubeAsk, signal: AbortSignal): Promise<KubeReply> {
  return kubeCall(wordsOf(ask), async () => {
    const context = new RequestContext(addressOf(connection.server, ask.path), HttpMethod[ask.method]);
    context.setHeaderParam('Accept', 'application/json, */*;q=0.5');
    if (ask.body !== undefined) context.setHeaderParam('Content-Type', ask.contentType ?? 'application/json');
    await connection.config.applySecurityAuthentication(context);
    const dispatcher = context.getDispatcher();
    const reply = await fetch(context.getUrl(), {
      method: ask.method,
      headers: context.getHeaders(),
      signal,
      // An API server redirects nobody; a page to sign in at does.
      redirect: 'manual',
      ...(ask.body === undefined ? {} : { body: JSON.stringify(ask.body) }),
      ...(dispatcher === undefined ? {} : { dispatcher }),
    });
    const headers = Object.fromEntries(reply.headers);
    const body = bodyOf(await textOf(reply, wordsOf(ask)), headers['content-type']);
    if (!reply.ok) throw new ApiException(reply.status, reply.statusText, body, headers);
    return { status: reply.status, headers, body };
  });
}

/** The request as evidence shows it. */
export const wordsOf = ({ method, path }: KubeAsk): string => `${method} ${path}`;

/** Servers behind a gateway, such as Rancher's, stand at a path of their own. */
const addressOf = (server: string, path: string): string => `${server.replace(/\/+$/, '')}${path}`;

function bodyOf(text: string, type: string | undefined): unknown {
  if (type !== undefined && !/\bjson\b/.test(type)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

async function textOf(reply: Awaited<ReturnType<typeof fetch>>, what: string): Promise<string> {
  if (!reply.body) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of reply.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > longestReply)
      throw new ClusterError('BadReply', `The reply to ${what} is longer than 64 MiB.`, 'Check the address.');
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
