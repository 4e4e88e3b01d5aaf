import type { Handlers, Methods } from './rpc.ts';

/**
 * Handlers, each behind what is checked of its request.
 * @param checks whether the parameters of a method are what its handler takes
 * @param taker who takes them, for the message: "the jobs process"
 */
export function checkedHandlers<M extends Methods>(
  handlers: Handlers<M>,
  checks: Readonly<Record<keyof M, (params: unknown) => boolean>>,
  taker: string,
): Handlers<M> {
  const entries = Object.entries(handlers).map(([method, handler]) => [
    method,
    (params: never, signal: AbortSignal) => {
      if (checks[method]?.(params) !== true)
        throw new TypeError(`The request "${method}" has not the shape that ${taker} takes.`);
      return handler(params, signal);
    },
  ]);
  return Object.fromEntries(entries) as Handlers<M>;
}
