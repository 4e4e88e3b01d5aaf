import { constants } from 'node:os';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** npm and a terminal both send what one key press means. */
const samePressMs = 1000;

export type Stopping = {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** What the process ends with then, as a shell says it: 130 for Ctrl-C. */
  readonly code: number | undefined;
  /** What a person who does not want to wait any more asks for, by another one. */
  onRepeat(action: () => void): void;
  dispose(): void;
};

/** Turns the signals that end a process into the end of what it does. */
export function stopBySignals(): Stopping {
  const stop = new AbortController();
  let code: number | undefined;
  let first = 0;
  let repeated: (() => void) | undefined;
  const onSignal = (name: NodeJS.Signals): void => {
    if (code === undefined) {
      code = 128 + constants.signals[name];
      first = performance.now();
      stop.abort();
    } else if (performance.now() - first > samePressMs) repeated?.();
  };
  for (const name of signals) process.on(name, onSignal);
  return {
    signal: stop.signal,
    get code() {
      return code;
    },
    onRepeat: (action) => {
      repeated = action;
    },
    dispose: () => {
      for (const name of signals) process.off(name, onSignal);
    },
  };
}
