/** Options that every call takes. */
export type CallOptions = {
  /** Cancels the call, down to the socket where there is one. */
  signal?: AbortSignal | undefined;
};
