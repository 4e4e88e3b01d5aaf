import { isRecord } from '#shared/records.ts';

// The envelopes of the Debug Adapter Protocol, as they pass between a front and a kernel. Commands, events and what is in
// them are the protocol's own, and besides those what Jupyter adds for notebooks: `debugInfo`, `dumpCell`,
// `inspectVariables`, `richInspectVariables` and `modules`.

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
  /** Why it failed, a sentence for the person. */
  message?: string;
  body?: unknown;
};

export type DebugEvent = {
  seq: number;
  type: 'event';
  event: string;
  body?: unknown;
};

/** Whether something from a wire is a request. Its arguments are looked into by who answers it. */
export const isDebugRequest = (value: unknown): value is DebugRequest =>
  isRecord(value) &&
  Number.isSafeInteger(value['seq']) &&
  value['type'] === 'request' &&
  typeof value['command'] === 'string' &&
  (value['arguments'] === undefined || isRecord(value['arguments']));

/** Whether something from a wire is an event. */
export const isDebugEvent = (value: unknown): value is DebugEvent =>
  isRecord(value) && value['type'] === 'event' && typeof value['event'] === 'string';
