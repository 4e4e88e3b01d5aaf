import type { CheckReport } from '#cluster/check.ts';
import { isUnknown } from './summary.ts';

/** What a run of the command line ends with. An interface of CI: none is ever given another meaning. */
export const exitCodes = { passed: 0, failed: 1, notRun: 2, warnings: 3 } as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/**
 * 0 when nothing failed, 1 when something did, 2 when the run was stopped or asked nothing, and with `strict` 3 when nothing
 * failed and something warned, or could not be found out.
 */
export function exitCodeOf({ counts, stopped, results }: CheckReport, options: { strict?: boolean } = {}): ExitCode {
  // What was not asked may be what fails: half a run says nothing of a cluster.
  if (stopped || results.length === 0) return exitCodes.notRun;
  if (counts.fail > 0) return exitCodes.failed;
  const isInDoubt = counts.warn > 0 || results.some(isUnknown);
  return options.strict === true && isInDoubt ? exitCodes.warnings : exitCodes.passed;
}
