import assert from 'node:assert/strict';
import type { KernelProcess } from '../../kernel/client/kernelProcess.ts';
import { errorOf, printed, resultOf, run } from './support.ts';

/** A cell and what is to come of it. What is left out of value, out and err must not come at all. */
export type Step = {
  cell: string;
  /** Text of the last expression. */
  value?: string | RegExp;
  /** What it prints. */
  out?: string | RegExp;
  /** What stands beside its output on stderr. */
  err?: RegExp;
  /** Name and message of the error that it ends with, as `Name: message`. */
  error?: RegExp;
  /** Lines of that error's traceback. */
  trace?: RegExp;
};

/** Declares a test that runs cells one after the other in a kernel that others have used before. */
export function cells(name: string, kernel: () => KernelProcess, ...steps: Step[]): void {
  test(name, async () => {
    for (const step of steps) await runStep(kernel(), step);
  });
}

/** Runs one cell and checks all that came of it. */
export async function runStep(kernel: KernelProcess, step: Step): Promise<void> {
  const { outputs } = await run(kernel, step.cell);
  const error = errorOf(outputs);
  const said = `of the cell:\n${step.cell}\n`;
  if (step.error) match(error && `${error.ename}: ${error.evalue}`, step.error, `The error ${said}`);
  else assert.equal(error?.traceback.join('\n'), undefined, `An error ${said}`);
  if (step.trace) match(error?.traceback.join('\n'), step.trace, `The traceback ${said}`);
  match(resultOf(outputs)?.['text/plain'], step.value, `The value ${said}`);
  match(printed(outputs) || undefined, step.out, `The output ${said}`);
  match(printed(outputs, 'stderr') || undefined, step.err, `The stderr ${said}`);
}

function match(found: unknown, expected: string | RegExp | undefined, what: string): void {
  if (expected instanceof RegExp) assert.match(String(found), expected, what);
  else assert.equal(found, expected, what);
}
