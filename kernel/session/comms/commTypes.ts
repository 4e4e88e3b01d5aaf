/** Content of a comm message; `data` and `metadata` are JSON. */
export type CommPayload = { data: unknown; metadata: Record<string, unknown>; buffers: Uint8Array[] };

/** A message of a comm, in either direction. */
export type CommMessage = { commId: string } & CommPayload &
  ({ kind: 'open'; target: string } | { kind: 'message' } | { kind: 'close' });

/** A received message. `data` is JSON that the other side created; `buffers` are the binary parts of the message. */
export type CommEvent = { data: unknown; metadata: Record<string, unknown>; buffers: Uint8Array[] };

export type CommOptions = {
  metadata?: Record<string, unknown> | undefined;
  /** Binary parts, sent unchanged. */
  buffers?: readonly Uint8Array[] | undefined;
};

/** A connection between the notebook and its client, such as for widgets. It stays open after its cell has finished. */
export type Comm = {
  readonly id: string;
  /** The name by which the other side knows the purpose of the comm. */
  readonly target: string;
  /** False once either side has closed the comm. */
  readonly isOpen: boolean;
  /**
   * Sends a message; `data` is any JSON value.
   * @throws Error if the comm is closed, or JSON can't represent the data
   */
  send(data: unknown, options?: CommOptions): void;
  /** Closes the comm. Does nothing if it is already closed. */
  close(data?: unknown, options?: CommOptions): void;
  /**
   * Calls `handler` for each message of the other side, or when that side closes the comm. Errors of `handler` are
   * shown in the cell that called `on`.
   * @returns a function that removes the handler
   */
  on(event: 'message' | 'close', handler: (event: CommEvent) => unknown): () => void;
};

export type Comms = {
  /**
   * Opens a comm to the client's `target`; a client without that target closes the comm.
   * @throws Error if JSON can't represent the data
   */
  open(target: string, data?: unknown, options?: CommOptions): Comm;
  /**
   * Calls `handler` for each comm that the client opens to `target`, and replaces an earlier handler. Comms to a target
   * without a handler are closed.
   * @returns a function that removes the handler
   */
  register(target: string, handler: (comm: Comm, opened: CommEvent) => unknown): () => void;
};
