import { isRecord } from '#shared/records.ts';

// The envelopes of the Debug Adapter Protocol, between a client and a kernel. Commands, events and their contents are
// the protocol's, plus those that Jupyter adds for notebooks: `debugInfo`, `dumpCell`, `inspectVariables`,
// `richInspectVariables` and `modules`.

export type DebugRequest = {
  seq: number;
  type: 'request';
  command: string;
  arguments?: Record<string, unknown>;
};

export type DebugResponse = {
  seq: number;
  type: 'response';
  request_seq: number;
  command: string;
  success: boolean;
  /** The reason of a failure, as a sentence for the user. */
  message?: string;
  body?: unknown;
};

export type DebugEvent = {
  seq: number;
  type: 'event';
  event: string;
  body?: unknown;
};

/** Whether a value from a wire is a request. The handler checks its arguments. */
export const isDebugRequest = (value: unknown): value is DebugRequest =>
  isRecord(value) &&
  Number.isSafeInteger(value['seq']) &&
  value['type'] === 'request' &&
  typeof value['command'] === 'string' &&
  (value['arguments'] === undefined || isRecord(value['arguments']));

export const isDebugEvent = (value: unknown): value is DebugEvent =>
  isRecord(value) && value['type'] === 'event' && typeof value['event'] === 'string';
