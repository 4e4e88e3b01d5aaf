import { inspect } from 'node:util';
import { debugHookKey, type DebugHook } from './debugHookTypes.ts';
import { javascriptOf, linesOf } from './debugCode.ts';

export type DebugHookParts = {
  /** The notebook's variables by name. */
  locals: Record<string, unknown>;
  /** The names of those that cells made. */
  names: () => readonly string[];
  maps: { isDebugged: boolean; mapOf(script: string): string | undefined };
  show: (value: unknown) => unknown;
};

/** Puts what the debugger needs of the main thread where the inspector finds it. */
export function lendToDebugger({ locals, names, maps, show }: DebugHookParts): void {
  const scopes = new Map<string, object>();
  const hook: DebugHook = {
    attach(isDebugged) {
      scopes.clear();
      maps.isDebugged = isDebugged;
    },
    mapOf: (script) => maps.mapOf(script),
    linesOf: (code) => (isCompiling() ? undefined : linesOf(code)),
    javascriptOf: (code) => (isCompiling() ? undefined : javascriptOf(code)),
    look(hidden) {
      hook.scope = scopeOf(locals, new Set(hidden));
    },
    scope: {},
    scopeOf(hidden) {
      const known = scopes.get(hidden) ?? scopeOf(locals, new Set(hidden.split(' ')));
      scopes.set(hidden, known);
      return known;
    },
    variables: () => valuesOf(locals, names()),
    set(name, value) {
      locals[name] = value;
    },
    formsOf(value) {
      const shown = show(value);
      if (isForms(shown)) return shown;
      // What has to be read first, a query for instance, can't be while the thread stands still.
      if (shown instanceof Promise) shown.catch(() => {});
      return { data: { 'text/plain': inspect(value) }, metadata: {} };
    },
  };
  // By a plain property, for looking at a value must call nothing that might have an effect.
  Object.defineProperty(globalThis, debugHookKey, { value: hook });
}

const compilerScript = /[\\/](?:typescript-6[\\/]|kernelSnapshot\.cjs$)/;

/**
 * Whether the inspector has interrupted the compiler for us. TypeScript keeps the file that it reads in variables of its
 * own, so that a second use in the middle of the first breaks that one.
 */
function isCompiling(): boolean {
  const { stackTraceLimit } = Error;
  const prepareStackTrace: unknown = Reflect.get(Error, 'prepareStackTrace');
  try {
    Error.stackTraceLimit = Infinity;
    Error.prepareStackTrace = (_, sites) => sites.map((site) => site.getFileName() ?? '');
    const files: unknown = new Error('Where are we?').stack;
    return !Array.isArray(files) || files.some((file) => compilerScript.test(String(file)));
  } finally {
    Object.assign(Error, { prepareStackTrace, stackTraceLimit });
  }
}

/** For `with`: a function's own names come before the notebook's, so they must not be found here. */
function scopeOf(locals: Record<string, unknown>, hidden: ReadonlySet<string>): object {
  const scope: object = Object.create(null);
  for (const name of Object.keys(locals))
    if (!hidden.has(name))
      Object.defineProperty(scope, name, {
        get: () => locals[name],
        set: (value: unknown) => {
          locals[name] = value;
        },
      });
  return scope;
}

function valuesOf(locals: Record<string, unknown>, names: readonly string[]): object {
  const values: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const name of names) {
    try {
      values[name] = locals[name];
    } catch (error) {
      // The binding of an import whose module no longer has the name.
      values[name] = error;
    }
  }
  return values;
}

const isForms = (shown: unknown): shown is ReturnType<DebugHook['formsOf']> =>
  typeof shown === 'object' && shown !== null && 'data' in shown && 'metadata' in shown;
