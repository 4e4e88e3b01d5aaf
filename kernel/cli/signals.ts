import { constants } from 'node:os';

const signals = ['SIGINT', 'SIGTERM'] as const;

function exitBySignal(name: NodeJS.Signals): void {
  process.stderr.write('Stopped before the command started.\n');
  process.exit(128 + constants.signals[name]);
}

/**
 * Ends the process on a signal while a command is loading, because there is nothing to clean up yet. Loading takes a
 * second on a busy machine. Once the command runs, it handles signals itself.
 * @returns a function that removes the handlers
 */
export function handleEarlySignals(): () => void {
  for (const name of signals) process.on(name, exitBySignal);
  return () => {
    for (const name of signals) process.off(name, exitBySignal);
  };
}

const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Signals within this time count as one, because for one key press npm and the terminal each send a signal. */
const samePressMs = 1000;

type Stopping = {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** The exit code after a signal, by the convention of shells: 130 for Ctrl-C. */
  readonly code: number | undefined;
  /** Sets the action for a further signal, from a user who does not want to wait. */
  onRepeat(action: () => void): void;
  dispose(): void;
};

/** Converts the signals that end a process into an abort signal. */
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
