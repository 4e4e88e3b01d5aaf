/**
 * One of the processes that run the files of a layer. It requests a file from its parent (mochaMain.ts), runs the file,
 * and requests the next file. It is started with `fork`. Its arguments are the results file, its own number and the
 * filter for titles.
 */
import { onInterrupt } from '../../scripts/processes.ts';
import { describe, fileEmitter, runFiles } from './reporter.ts';

const [results = '', worker = '0', grep] = process.argv.slice(2);
const emit = fileEmitter(results, Number(worker));
// At the time limit of its layer, the worker gets a signal. Then it also ends the servers and windows of its tests.
onInterrupt(async () => {});
// Without the parent no process uses the results.
process.once('disconnect', () => process.exit(1));

let failures = 0;
for (let file = await nextFile(0); file !== null;) {
  let failed = 1;
  emit({ event: 'file', file });
  try {
    failed = await runFiles({ files: [file], emit, grep });
  } catch (error) {
    emit({ event: 'error', error: `${file} could not be loaded: ${describe(error)}` });
  }
  failures += failed;
  file = await nextFile(failed);
}
// A test that leaves a server open must not keep the run alive. Child processes end with this process.
process.exit(failures > 0 ? 1 : 0);

/** Reports how many tests of the last file failed, and requests the next file. */
function nextFile(failed: number): Promise<string | null> {
  return new Promise((resolve) => {
    process.once('message', (message) => resolve(typeof message === 'string' ? message : null));
    process.send?.(failed);
  });
}
