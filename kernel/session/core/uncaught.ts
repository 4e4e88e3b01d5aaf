import type { EventEmitter } from 'node:events';
import { takeRejection } from '#session/run/runUncaught.ts';

type Listener = (value: unknown, promise?: unknown) => void;
type Event = 'uncaughtException' | 'unhandledRejection' | 'SIGINT';

/**
 * Listens to an event of the process, even after `removeAllListeners()`. A cell that calls `removeAllListeners()` wants
 * to remove its own listeners only. Without the kernel's listener, Node.js would end the kernel at the next such event.
 */
export function listenPermanently(event: Event, listener: Listener): void {
  const emitter: EventEmitter = process;
  const nextTick = process.nextTick.bind(process);
  const listen = (): void => {
    if (!emitter.listeners(event).includes(listener)) emitter.on(event, listener);
    if (!emitter.listeners('removeListener').includes(onRemoved)) emitter.on('removeListener', onRemoved);
  };
  const onRemoved = (removed: string | symbol): void => {
    if (removed === event || removed === 'removeListener') nextTick(listen);
  };
  listen();
}

/**
 * Reports errors that nothing else catches. Node.js ends the process if a listener throws, and `report` may throw once
 * a cell has replaced a builtin, `JSON.stringify` for instance. If `report` throws, `lastResort` is called.
 */
export function catchUncaught(report: Listener, lastResort: Listener): void {
  const listener: Listener = (error, promise) => {
    try {
      if (takeRejection(promise, error)) return;
      report(error);
    } catch (failed) {
      attempt(() => lastResort(failed));
    }
  };
  listenPermanently('uncaughtException', listener);
  listenPermanently('unhandledRejection', listener);
}

function attempt(body: () => void): void {
  try {
    body();
  } catch {
    // If `lastResort` throws too, the error is dropped, because there is no other way to report it. The kernel keeps
    // running, because its end would lose the user's data.
  }
}
