import promisedTimers from 'node:timers/promises';
import timers from 'node:timers';
import { promisify } from 'node:util';
import type { CellWork } from '#session/core/cellWork.ts';

/** The run of a cell that the code which asks is part of; undefined outside of cells. */
type FindWork = () => CellWork | undefined;

// What cells have in place of the globals of these names, and of Node's modules of timers: the same, but what an
// interrupted cell has started with it ends. The globals themselves stay as they are, since libraries share a timer, or the
// answer to a request, among all cells that use them.

/** Names of globals that cells have their own of, in the order of `cellGlobals().values`. */
export const cellGlobalNames = ['setTimeout', 'setInterval', 'setImmediate', 'fetch'] as const;

export type CellGlobals = {
  values: readonly unknown[];
  /** Node's own module of this name as cells import it; undefined for any other. */
  module: (specifier: string) => object | undefined;
};

type Callback = (...args: unknown[]) => unknown;
type Start = (callback: Callback, ...rest: unknown[]) => unknown;
type Options = { signal?: AbortSignal | undefined };
type Wait = (...args: never[]) => unknown;

/** Makes them. Each asks for `work` when it is called: a function of one cell may be called by another. */
export function cellGlobals(work: FindWork): CellGlobals {
  // What is global when it is called counts: tests put clocks of their own there.
  const timer = (start: () => Start, isRepeated = false): Start =>
    function (callback, ...rest) {
      const cell = work();
      if (!cell || typeof callback !== 'function') return start()(callback, ...rest);
      const { signal } = cell;
      // What was on its way may be what the cell needs to tidy up; what is set after the interrupt is the next round.
      const mayEnd = !isRepeated && !signal.aborted;
      const unlessOver = function (this: unknown, ...args: unknown[]): unknown {
        if (!signal.aborted || (mayEnd && cell.isEnding)) return callback.apply(this, args);
        clearInterval(this as NodeJS.Timeout);
        return undefined;
      };
      return start()(unlessOver, ...rest);
    };

  /** @param at which argument has the options */
  const promised = <F extends Wait>(wait: F, at: number, never: () => unknown = nothing): F =>
    ((...args: unknown[]) => {
      const cell = work()?.signal;
      if (!cell) return Reflect.apply(wait, promisedTimers, args);
      // As with calls of a catalog: a loop that tries again must not spin.
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

/** What never comes. */
const nothing = (): Promise<never> => new Promise(() => {});

const joined = (own: AbortSignal | null | undefined, cell: AbortSignal): AbortSignal =>
  own ? AbortSignal.any([own, cell]) : cell;

/** For `promisify(setTimeout)`. */
const withPromise = (start: Start, wait: Wait): Start =>
  Object.defineProperty(start, promisify.custom, { value: wait, enumerable: true });
