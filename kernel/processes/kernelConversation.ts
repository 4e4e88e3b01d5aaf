import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { DebugEvent } from '#shared/protocol/debugMessages.ts';
import { CatalogError, messageOf } from '#shared/errors.ts';
import { encodeFrame, readFrames } from '#shared/protocol/frames.ts';
import {
  isKernelMessage,
  isKernelOutput,
  type KernelConnectionRequest,
  type KernelInputRequest,
  type KernelOutput,
  type KernelReply,
  type KernelRequest,
  type KernelViewRequest,
  type NamedConnection,
} from '#shared/protocol/kernelMessages.ts';
import type { KernelView, ViewAnswer } from '#shared/protocol/outputTables.ts';
import { callListener } from './calls.ts';

export type Replies = { [M in KernelReply as M['type']]: M['content'] };
type Requests = { [M in KernelRequest as M['type']]: M['content'] };

/**
 * Prompts the user for input of a cell. Returns null if the user dismisses the prompt. `signal` aborts when the answer
 * is no longer needed.
 */
export type InputHandler = (
  question: { prompt: string; password: boolean },
  signal: AbortSignal,
) => Promise<string | null>;

/** Returns the connection with a name, for a query that names it, or only the names of all connections for null. */
export type ConnectionHandler = (name: string | null) => Promise<NamedConnection>;

/** Shows a table of a cell in a panel. */
export type ViewHandler = (view: KernelView) => Promise<ViewAnswer>;

/** What a client answers while cells run. */
export type ClientHandlers = {
  /** Set if cells may prompt the user. */
  ask?: InputHandler | undefined;
  /** Set if queries may name connections of the client. */
  connection?: ConnectionHandler | undefined;
  /** Set if the client has table panels. */
  view?: ViewHandler | undefined;
};

