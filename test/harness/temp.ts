import { onInterrupt, temporaryFolder } from '../../scripts/processes.ts';

// If mocha is started by hand and is ended by its time limit or Ctrl-C, remove its folders and servers. The runners do
// this themselves.
if (process.argv[1]?.endsWith('/mocha.js')) onInterrupt(async () => {});

/**
 * Creates an empty folder with a short path (sockets below it allow 107 bytes). It is removed when this process ends.
 */
export function tempFolder(prefix = 'lance-test-'): string {
  return temporaryFolder(prefix);
}
