import assert from 'node:assert/strict';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import type { KernelOutput } from '#shared/protocol/kernelMessages.ts';
import { errorOf, printed, resultOf, run, until } from './support.ts';

/** A cell and its expected results. An omitted value, out or err must not occur. */
export type Step = {
  cell: string;
  /** Text of the last expression's value. */
  value?: string | RegExp;
  /** Expected stdout. */
  out?: string | RegExp;
  /** Expected stderr. */
  err?: RegExp;
  /** Name and message of the error, as `Name: message`. */
  error?: RegExp;
  /** Lines of the error's traceback. */
  trace?: RegExp;
  /** MIME types of each output that has some, in order, as `text/html, text/plain`. Not checked if omitted. */
  forms?: readonly string[];
  /** Output or error after the end of the cell. The test waits for it. */
  late?: RegExp;
};

/** Declares a test that runs cells one after another, in a kernel that other tests also use. */
export function cells(name: string, kernel: () => KernelProcess, ...steps: Step[]): void {
  test(name, async () => {
    for (const step of steps) await runStep(kernel(), step);
  });
}

/** Runs one cell and checks all results. */
export async function runStep(kernel: KernelProcess, step: Step): Promise<void> {
  const late: KernelOutput[] = [];
  const listening = step.late && kernel.onOrphanOutput((output) => late.push(output));
  const { outputs } = await run(kernel, step.cell);
  const error = errorOf(outputs);
  const said = `of the cell:\n${step.cell}\n`;
  if (step.error) match(error && `${error.ename}: ${error.evalue}`, step.error, `The error ${said}`);
  else assert.equal(error?.traceback.join('\n'), undefined, `An error ${said}`);
  if (step.trace) match(error?.traceback.join('\n'), step.trace, `The traceback ${said}`);
  match(resultOf(outputs)?.['text/plain'], step.value, `The value ${said}`);
  match(printed(outputs) || undefined, step.out, `The output ${said}`);
  match(printed(outputs, 'stderr') || undefined, step.err, `The stderr ${said}`);
  if (step.forms) assert.deepEqual(formsOf(outputs), step.forms, `The forms ${said}`);
  if (step.late) await lateOutput(late, outputs[0]?.parent, step.late, said);
  listening?.dispose();
}

const formsOf = (outputs: readonly KernelOutput[]): string[] =>
  outputs.flatMap(({ content }) => ('data' in content ? [Object.keys(content.data).join(', ')] : []));

/** Waits for the output that a cell sends after its end. */
async function lateOutput(late: readonly KernelOutput[], cell: string | undefined, expected: RegExp, said: string) {
  const text = () =>
    late
      .filter(({ parent }) => parent === cell)
      .map(({ type, content }) =>
        type === 'stream' ? content.text : type === 'error' ? content.traceback.join('\n') : '',
      )
      .join('');
  await until(`${expected} after the end ${said}`, () => expected.test(text()));
}

function match(found: unknown, expected: string | RegExp | undefined, what: string): void {
  if (expected instanceof RegExp) assert.match(String(found), expected, `${what}was:\n${String(found)}`);
  else assert.equal(found, expected, what);
}