type Pending = {
  reply: KernelReply['type'];
  readonly resolve: (content: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly take?: (output: KernelOutput) => void;
};

/** Maximum number of outputs without a running cell that are kept until a listener is added. */
const keptOrphans = 1000;

/** Requests to a kernel, and its replies and outputs, over one connection. */
export class KernelConversation {
  readonly #pipe: Duplex;
  readonly #handlers: ClientHandlers;
  readonly #pending = new Map<string, Pending>();
  readonly #questions = new Map<string, AbortController[]>();
  readonly #orphanListeners = new Set<(output: KernelOutput) => void>();
  readonly #debugListeners = new Set<(event: DebugEvent) => void>();
  /** `undefined` once a listener was added. */
  #orphans: KernelOutput[] | undefined = [];
  // The prefix is unique for each client, because a kernel still knows the runs of an earlier client by their ids.
  readonly #prefix = randomUUID().slice(0, 8);
  #next = 0;
  #end: Error | undefined;

  /** @param onBroken called if incoming messages can no longer be read */
  constructor(pipe: Duplex, handlers: ClientHandlers, onBroken: () => void) {
    this.#pipe = pipe;
    this.#handlers = handlers;
    // Only the framing can fail here, because listeners are guarded. After a broken frame nothing more can be read.
    readFrames(pipe, (message) => this.#receive(message), onBroken);
    // The error is ignored, because 'close' follows, and the creator of the pipe knows the reason.
    pipe.on('error', () => {});
  }

  /** Whether cells may prompt the user. */
  get canAsk(): boolean {
    return this.#handlers.ask !== undefined;
  }

  /**
   * Sends a request. `atOnce` receives the reply before any later message is processed.
   * @throws CatalogError the error of `end`, Internal (18) if the kernel refuses
   */
  request<Q extends KernelRequest['type'], R extends KernelReply['type']>(
    type: Q,
    content: Requests[Q],
    reply: R,
    { take, atOnce }: { take?: (output: KernelOutput) => void; atOnce?: (content: Replies[R]) => void } = {},
  ): Promise<Replies[R]> {
    if (this.#end) return Promise.reject(this.#end);
    const id = `${type}-${this.#prefix}-${++this.#next}`;
    const frame = encodeFrame({ type, id, content });
    const answer = this.expect(id, reply, take, atOnce);
    this.#pipe.write(frame);
    return answer;
  }

  /** Waits for the reply to a request that was already sent, for instance by an earlier client. */
  expect<R extends KernelReply['type']>(
    id: string,
    reply: R,
    take?: (output: KernelOutput) => void,
    atOnce?: (content: Replies[R]) => void,
  ): Promise<Replies[R]> {
    if (this.#end) return Promise.reject(this.#end);
    return new Promise((resolve, reject) => {
      const done = (value: unknown) => {
        atOnce?.(value as Replies[R]);
        resolve(value as Replies[R]);
      };
      this.#pending.set(id, { reply, resolve: done, reject, ...(take && { take }) });
    });
  }

  onOrphanOutput(listener: (output: KernelOutput) => void): { dispose(): void } {
    this.#orphanListeners.add(listener);
    const kept = this.#orphans ?? [];
    this.#orphans = undefined;
    for (const output of kept) callListener(() => listener(output));
    return { dispose: () => void this.#orphanListeners.delete(listener) };
  }

  onDebugEvent(listener: (event: DebugEvent) => void): { dispose(): void } {
    this.#debugListeners.add(listener);
    return { dispose: () => void this.#debugListeners.delete(listener) };
  }

  /** Rejects all pending and future requests. */
  end(error: Error): void {
    this.#end = error;
    for (const id of this.#questions.keys()) this.#withdraw(id);
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }

  #receive(message: unknown): void {
    if (!isKernelMessage(message)) return;
    if (message.type === 'input_request') return void this.#answer(message);
    if (message.type === 'connection_request') return void this.#answerConnection(message);
    if (message.type === 'view_request') return void this.#answerView(message);
    if (message.type === 'debug_event') {
      for (const listener of this.#debugListeners) callListener(() => listener(message.content));
      return;
    }
    const pending = this.#pending.get(message.parent);
    if (isKernelOutput(message)) {
      if (pending?.take) return pending.take(message);
      // 'idle' follows the reply and is not awaited.
      if (message.type !== 'status') this.#giveOrphan(message);
      return;
    }
    if (message.type === 'execute_reply') this.#withdraw(message.parent);
    if (!pending) return;
    this.#pending.delete(message.parent);
    if (message.type === pending.reply) pending.resolve(message.content);
    else pending.reject(refusal(message));
  }

  #giveOrphan(output: KernelOutput): void {
    if (this.#orphans && this.#orphans.length < keptOrphans) this.#orphans.push(output);
    for (const listener of this.#orphanListeners) callListener(() => listener(output));
  }

  async #answer({ parent, content }: KernelInputRequest): Promise<void> {
    const { id, prompt, password } = content;
    const controller = new AbortController();
    this.#questions.set(parent, [...(this.#questions.get(parent) ?? []), controller]);
    // If there is no prompt or it fails, the value is null, because the cell must not wait forever.
    const value = (await this.#handlers.ask?.({ prompt, password }, controller.signal).catch(() => null)) ?? null;
    if (controller.signal.aborted) return;
    this.#pipe.write(encodeFrame({ type: 'input_reply', id, content: { value } }));
  }

  async #answerConnection({ content: { id, name } }: KernelConnectionRequest): Promise<void> {
    const none = { names: [], config: null };
    const content = await (this.#handlers.connection?.(name) ?? Promise.resolve({ ...none, problem: null })).catch(
      // The query must not wait forever.
      (error: unknown) => ({ ...none, problem: messageOf(error) }),
    );
    if (!this.#end) this.#pipe.write(encodeFrame({ type: 'connection_reply', id, content }));
  }

  async #answerView({ content: { id, ...view } }: KernelViewRequest): Promise<void> {
    const absent: ViewAnswer = { kind: 'absent' };
    const content = await (this.#handlers.view?.(view) ?? Promise.resolve(absent)).catch(
      // The cell must not wait forever.
      (error: unknown): ViewAnswer => ({ kind: 'refused', problem: messageOf(error) }),
    );
    if (!this.#end) this.#pipe.write(encodeFrame({ type: 'view_reply', id, content }));
  }

  /** Cancels the prompts of a cell, because the cell has ended. */
  #withdraw(parent: string): void {
    for (const controller of this.#questions.get(parent) ?? []) controller.abort();
    this.#questions.delete(parent);
  }
}

const refusal = (message: KernelReply): CatalogError =>
  new CatalogError(
    'Internal',
    message.type === 'error_reply'
      ? message.content.message
      : `The kernel sent an unexpected reply of type "${message.type}".`,
    'Restart the kernel.',
  );
