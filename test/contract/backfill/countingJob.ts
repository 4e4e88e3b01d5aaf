import { runJob } from '#jobs/process/jobProcess.ts';
import { countingRunnerStandIn } from './countingRunner.ts';

// The process of a job whose runner is the stand-in. Tests start it as the product starts `dist/job.cjs`.

const [root = '', id = ''] = process.argv.slice(2);
process.umask(0o077);
runJob({ root, id, loadRunner: () => Promise.resolve(countingRunnerStandIn) }).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  },
);
