import type { DebugProtocol } from '@vscode/debugprotocol';
import { isRecord } from '#shared/records.ts';
import { type Check, isInteger, isString, oneOf, optional, shape, shapeFor } from '#shared/shape.ts';

// The envelopes of the Debug Adapter Protocol, between a client and a kernel. The protocol defines commands, events and
// their contents. Jupyter adds more commands for notebooks: `debugInfo`, `dumpCell`, `inspectVariables`,
// `richInspectVariables` and `modules`. The contents are `unknown` here. In the package they are `any`, and that would
// switch off the type checks for everything that is read from them.

export type DebugRequest = Omit<DebugProtocol.Request, 'type' | 'arguments'> & {
  type: 'request';
  arguments?: Record<string, unknown>;
};

/** The `message` of a failure is a sentence for the user. */
export type DebugResponse = Omit<DebugProtocol.Response, 'type' | 'body'> & { type: 'response'; body?: unknown };

export type DebugEvent = Omit<DebugProtocol.Event, 'type' | 'body'> & { type: 'event'; body?: unknown };

/** Whether a value from a wire is a request. The handler checks its arguments. */
export const isDebugRequest: Check<DebugRequest> = shapeFor<DebugRequest>({
  seq: isInteger,
  type: oneOf('request'),
  command: isString,
  arguments: optional(isRecord),
});

export const isDebugEvent: Check<DebugEvent> = shape({ seq: isInteger, type: oneOf('event'), event: isString });
