import type { MimeBundle } from '#shared/protocol/kernelMessages.ts';

// What the main thread exposes to the debugger. The inspector can call these functions even while code runs or is
// paused. A message to the thread would wait until the code has finished.

/** The property of the global object that holds the hook. */
export const debugHookKey = 'lance-catalog.debugger';

export type DebugHook = {
  /**
   * Starts or ends debugging. While `isDebugged`, scripts include their source maps, and the debugger is notified
   * before a script runs.
   */
  attach(isDebugged: boolean): void;
  /** Returns the source map, as JSON, of a script that was loaded before. */
  mapOf(script: string): string | undefined;
  /** Returns the lines of a cell, from 1, where code may run; undefined while the compiler is busy. */
  linesOf(code: string): number[] | undefined;
  /** Converts code typed at a pause to JavaScript; undefined while the compiler is busy. */
  javascriptOf(code: string): { code: string } | { problem: string } | undefined;
  /**
   * Sets `scope` to an object through which code in a `with` reads and assigns the notebook's variables. The object
   * omits the hidden names, because the paused function itself declares them.
   */
  look(hidden: readonly string[]): void;
  scope: object;
  /**
   * Like `look`, but returns the object. Used in a condition that V8 evaluates itself, thousands of times a second.
   * `hidden` has names separated by spaces.
   */
  scopeOf(hidden: string): object;
  /** Returns the variables that cells created. */
  variables(): object;
  set(name: string, value: unknown): void;
  /** Returns the forms of a value that are available without waiting. */
  formsOf(value: unknown): { data: MimeBundle; metadata: Record<string, unknown> };
};

/** Why a request of the debugger can't be answered, as a message for the user. */
export class DebugProblem extends Error {
  override readonly name = 'DebugProblem';
}
