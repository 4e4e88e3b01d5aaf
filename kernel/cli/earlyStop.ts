import { constants } from 'node:os';

const signals = ['SIGINT', 'SIGTERM'] as const;

function stop(name: NodeJS.Signals): void {
  process.stderr.write('Stopped before anything was begun.\n');
  process.exit(128 + constants.signals[name]);
}

/**
 * What a signal does while a command is still being loaded, which takes a second on a busy machine: it ends, and says that there
 * is nothing to clean up. A command looks after signals itself from its first line on.
 * @returns what leaves signals to others
 */
export function stopWhileLoading(): () => void {
  for (const name of signals) process.on(name, stop);
  return () => {
    for (const name of signals) process.off(name, stop);
  };
}
