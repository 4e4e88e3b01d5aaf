import { messageOf } from '#shared/errors.ts';
import type { DebugEvent, DebugRequest, DebugResponse } from '#shared/protocol/debugMessages.ts';
import { answerDebug, type Debugging } from './debugRequests.ts';
import { DebugScripts, type RunCell } from './debugScripts.ts';
import { DebugSession } from './debugSession.ts';

/** The debugger of a notebook, which speaks the Debug Adapter Protocol. */
export type NotebookDebugger = {
  /** Whether this Node.js has an inspector. */
  readonly isAvailable: boolean;
  /** Whether code is paused. Then the main thread can't handle other requests. */
  readonly isPaused: boolean;
  /** Always resolves to a response, even if the request fails; requests may overlap. */
  request(message: DebugRequest): Promise<DebugResponse>;
  /**
   * Sets the listener for events. Events arrive in order, each after the response to the request that caused the event.
   */
  listen(listener: (event: DebugEvent) => void): void;
  /** Terminates paused code, and disables pauses until the returned function is called. */
  stepAside(): Promise<() => void>;
  /** Ends debugging after the client has disconnected. Paused code continues. */
  detach(): void;
};

type DebuggerDeps = {
  isAvailable: boolean;
  /** Returns the latest cell with an execution count. */
  cellOf: (executionCount: number) => RunCell | undefined;
  /** Interrupts the running cell. */
  interrupt: () => Promise<boolean>;
  /** Resolves when the main thread can run cells. */
  ready: Promise<void>;
};

/** Creates a debugger. It connects when a client attaches, because a connection slows down every cell. */
export function createDebugger({ isAvailable, cellOf, interrupt, ready }: DebuggerDeps): NotebookDebugger {
  let listener: ((event: DebugEvent) => void) | undefined;
  let seq = 1;
  const emit = (event: string, body?: object) => {
    const message: DebugEvent = { seq: seq++, type: 'event', event, ...(body && { body }) };
    setImmediate(() => listener?.(message));
  };
  const scripts = new DebugScripts(cellOf);
  const state: Debugging = {
    scripts,
    emit,
    interrupt,
    session: undefined,
    client: undefined,
    bases: { lineBase: 1, columnBase: 1 },
    async attach() {
      await ready;
      state.session ??= await DebugSession.open(scripts, emit);
      return state.session;
    },
    detach() {
      state.session?.close();
      state.session = undefined;
    },
  };
  return {
    isAvailable,
    get isPaused() {
      return state.session?.pausedAt !== undefined;
    },
    async request(message) {
      const { command, seq: asked } = message;
      const head = { type: 'response', request_seq: asked, command } as const;
      try {
        const body = await answerDebug(message, state);
        return { seq: seq++, ...head, success: true, ...(body && { body }) };
      } catch (error) {
        return { seq: seq++, ...head, success: false, message: messageOf(error) };
      }
    },
    listen(to) {
      listener = to;
    },
    async stepAside() {
      const { session } = state;
      if (!session) return () => {};
      await session.terminate().catch(() => {});
      return () => void session.allowPauses().catch(() => {});
    },
    detach: () => state.detach(),
  };
}
