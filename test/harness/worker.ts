/**
 * One of the processes that run the files of a layer: asks its parent (mochaMain.ts) for a file, runs it, asks for the
 * next. Started by `fork` with the file of results, its own number and what the titles must hold.
 */
import { onInterrupt } from '../../scripts/processes.ts';
import { describe, fileEmitter, runFiles } from './reporter.ts';

const [results = '', worker = '0', grep] = process.argv.slice(2);
const emit = fileEmitter(results, Number(worker));
// Told to end, when the time of its layer is over, it takes the servers and windows of its tests with it.
onInterrupt(async () => {});
// Without its parent nobody waits for what it does.
process.once('disconnect', () => process.exit(1));

let failures = 0;
for (let file = await nextFile(0); file !== null;) {
  let failed = 1;
  try {
    failed = await runFiles({ files: [file], emit, grep });
  } catch (error) {
    emit({ event: 'error', error: `${file} could not be loaded: ${describe(error)}` });
  }
  failures += failed;
  file = await nextFile(failed);
}
// A test that leaves a server open must not keep the run alive; what it started ends with this process.
process.exit(failures > 0 ? 1 : 0);

/** Tells how many tests of the last file failed, and gives the next. */
function nextFile(failed: number): Promise<string | null> {
  return new Promise((resolve) => {
    process.once('message', (message) => resolve(typeof message === 'string' ? message : null));
    process.send?.(failed);
  });
}
