import { isAbort, messageOf } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';

/** The methods of one side: name -> [params, result]. */
export type Methods = Record<string, [params: unknown, result: unknown]>;

type WireError = { code: string; message: string };

export type Frame =
  | { v: 1; id: number; method: string; params: unknown }
  | { v: 1; re: number; ok: true; result: unknown }
  | { v: 1; re: number; ok: false; error: WireError }
  | { v: 1; cancel: number };

export type Handlers<M extends Methods> = {
  [K in keyof M]: (params: M[K][0], signal: AbortSignal) => Promise<M[K][1]> | M[K][1];
};

/** The failure of a request: an error of the other side, or `closed`, `cancelled`, `unknown-method`. */
export class RemoteError extends Error {
  readonly code: string;

  constructor(error: WireError) {
    super(error.message);
    this.name = error.code === 'cancelled' ? 'AbortError' : 'RemoteError';
    this.code = error.code;
  }
}

type Call = { resolve(value: unknown): void; reject(error: Error): void; release(): void };

export function isFrame(value: unknown): value is Frame {
  if (!isRecord(value) || value['v'] !== 1) return false;
  if ('cancel' in value) return typeof value['cancel'] === 'number';
  if (!('re' in value)) return typeof value['id'] === 'number' && typeof value['method'] === 'string';
  if (typeof value['re'] !== 'number') return false;
  if (value['ok'] === true) return true;
  const error = value['error'];
  return (
    value['ok'] === false &&
    isRecord(error) &&
    typeof error['code'] === 'string' &&
    typeof error['message'] === 'string'
  );
}

/**
 * One end of a two-way request channel. Every request gets a result or an error, also a request for an unknown method.
 * Closing rejects pending requests and aborts running handlers; canceling a request aborts its handler on the other
 * side.
 */
export class Endpoint<Mine extends Methods, Theirs extends Methods> {
  #next = 0;
  readonly #calls = new Map<number, Call>();
  readonly #answering = new Map<number, AbortController>();
  readonly #post: (frame: Frame) => void;
  readonly #handlers: Handlers<Mine>;
  #closed = false;

  constructor(post: (frame: Frame) => void, handlers: Handlers<Mine>) {
    this.#post = post;
    this.#handlers = handlers;
  }

  request<K extends keyof Theirs & string>(
    method: K,
    params: Theirs[K][0],
    signal?: AbortSignal,
  ): Promise<Theirs[K][1]> {
    if (this.#closed) return Promise.reject(new RemoteError({ code: 'closed', message: 'The connection is closed.' }));
    if (signal?.aborted) return Promise.reject(new RemoteError({ code: 'cancelled', message: 'Cancelled.' }));
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const cancel = () => {
        if (!this.#calls.delete(id)) return;
        this.#post({ v: 1, cancel: id });
        reject(new RemoteError({ code: 'cancelled', message: 'Cancelled.' }));
      };
      signal?.addEventListener('abort', cancel, { once: true });
      this.#calls.set(id, { resolve, reject, release: () => signal?.removeEventListener('abort', cancel) });
      this.#post({ v: 1, id, method, params });
    });
  }

  /** Handles a value from the transport; ignores values that are not frames. */
  async receive(frame: unknown): Promise<void> {
    if (this.#closed || !isFrame(frame)) return;
    if ('cancel' in frame) return this.#answering.get(frame.cancel)?.abort();
    if ('re' in frame) return this.#settle(frame);
    return this.#answer(frame);
  }

  /** Rejects every pending request, so that a closed panel leaves no promise unsettled. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const controller of this.#answering.values()) controller.abort();
    this.#answering.clear();
    for (const call of this.#calls.values()) {
      call.release();
      call.reject(new RemoteError({ code: 'closed', message: 'The connection is closed.' }));
    }
    this.#calls.clear();
  }

  #settle(frame: Extract<Frame, { re: number }>): void {
    const call = this.#calls.get(frame.re);
    if (!call) return;
    this.#calls.delete(frame.re);
    call.release();
    if (frame.ok) call.resolve(frame.result);
    else call.reject(new RemoteError(frame.error));
  }

  async #answer(frame: Extract<Frame, { method: string }>): Promise<void> {
    const handler = Object.hasOwn(this.#handlers, frame.method) ? this.#handlers[frame.method] : undefined;
    const reply = (body: { ok: true; result: unknown } | { ok: false; error: WireError }) => {
      if (!this.#closed) this.#post({ v: 1, re: frame.id, ...body });
    };
    if (!handler)
      return reply({ ok: false, error: { code: 'unknown-method', message: `No method "${frame.method}".` } });
    const controller = new AbortController();
    this.#answering.set(frame.id, controller);
    try {
      reply({ ok: true, result: (await handler(frame.params, controller.signal)) ?? null });
    } catch (error) {
      const code = isAbort(error)
        ? 'cancelled'
        : isRecord(error) && 'kind' in error
          ? String(error['kind'])
          : 'internal';
      reply({ ok: false, error: { code, message: messageOf(error) } });
    } finally {
      this.#answering.delete(frame.id);
    }
  }
}

/**
 * Wraps handlers so that each checks its parameters first.
 * @param checks whether the parameters of a method have the types that its handler expects
 * @param taker the receiver, for the message: "the jobs process"
 */
export function checkedHandlers<M extends Methods>(
  handlers: Handlers<M>,
  checks: Readonly<Record<keyof M, (params: unknown) => boolean>>,
  taker: string,
): Handlers<M> {
  const entries = Object.entries(handlers).map(([method, handler]) => [
    method,
    (params: never, signal: AbortSignal) => {
      if (checks[method]?.(params) !== true)
        throw new TypeError(`The request "${method}" to ${taker} has invalid parameters.`);
      return handler(params, signal);
    },
  ]);
  return Object.fromEntries(entries) as Handlers<M>;
}
