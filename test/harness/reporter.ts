import { appendFileSync, readFileSync } from 'node:fs';
import Mocha from 'mocha';
import { skipReasons } from './needs/parts.ts';

/** One line of a results file. A run without an `end` line did not finish, regardless of its exit code. */
export type TestEvent = (
  | { readonly event: 'begin'; readonly node: string; readonly pid: number; readonly vscode?: string }
  /** A process of the layer starts to run a file. What it reports until its next file belongs to this file. */
  | { readonly event: 'file'; readonly file: string }
  /** Tests of a file failed, and all of it runs again in a new process. Only the second run counts. */
  | { readonly event: 'repeat'; readonly file: string }
  | { readonly event: 'test'; readonly title: string }
  | { readonly event: 'pass'; readonly title: string; readonly ms: number }
  | { readonly event: 'skip'; readonly title: string; readonly part: string | null }
  | { readonly event: 'fail'; readonly title: string; readonly error: string }
  /** A test failed and runs again. */
  | { readonly event: 'again'; readonly title: string; readonly error: string }
  /**
   * A top-level suite of a file has ended, including its setup and teardown. `cpu` is the processor time in
   * milliseconds of this process and its children; if it is much less than `ms`, the suite waits.
   */
  | { readonly event: 'suite'; readonly file: string; readonly ms: number; readonly cpu: number }
  | { readonly event: 'end'; readonly failures: number }
  | { readonly event: 'error'; readonly error: string }
) & {
  /** The number of the process that reports this, if several processes run the files of a layer. */
  readonly worker?: number;
};

export type Emit = (event: TestEvent) => void;

/** Appends events to an NDJSON file. It writes synchronously, so that the last line before a crash is saved. */
export function fileEmitter(file: string, worker?: number): Emit {
  const from = worker === undefined ? {} : { worker };
  // Writes each line with one call that appends, so that lines of several processes do not mix.
  return (event) => appendFileSync(file, `${JSON.stringify({ ...event, ...from })}\n`);
}

export type MochaOptions = {
  readonly files: readonly string[];
  readonly emit: Emit;
  readonly grep?: string | undefined;
  /** Time limit per test in milliseconds, unless the test sets another. */
  readonly timeout?: number;
};

/** Runs test files with mocha in this process and reports the results. @returns the number of failures */
export async function runFiles({ files, emit, grep, timeout = 20_000 }: MochaOptions): Promise<number> {
  const mocha = new Mocha({
    ui: 'tdd',
    timeout,
    forbidOnly: Boolean(process.env['CI']),
    // A shared machine pauses for seconds now and then. Failures are reported even if the test then passes.
    retries: process.env['CI'] ? 1 : 0,
    reporter: Mocha.reporters.Base,
    ...(grep && { grep }),
  });
  for (const file of files) mocha.addFile(file);
  await mocha.loadFilesAsync();
  const failures = await new Promise<number>((resolve) => {
    const runner = mocha.run(resolve);
    let began = 0;
    let spent = 0;
    runner.on('suite', (suite) => {
      if (suite.parent?.root) [began, spent] = [performance.now(), processorTime()];
    });
    runner.on('suite end', ({ parent, file }) => {
      if (parent?.root && file !== undefined)
        emit({ event: 'suite', file, ms: Math.round(performance.now() - began), cpu: processorTime() - spent });
    });
    runner.on('test', (test) => emit({ event: 'test', title: test.fullTitle() }));
    runner.on('retry', (test, error: unknown) =>
      emit({ event: 'again', title: test.fullTitle(), error: describe(error) }),
    );
    runner.on('pass', (test) => emit({ event: 'pass', title: test.fullTitle(), ms: test.duration ?? 0 }));
    runner.on('pending', (test) => {
      const title = test.fullTitle();
      emit({ event: 'skip', title, part: skipReasons.get(title) ?? null });
    });
    runner.on('fail', (test, error: unknown) =>
      emit({ event: 'fail', title: test.fullTitle(), error: describe(error) }),
    );
  });
  // Without this, mocha would still listen for exceptions of this process, although they now belong to the next file.
  mocha.dispose();
  return failures;
}

/**
 * Returns the processor time in milliseconds of this process and its ended children. Node reports only that of the
 * process itself.
 */
function processorTime(): number {
  // The fields after the program's name, which may contain spaces: utime, stime, cutime and cstime, in ticks of 10 ms.
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
}

/** Returns an error with its causes and, for an assertion, the difference. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.stack ?? `${error.name}: ${error.message}`;
  return error.cause === undefined ? own : `${own}\n  caused by ${describe(error.cause).replaceAll('\n', '\n  ')}`;
}
