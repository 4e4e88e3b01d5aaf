import type { MimeBundle } from '#shared/protocol/kernelMessages.ts';

// What the main thread lends to the debugger. It is reached through the inspector, which also works while code is paused
// or busy; a message to the thread would wait until it is done.

/** The property of the global object that holds it. */
export const debugHookKey = 'lance-catalog.debugger';

export type DebugHook = {
  /** From here on scripts have their source maps with them: the debugger is told of them before they run. */
  attach(isDebugged: boolean): void;
  /** The source map of a script that was loaded before, as JSON. */
  mapOf(script: string): string | undefined;
  /** The lines of a cell, from 1, at which something may run; undefined while the compiler is in the middle of something. */
  linesOf(code: string): number[] | undefined;
  /** What a person typed at a pause, as JavaScript; undefined while the compiler is in the middle of something. */
  javascriptOf(code: string): { code: string } | { problem: string } | undefined;
  /**
   * Makes `scope` an object with the notebook's variables, to be read and assigned to in a `with`, less those of names that
   * a function's own hide.
   */
  look(hidden: readonly string[]): void;
  scope: object;
  /** The same for a condition that V8 itself looks at, thousands of times a second. */
  scopeOf(hidden: string): object;
  /** The variables that the cells made. */
  variables(): object;
  set(name: string, value: unknown): void;
  /** The forms of a value that need no waiting. */
  formsOf(value: unknown): { data: MimeBundle; metadata: Record<string, unknown> };
};

/** Why a request of the debugger can't be answered, as a sentence for the person. */
export class DebugProblem extends Error {
  override readonly name = 'DebugProblem';
}
