import promisedTimers from 'node:timers/promises';
import timers from 'node:timers';
import { promisify } from 'node:util';
import type { CellWork } from '#session/core/cellWork.ts';

/** Returns the cell run that the calling code belongs to; undefined outside of cells. */
type FindWork = () => CellWork | undefined;

// Cells get replacements of these globals and of Node's timer modules. The replacements also stop the timers and
// requests that an interrupted cell has started. The globals themselves stay unchanged, because libraries may share a
// timer or a response among cells.

/** Names of the replaced globals, in the order of `cellGlobals().values`. */
export const cellGlobalNames = ['setTimeout', 'setInterval', 'setImmediate', 'fetch'] as const;

export type CellGlobals = {
  values: readonly unknown[];
  /** Returns the replacement of a Node module; undefined if the module has no replacement. */
  module: (specifier: string) => object | undefined;
};

type Callback = (...args: unknown[]) => unknown;
type Start = (callback: Callback, ...rest: unknown[]) => unknown;
type Options = { signal?: AbortSignal | undefined };
type Wait = (...args: never[]) => unknown;

/**
 * Creates the replacements of the globals and of Node's timer modules. Each replacement calls `work` at every use,
 * because one cell may call a function of another cell.
 */
export function cellGlobals(work: FindWork): CellGlobals {
  // Reads the global at each call, because tests replace it with a fake clock.
  const timer = (start: () => Start, isRepeated = false): Start =>
    function (callback, ...rest) {
      const cell = work();
      if (!cell || typeof callback !== 'function') return start()(callback, ...rest);
      const { signal } = cell;
      // A pending timer that runs once may still fire after an interrupt, because it may be part of the cell's cleanup.
      // A timer that is set after the interrupt does not fire.
      const mayEnd = !isRepeated && !signal.aborted;
      const unlessOver = function (this: unknown, ...args: unknown[]): unknown {
        if (!signal.aborted || (mayEnd && cell.isEnding)) return callback.apply(this, args);
        clearInterval(this as NodeJS.Timeout);
        return undefined;
      };
      return start()(unlessOver, ...rest);
    };

  /** @param at index of the argument that holds the options */
  const promised = <F extends Wait>(wait: F, at: number, never: () => unknown = nothing): F =>
    ((...args: unknown[]) => {
      const cell = work()?.signal;
      if (!cell) return Reflect.apply(wait, promisedTimers, args);
      // After an interrupt the promise never settles, as with catalog calls. If it rejected, a retry loop of the cell
      // would repeat the call endlessly.
      if (cell.aborted) return never();
      const options = args[at] as Options | undefined;
      args[at] = { ...options, signal: joined(options?.signal, cell) };
      return Reflect.apply(wait, promisedTimers, args);
    }) as unknown as F;

  const waits = {
    ...promisedTimers,
    setTimeout: promised(promisedTimers.setTimeout, 2),
    setImmediate: promised(promisedTimers.setImmediate, 1),
    setInterval: promised(promisedTimers.setInterval, 2, () => ({ [Symbol.asyncIterator]: () => ({ next: nothing }) })),
    scheduler: {
      wait: promised(promisedTimers.scheduler.wait.bind(promisedTimers.scheduler), 1),
      yield: () => promisedTimers.scheduler.yield(),
    },
  };
  const starts = {
    setTimeout: withPromise(
      timer(() => globalThis.setTimeout as Start),
      waits.setTimeout,
    ),
    setInterval: timer(() => globalThis.setInterval as Start, true),
    setImmediate: withPromise(
      timer(() => globalThis.setImmediate),
      waits.setImmediate,
    ),
  };
  const fetchOfCell = (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const cell = work()?.signal;
    if (!cell) return globalThis.fetch(input, init);
    if (cell.aborted) return nothing();
    const own = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    return globalThis.fetch(input, { ...init, signal: joined(own, cell) });
  };
  const modules: Record<string, object> = {
    timers: { ...timers, ...starts, promises: waits },
    'timers/promises': waits,
  };
  return {
    values: [starts.setTimeout, starts.setInterval, starts.setImmediate, fetchOfCell],
    module: (specifier) => {
      const name = specifier.replace(/^node:/, '');
      return Object.hasOwn(modules, name) ? modules[name] : undefined;
    },
  };
}

/** Returns a promise that never settles. */
const nothing = (): Promise<never> => new Promise(() => {});

const joined = (own: AbortSignal | null | undefined, cell: AbortSignal): AbortSignal =>
  own ? AbortSignal.any([own, cell]) : cell;

/** Supports `promisify(setTimeout)`. */
const withPromise = (start: Start, wait: Wait): Start =>
  Object.defineProperty(start, promisify.custom, { value: wait, enumerable: true });
