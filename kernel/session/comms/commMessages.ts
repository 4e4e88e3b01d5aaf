/** What passes over a comm besides its id; `data` and `metadata` are JSON. */
export type CommPayload = { data: unknown; metadata: Record<string, unknown>; buffers: Uint8Array[] };

/** A message of a comm, in either direction. */
export type CommMessage = { commId: string } & CommPayload &
  ({ kind: 'open'; target: string } | { kind: 'message' } | { kind: 'close' });
