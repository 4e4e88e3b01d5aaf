import { randomUUID } from 'node:crypto';
import { messageOf } from '#shared/errors.ts';
import type { Comm, CommEvent, CommMessage, CommOptions, CommPayload, Comms } from './commTypes.ts';

type CommDeps = {
  send: (message: CommMessage) => void;
  /** The id of the cell whose code is running. */
  cell: () => string | null;
  /** Shows the error of a handler in the cell that registered it. */
  failed: (cell: string | null, error: unknown) => void;
};

/** Calls a handler that a cell registered. Errors of the handler, thrown or rejected, are shown in that cell. */
function callHandler({ failed }: CommDeps, cell: string | null, body: () => unknown): void {
  try {
    const made = body();
    if (made instanceof Promise) made.catch((error: unknown) => failed(cell, error));
  } catch (error) {
    failed(cell, error);
  }
}

type Handler = { cell: string | null; handle: (event: CommEvent) => unknown };

/** One comm as cells see it; `receive` handles the client's messages. */
class OpenComm {
  readonly #around: CommDeps;
  readonly #forget: () => void;
  readonly #handlers = { message: new Set<Handler>(), close: new Set<Handler>() };
  #isOpen = true;
  readonly comm: Comm;

  constructor(id: string, target: string, around: CommDeps, forget: () => void) {
    this.#around = around;
    this.#forget = forget;
    const isOpen = () => this.#isOpen;
    this.comm = {
      id,
      target,
      get isOpen() {
        return isOpen();
      },
      send: (data, options) => {
        if (!this.#isOpen) throw new Error(`The comm to "${target}" is closed. Open a new one with comms.open.`);
        around.send({ kind: 'message', commId: id, ...payloadOf(data, options) });
      },
      close: (data, options) => {
        if (!this.#isOpen) return;
        around.send({ kind: 'close', commId: id, ...payloadOf(data, options) });
        this.#end();
      },
      on: (event, handle) => {
        const handler: Handler = { cell: around.cell(), handle };
        const handlers = this.#handlers[event];
        handlers.add(handler);
        return () => void handlers.delete(handler);
      },
    };
  }

  receive({ kind, data, metadata, buffers }: CommMessage): void {
    if (kind === 'open' || !this.#isOpen) return;
    // Handlers are called separately, so that a failing handler does not affect the others.
    for (const { cell, handle } of this.#handlers[kind])
      callHandler(this.#around, cell, () => handle({ data, metadata, buffers }));
    if (kind === 'close') this.#end();
  }

  #end(): void {
    this.#isOpen = false;
    this.#forget();
  }
}

/**
 * Converts the content of a message to JSON values.
 * @throws Error if JSON can't represent the content
 */
function payloadOf(data: unknown, options: CommOptions = {}): CommPayload {
  const { metadata = {}, buffers = [] } = options;
  try {
    // The data is serialized here and not later, so that the sending cell gets the error.
    const [plainData, plainMetadata] = JSON.parse(JSON.stringify([data ?? {}, metadata])) as [
      unknown,
      Record<string, unknown>,
    ];
    return { data: plainData, metadata: plainMetadata, buffers: buffers.map((each) => Uint8Array.from(each)) };
  } catch (cause) {
    throw new Error(
      `Can't send this over a comm: ${messageOf(cause).split('\n', 1)[0]}. Send plain values, and bytes as buffers.`,
      { cause },
    );
  }
}

type Target = { cell: string | null; handle: (comm: Comm, opened: CommEvent) => unknown };

/**
 * The comms of a notebook. They are on the main thread, because handlers are functions of cells. A comm stays open
 * after the cell that opened it has ended.
 */
export class NotebookComms {
  readonly #around: CommDeps;
  readonly #open = new Map<string, OpenComm>();
  readonly #targets = new Map<string, Target>();

  constructor(around: CommDeps) {
    this.#around = around;
  }

  /** Returns the preloaded `comms`. */
  functions(): Comms {
    return {
      open: (target, data, options) => {
        const commId = randomUUID();
        this.#around.send({ kind: 'open', commId, target, ...payloadOf(data, options) });
        return this.#add(commId, target).comm;
      },
      register: (target, handle) => {
        const entry: Target = { cell: this.#around.cell(), handle };
        this.#targets.set(target, entry);
        return () => {
          if (this.#targets.get(target) === entry) this.#targets.delete(target);
        };
      },
    };
  }

  /** Handles a message of the client. */
  receive(message: CommMessage): void {
    if (message.kind !== 'open') return this.#open.get(message.commId)?.receive(message);
    const { commId, target, data, metadata, buffers } = message;
    const entry = this.#targets.get(target);
    if (!entry) return this.#around.send({ kind: 'close', commId, data: {}, metadata: {}, buffers: [] });
    const { comm } = this.#add(commId, target);
    callHandler(this.#around, entry.cell, () => entry.handle(comm, { data, metadata, buffers }));
  }

  #add(commId: string, target: string): OpenComm {
    const made = new OpenComm(commId, target, this.#around, () => this.#open.delete(commId));
    this.#open.set(commId, made);
    return made;
  }
}
