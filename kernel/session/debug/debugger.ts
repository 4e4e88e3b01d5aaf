import { messageOf } from '#shared/errors.ts';
import type { DebugEvent, DebugRequest, DebugResponse } from '#shared/protocol/debugMessages.ts';
import { answerDebug, type Debugging } from './debugRequests.ts';
import { DebugScripts, type RunCell } from './debugScripts.ts';
import { DebugSession } from './debugSession.ts';

/** The debugger of a notebook, for a front. It speaks the Debug Adapter Protocol. */
export type NotebookDebugger = {
  /** Whether this Node can debug: it has an inspector. */
  readonly isAvailable: boolean;
  /** Whether code stands still, so that the main thread answers nothing else. */
  readonly isPaused: boolean;
  /** Always gives a response, within ten seconds; requests may overlap. */
  request(message: DebugRequest): Promise<DebugResponse>;
  /** Sets who is told of events: in their order, and each after the response to what has caused it. */
  listen(listener: (event: DebugEvent) => void): void;
  /** Ends the code that stands still, and stops nowhere until the function that it gives is called. */
  stepAside(): Promise<() => void>;
  /** Ends debugging, for a front that has gone: what stands still goes on. */
  detach(): void;
};

type DebuggerParts = {
  isAvailable: boolean;
  /** The cell of a number, as it was run last. */
  cellOf: (executionCount: number) => RunCell | undefined;
  /** Ends the running cell. */
  interrupt: () => Promise<boolean>;
  /** Resolves when the main thread runs cells. */
  ready: Promise<void>;
};

/** Makes it. Nothing is connected before a front attaches, for that takes speed from every cell. */
export function createDebugger({ isAvailable, cellOf, interrupt, ready }: DebuggerParts): NotebookDebugger {
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
