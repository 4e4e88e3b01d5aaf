import { constants } from 'node:os';

const signals = ['SIGINT', 'SIGTERM'] as const;

function exitBySignal(name: NodeJS.Signals): void {
  process.stderr.write('Stopped before anything was begun.\n');
  process.exit(128 + constants.signals[name]);
}

/**
 * What a signal does while a command is still being loaded, which takes a second on a busy machine: it ends, and says that there
 * is nothing to clean up. A command looks after signals itself from its first line on.
 * @returns what leaves signals to others
 */
export function stopWhileLoading(): () => void {
  for (const name of signals) process.on(name, exitBySignal);
  return () => {
    for (const name of signals) process.off(name, exitBySignal);
  };
}

const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** npm and a terminal both send what one key press means. */
const samePressMs = 1000;

type Stopping = {
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
  for (const name of endingSignals) process.on(name, onSignal);
  return {
    signal: stop.signal,
    get code() {
      return code;
    },
    onRepeat: (action) => {
      repeated = action;
    },
    dispose: () => {
      for (const name of endingSignals) process.off(name, onSignal);
    },
  };
}
