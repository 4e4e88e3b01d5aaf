import { resolve } from 'node:path';
import { loadRunner } from '#jobs/runners/all.ts';
import { isJobId } from '#shared/jobs/jobId.ts';
import { runJob } from './jobProcess.ts';

// The process of one job: `job.cjs JOBS-FOLDER ID`. It ends with the job and outlives the window, notebook or
// terminal that started it.

const [root, id] = process.argv.slice(2);
if (root === undefined || id === undefined || !isJobId(id)) {
  process.stderr.write('Lance Catalog starts this program: job.cjs JOBS-FOLDER ID.\n');
  process.exit(2);
}
// Job files are private to the user.
process.umask(0o077);
runJob({ root: resolve(root), id, loadRunner }).then(
  // The process exits explicitly, because handles that the engine or a runner left open must not keep it alive.
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
