import { temporaryFolder } from '../../scripts/processes.ts';

/** A new empty folder with a short path (sockets below it have 107 bytes), removed when this process ends. */
export function tempFolder(prefix = 'lance-test-'): string {
  return temporaryFolder(prefix);
}
