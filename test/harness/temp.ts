import { onInterrupt, temporaryFolder } from '../../scripts/processes.ts';

// A run of mocha by hand that is told to end, when its time is over or by Ctrl-C, would leave its folders and servers.
if (process.listenerCount('SIGTERM') === 0) onInterrupt(async () => {});

/** A new empty folder with a short path (sockets below it have 107 bytes), removed when this process ends. */
export function tempFolder(prefix = 'lance-test-'): string {
  return temporaryFolder(prefix);
}
