import { onInterrupt, temporaryFolder } from '../../scripts/processes.ts';

// A run of mocha by hand that is told to end, when its time is over or by Ctrl-C, would leave its folders and servers. The
// runners see to that themselves.
if (process.argv[1]?.endsWith('/mocha.js')) onInterrupt(async () => {});

/** A new empty folder with a short path (sockets below it have 107 bytes), removed when this process ends. */
export function tempFolder(prefix = 'lance-test-'): string {
  return temporaryFolder(prefix);
}
