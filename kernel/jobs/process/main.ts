import { resolve } from 'node:path';
import { loadRunner } from '#jobs/runners/all.ts';
import { isJobId } from '#shared/jobs/jobId.ts';
import { runJob } from './jobProcess.ts';

// The process of one job: `job.cjs JOBS-FOLDER ID`. It outlives the window, notebook or terminal that started it.

const [root, id] = process.argv.slice(2);
if (root === undefined || id === undefined || !isJobId(id)) {
  process.stderr.write('This is started by what runs backfills: job.cjs JOBS-FOLDER ID.\n');
  process.exit(2);
}
// Files of a job are of the person alone.
process.umask(0o077);
runJob({ root: resolve(root), id, loadRunner }).then(
  // What the engine or a runner leaves open does not keep a job alive that has ended.
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
