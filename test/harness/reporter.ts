import { appendFileSync } from 'node:fs';
import Mocha from 'mocha';
import { skipReasons } from './parts.ts';

/** One line of a results file. A run that wrote no `end` did not finish, whatever its exit code says. */
export type TestEvent =
  | { readonly event: 'begin'; readonly node: string; readonly pid: number; readonly vscode?: string }
  | { readonly event: 'test'; readonly title: string }
  | { readonly event: 'pass'; readonly title: string; readonly ms: number }
  | { readonly event: 'skip'; readonly title: string; readonly part: string | null }
  | { readonly event: 'fail'; readonly title: string; readonly error: string }
  | { readonly event: 'end'; readonly failures: number }
  | { readonly event: 'error'; readonly error: string };

export type Emit = (event: TestEvent) => void;

/** Appends events to an NDJSON file; synchronous, so that the last line before a crash is there. */
export function fileEmitter(file: string): Emit {
  return (event) => appendFileSync(file, `${JSON.stringify(event)}\n`);
}

/**
 * Runs test files with mocha in this process and reports every event. The same code runs in plain Node and inside the
 * extension host, so that both count alike.
 * @returns the number of failed tests
 */
export async function runMocha(options: {
  files: readonly string[];
  emit: Emit;
  grep?: string | undefined;
  /** Milliseconds per test, unless the test sets its own. */
  timeout?: number;
  vscode?: string;
}): Promise<number> {
  const { files, emit, grep, timeout = 20_000, vscode } = options;
  emit({ event: 'begin', node: process.version, pid: process.pid, ...(vscode !== undefined && { vscode }) });
  try {
    const mocha = new Mocha({
      ui: 'tdd',
      timeout,
      forbidOnly: Boolean(process.env['CI']),
      reporter: Mocha.reporters.Base,
      ...(grep && { grep }),
    });
    for (const file of files) mocha.addFile(file);
    await mocha.loadFilesAsync();
    const failures = await new Promise<number>((resolve) => {
      const runner = mocha.run(resolve);
      runner.on('test', (test) => emit({ event: 'test', title: test.fullTitle() }));
      runner.on('pass', (test) => emit({ event: 'pass', title: test.fullTitle(), ms: test.duration ?? 0 }));
      runner.on('pending', (test) => {
        const title = test.fullTitle();
        emit({ event: 'skip', title, part: skipReasons.get(title) ?? null });
      });
      runner.on('fail', (test, error: unknown) =>
        emit({ event: 'fail', title: test.fullTitle(), error: describe(error) }),
      );
    });
    emit({ event: 'end', failures });
    return failures;
  } catch (error) {
    emit({ event: 'error', error: describe(error) });
    throw error;
  }
}

/** An error with its causes and, for an assertion, the difference. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.stack ?? `${error.name}: ${error.message}`;
  return error.cause === undefined ? own : `${own}\n  caused by ${describe(error.cause).replaceAll('\n', '\n  ')}`;
}
