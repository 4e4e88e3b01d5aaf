import type { Dispatcher } from 'undici';
import { openDispatcher } from '#catalog/transport/dispatcher.ts';
import { ClusterError, isClusterError } from '#cluster/errors.ts';
import { htmlTitleOf } from '#cluster/kube/kubeErrors.ts';
import { readBytes } from '#processes/readBytes.ts';
import { badReply, errorOfConnection, errorOfReply, pageError } from './rayErrors.ts';

/** The dashboard of a Ray cluster, which accepts jobs. */
export type RayTarget = {
  /** `http://127.0.0.1:8265`; its path is the prefix of Ray's paths. */
  readonly address: string;
  /** A secret, for a Ray cluster with token authentication. */
  readonly token?: string | undefined;
  /** A Unix socket or named pipe to connect to instead of the address's host: the local end of a port-forward. */
  readonly socketPath?: string | undefined;
};

/** An open path to a Ray cluster, such as a port-forward. It reconnects by itself as far as possible. */
export interface RayLink extends AsyncDisposable {
  readonly target: RayTarget;
  /** Aborts when the link is closed. */
  readonly signal: AbortSignal;
}

type RayAsk = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path from the slash after the base. The caller escapes its parts. */
  readonly path: string;
  /** Sent as JSON. */
  readonly json?: object;
  /** Bytes that are sent unchanged. */
  readonly bytes?: Uint8Array;
};

/**
 * Milliseconds to connect, until a reply starts, and without new data of a reply. Ray needs seconds for the first job.
 */
const timeouts = { connect: 10_000, headers: 60_000, body: 60_000 } as const;

/** Bytes of a reply; a job's log is one reply. */
const longestReply = 256 * 1024 * 1024;

/**
 * Connections to the dashboard of one Ray cluster. The creator closes them. Uses undici's `request` instead of `fetch`:
 * because of the headers of `fetch`, Ray would take the client for a browser and refuse its requests.
 */
export class RayConnection {
  /** `Ray at http://127.0.0.1:8265`, for messages. */
  readonly subject: string;
  readonly #base: URL;
  readonly #target: RayTarget;
  #dispatcher: Dispatcher | undefined;

  /** @throws ClusterError ProfileInvalid if the address is not a URL, or has more than a server and a path */
  constructor(target: RayTarget) {
    this.#target = target;
    this.#base = baseOf(target.address);
    this.subject = `Ray at ${this.#base.origin}${this.#base.pathname.replace(/\/$/, '')}`;
  }

  /** Sends a request. @returns the text of its reply @throws ClusterError for a status other than 2xx */
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
      text = (await readBytes(reply.body, longestReply, () => tooLong(this.subject, asked))).toString('utf8');
    } catch (error) {
      if (isClusterError(error)) throw error;
      throw errorOfConnection(this.subject, asked, error, signal);
    }
    if (status < 200 || status > 299) throw errorOfReply(this.subject, asked, status, text);
    const title = htmlTitleOf(text);
    if (title !== undefined) throw pageError(this.subject, asked, title, status);
    return text;
  }

  /** Sends a request and parses the reply. @throws ClusterError BadReply if it is not JSON */
  async json(ask: RayAsk, signal: AbortSignal): Promise<unknown> {
    const text = await this.text(ask, signal);
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw badReply(this.subject, `${ask.method} ${ask.path}`, { cause });
    }
  }

  /** Cancels running requests. */
  async close(): Promise<void> {
    await this.#dispatcher?.destroy();
  }

  #headers(): Record<string, string> {
    const { token } = this.#target;
    const common = { accept: 'application/json', 'user-agent': 'lance-catalog' };
    if (token === undefined || token === '') return common;
    // The token is sent in two headers, because a proxy may remove the usual one.
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
  // The message must not quote the address, which may hold a secret.
  if (url.username || url.password || url.search || url.hash) {
    throw new ClusterError('ProfileInvalid', 'The Ray address contains more than a server and a path.', hint);
  }
  return url;
}

const tooLong = (subject: string, asked: string): ClusterError =>
  new ClusterError('BadReply', `${subject}: the reply to ${asked} is longer than 256 MB.`, '');
