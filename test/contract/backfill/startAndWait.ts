import { countingEntry, countingRunners } from './countingJobs.ts';
import { openJobs } from '#jobs/service/openJobs.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';

// A process that starts a job, prints its id, and runs until it is killed: `node startAndWait.ts FOLDER REQUEST`.

const [folder = '', text = ''] = process.argv.slice(2);
const jobs = openJobs({ folder, entry: countingEntry, runners: countingRunners });
const { id } = await jobs.start(JSON.parse(text) as BackfillRequest, AbortSignal.timeout(60_000));
process.stdout.write(`${id}\n`);
setInterval(() => {}, 60_000);
