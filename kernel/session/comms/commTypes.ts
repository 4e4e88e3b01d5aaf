/** What passes over a comm besides its id; `data` and `metadata` are JSON. */
export type CommPayload = { data: unknown; metadata: Record<string, unknown>; buffers: Uint8Array[] };

/** A message of a comm, in either direction. */
export type CommMessage = { commId: string } & CommPayload &
  ({ kind: 'open'; target: string } | { kind: 'message' } | { kind: 'close' });

/** What came over a comm. `data` is JSON of the other side's making; `buffers` are its binary parts. */
export type CommEvent = { data: unknown; metadata: Record<string, unknown>; buffers: Uint8Array[] };

export type CommOptions = {
  metadata?: Record<string, unknown> | undefined;
  /** Binary parts, which go as they are. */
  buffers?: readonly Uint8Array[] | undefined;
};

/** An open line between the notebook and its front, for widgets for instance. It stays open when its cell is done. */
export type Comm = {
  readonly id: string;
  /** The name by which the other side knows what the comm is for. */
  readonly target: string;
  /** False once either side has closed it. */
  readonly isOpen: boolean;
  /**
   * Sends a message; `data` is anything that JSON can hold.
   * @throws Error when the comm is closed, or JSON can't hold the data
   */
  send(data: unknown, options?: CommOptions): void;
  /** Closes the comm. Nothing happens when it is closed already. */
  close(data?: unknown, options?: CommOptions): void;
  /**
   * Calls `handler` for each message of the other side, or when that closes the comm. What it throws is shown in the cell
   * that called `on`.
   * @returns a function that ends this
   */
  on(event: 'message' | 'close', handler: (event: CommEvent) => unknown): () => void;
};

export type Comms = {
  /**
   * Opens a comm to what the front knows as `target`; a front that does not know it closes the comm.
   * @throws Error when JSON can't hold the data
   */
  open(target: string, data?: unknown, options?: CommOptions): Comm;
  /**
   * Calls `handler` for each comm that the front opens to `target`, in place of an earlier handler. Comms to a target
   * without a handler are closed.
   * @returns a function that ends this
   */
  register(target: string, handler: (comm: Comm, opened: CommEvent) => unknown): () => void;
};
