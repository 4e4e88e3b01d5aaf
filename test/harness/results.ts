import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { TestEvent } from './reporter.ts';

export type Tally = { passed: number; failed: number; skipped: number };

/** The time and processor time of the suites in a file, including their setup and teardown. */
export type FileTime = { readonly file: string; readonly ms: number; readonly cpu: number };

/** Follows a results file while another process writes it, and prints each new result. */
export class ResultsFile {
  readonly path: string;
  readonly events: TestEvent[] = [];
  #read = 0;
  readonly #say: (line: string) => void;

  readonly #verbose: boolean;

  /** @param verbose whether to print passed tests, too */
  constructor(path: string, say: (line: string) => void, verbose = true) {
    this.path = path;
    this.#say = say;
    this.#verbose = verbose;
  }

  /** Reads the lines written since the last call. */
  read(): void {
    if (!existsSync(this.path)) return;
    const text = readFileSync(this.path, 'utf8');
    const end = text.lastIndexOf('\n') + 1;
    const fresh = text.slice(this.#read, end);
    this.#read = end;
    for (const line of fresh.split('\n').filter(Boolean)) {
      // Our own reporter wrote this line (reporter.ts) in the same run.
      const event = JSON.parse(line) as TestEvent;
      this.events.push(event);
      this.#print(event);
    }
  }

  /** The tests that have started and have no result yet, one per process. If the run hangs, they are the cause. */
  get running(): string | undefined {
    const last = new Map<number | undefined, TestEvent>();
    for (const event of this.events) if (event.event !== 'begin') last.set(event.worker, event);
    const titles = [...last.values()].flatMap((event) => (event.event === 'test' ? [event.title] : []));
    return titles.length === 0 ? undefined : titles.join('" and "');
  }

  /** The files whose suites have ended. */
  files(): FileTime[] {
    const times = new Map<string, FileTime>();
    for (const event of this.events) {
      if (event.event !== 'suite') continue;
      const { file } = event;
      const { ms = 0, cpu = 0 } = times.get(file) ?? {};
      times.set(file, { file, ms: ms + event.ms, cpu: cpu + event.cpu });
    }
    return [...times.values()];
  }

  /** The events without those of files that ran again. */
  get #counted(): readonly TestEvent[] {
    const files = new Map<number | undefined, string>();
    let counted: { readonly file: string | undefined; readonly event: TestEvent }[] = [];
    for (const event of this.events) {
      if (event.event === 'file') files.set(event.worker, event.file);
      if (event.event === 'repeat') counted = counted.filter(({ file }) => file !== event.file);
      else counted.push({ file: files.get(event.worker), event });
    }
    return counted.map(({ event }) => event);
  }

  get ended(): boolean {
    return this.events.some((event) => event.event === 'end' || event.event === 'error');
  }

  /** Returns why this run is not reliable; undefined if it reported its own end. */
  problem(): string | undefined {
    const errors = this.#counted.flatMap((event) => (event.event === 'error' ? [event.error.split('\n')[0]] : []));
    if (errors.length > 0) return `the suite could not run: ${errors.join('; ')}`;
    if (!this.events.some((event) => event.event === 'end')) {
      return `the suite reported no end${this.running === undefined ? '' : `; it stopped in "${this.running}"`}`;
    }
    const { passed, failed } = this.tally();
    return passed + failed === 0 ? 'no test ran' : undefined;
  }

  /** Returns the counts. In CI a skip that names no known part is a failure. */
  tally(): Tally {
    const strict = Boolean(process.env['CI']);
    const tally = { passed: 0, failed: 0, skipped: 0 };
    for (const event of this.#counted) {
      if (event.event === 'pass') tally.passed++;
      else if (event.event === 'fail') tally.failed++;
      else if (event.event === 'skip') tally[strict && event.part === null ? 'failed' : 'skipped']++;
    }
    return tally;
  }

  #print(event: TestEvent): void {
    switch (event.event) {
      case 'begin':
        if (event.vscode !== undefined)
          this.#say(`  in VS Code ${event.vscode}, Node ${event.node}, process ${event.pid}`);
        return;
      case 'pass':
        return this.#verbose ? this.#say(`  ok    ${event.title} (${event.ms} ms)`) : undefined;
      case 'skip':
        return this.#say(`  skip  ${event.title} (${event.part ?? 'no part named'})`);
      case 'fail':
        return this.#say(`  FAIL  ${event.title}\n${event.error.replace(/^/gm, '        ')}`);
      case 'again':
        return this.#say(`  AGAIN ${event.title}\n${event.error.replace(/^/gm, '        ')}`);
      case 'repeat':
        return this.#say(`  AGAIN ${relative('', event.file)} as a whole, in a new process`);
      case 'error':
        return this.#say(`  FAIL  ${event.error.replace(/\n/g, '\n        ')}`);
      case 'file':
      case 'test':
      case 'suite':
      case 'end':
        return;
    }
  }
}
