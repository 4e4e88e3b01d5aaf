import type { DebugProtocol } from '@vscode/debugprotocol';
import { isRecord } from '#shared/records.ts';

// The envelopes of the Debug Adapter Protocol, between a client and a kernel. Commands, events and their contents are
// the protocol's, plus those that Jupyter adds for notebooks: `debugInfo`, `dumpCell`, `inspectVariables`,
// `richInspectVariables` and `modules`. The contents are `unknown` here and `any` in the package, which would switch off
// the checks of everything that is read from them.

export type DebugRequest = Omit<DebugProtocol.Request, 'type' | 'arguments'> & {
  type: 'request';
  arguments?: Record<string, unknown>;
};

/** The `message` of a failure is a sentence for the user. */
export type DebugResponse = Omit<DebugProtocol.Response, 'type' | 'body'> & { type: 'response'; body?: unknown };

export type DebugEvent = Omit<DebugProtocol.Event, 'type' | 'body'> & { type: 'event'; body?: unknown };

/** Whether a value from a wire is a request. The handler checks its arguments. */
export const isDebugRequest = (value: unknown): value is DebugRequest =>
  isRecord(value) &&
  Number.isSafeInteger(value['seq']) &&
  value['type'] === 'request' &&
  typeof value['command'] === 'string' &&
  (value['arguments'] === undefined || isRecord(value['arguments']));

export const isDebugEvent = (value: unknown): value is DebugEvent =>
  isRecord(value) && value['type'] === 'event' && typeof value['event'] === 'string';
