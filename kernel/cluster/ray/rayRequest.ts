import type { Dispatcher } from 'undici';
import { openDispatcher } from '#catalog/transport/dispatcher.ts';
import { ClusterError, isClusterError } from '#cluster/errors.ts';
import { htmlTitleOf } from '#cluster/kube/kubeErrors.ts';
import { badReply, errorOfConnection, errorOfReply, pageError } from './rayErrors.ts';

/** Where the dashboard of a Ray answers, which takes its jobs. */
export type RayTarget = {
  /** `http://127.0.0.1:8265`; a path stays in front of those of Ray. */
  readonly address: string;
  /** A secret. Of a Ray that wants one ("token authentication"). */
  readonly token?: string | undefined;
  /** A Unix socket or named pipe to connect to in place of the host of the address: the near end of a port-forward. */
  readonly socketPath?: string | undefined;
};

/** A way to a Ray that somebody keeps open, such as a port-forward. It is mended in silence for as long as that can be done. */
export interface RayLink extends AsyncDisposable {
  readonly target: RayTarget;
  /** Aborts, with a ClusterError as its reason, once it cannot be mended any more. */
  readonly signal: AbortSignal;
}

/** One request to Ray's dashboard. */
type RayAsk = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** From the slash after the base on; what is put into it is escaped by the caller. */
  readonly path: string;
  /** Sent as JSON. */
  readonly json?: object;
  /** Sent as it is. */
  readonly bytes?: Uint8Array;
};

/** Milliseconds until a connection stands, until a reply begins, and without a byte of it: a first job takes seconds. */
const timeouts = { connect: 10_000, headers: 60_000, body: 60_000 } as const;

/** Bytes of a reply: the log of a job comes as one. */
const longestReply = 256 * 1024 * 1024;

/**
 * Connections to the dashboard of one Ray; whoever makes one closes it. It speaks by undici's `request`: what `fetch` sends
 * makes Ray take it for a browser, whose requests it refuses.
 */
export class RayConnection {
  /** `Ray at http://127.0.0.1:8265`, for sentences. */
  readonly subject: string;
  readonly #base: URL;
  readonly #target: RayTarget;
  #dispatcher: Dispatcher | undefined;

  /** @throws ClusterError ProfileInvalid for what is no address, or one that holds more than a server and a path */
  constructor(target: RayTarget) {
    this.#target = target;
    this.#base = baseOf(target.address);
    this.subject = `Ray at ${this.#base.origin}${this.#base.pathname.replace(/\/$/, '')}`;
  }

  /** Sends a request. @returns the text of its reply @throws ClusterError unless it is answered with 2xx */
  async text(ask: RayAsk, signal: AbortSignal): Promise<string> {
    const asked = `${ask.method} ${ask.path}`;
    let status: number;
    let text: string;
    try {
      this.#dispatcher ??= openDispatcher({
        url: this.#base,
        socketPath: this.#target.socketPath,
        timeouts,
      });
      const reply = await this.#dispatcher.request({
        origin: this.#base.origin,
        path: `${this.#base.pathname.replace(/\/$/, '')}${ask.path}`,
        method: ask.method,
        headers: { ...this.#headers(), ...(ask.json && { 'content-type': 'application/json' }) },
        body: ask.json ? JSON.stringify(ask.json) : (ask.bytes ?? null),
        signal,
      });
      status = reply.statusCode;
      text = await textOf(reply.body, this.subject, asked);
    } catch (error) {
      if (isClusterError(error)) throw error;
      throw errorOfConnection(this.subject, asked, error, signal);
    }
    if (status < 200 || status > 299) throw errorOfReply(this.subject, asked, status, text);
    const title = htmlTitleOf(text);
    if (title !== undefined) throw pageError(this.subject, asked, title, status);
    return text;
  }

  /** Sends a request that is answered with JSON. @throws ClusterError BadReply for what is none */
  async json(ask: RayAsk, signal: AbortSignal): Promise<unknown> {
    const text = await this.text(ask, signal);
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw badReply(this.subject, `${ask.method} ${ask.path}`, { cause });
    }
  }

  /** Cuts what is still asked. */
  async close(): Promise<void> {
    await this.#dispatcher?.destroy();
  }

  #headers(): Record<string, string> {
    const { token } = this.#target;
    const common = { accept: 'application/json', 'user-agent': 'lance-catalog' };
    if (token === undefined || token === '') return common;
    // Both: a proxy in front may keep the usual one for itself.
    return { ...common, authorization: `Bearer ${token}`, 'x-ray-authorization': `Bearer ${token}` };
  }
}

function baseOf(address: string): URL {
  const hint = 'Use the address of the Ray dashboard, such as "http://127.0.0.1:8265".';
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol === 'ray:') {
    throw new ClusterError('ProfileInvalid', `"${address}" is an address for the Ray client, not for jobs.`, hint);
  }
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new ClusterError('ProfileInvalid', 'The Ray address is not an HTTP or HTTPS URL.', hint);
  }
  // Not repeated: it may be a secret.
  if (url.username || url.password || url.search || url.hash) {
    throw new ClusterError('ProfileInvalid', 'The Ray address contains more than a server and a path.', hint);
  }
  return url;
}

async function textOf(body: Dispatcher.ResponseData['body'], subject: string, asked: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    const part = Buffer.from(chunk as Uint8Array);
    bytes += part.length;
    if (bytes > longestReply) {
      body.destroy();
      throw new ClusterError('BadReply', `${subject}: the reply to ${asked} is longer than 256 MB.`, '');
    }
    chunks.push(part);
  }
  return Buffer.concat(chunks).toString('utf8');
}
