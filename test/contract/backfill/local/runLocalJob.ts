import { readFileSync } from 'node:fs';
import { registerDir } from '#engine/register.ts';
import { localRunner } from '#jobs/runners/localRunner.ts';
import { contextOf, type LocalJob } from './localJobs.ts';

// A process that runs one job and that a test kills. Its only argument is a file with the job.

registerDir();
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the test wrote it
const job = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as LocalJob;
await localRunner.run(contextOf(job).context);
