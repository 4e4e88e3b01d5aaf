import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isJobEvent, readMarkedLine } from '#jobs/eventLines.ts';
import { type JobSpec, specToJson } from '#jobs/jobSpec.ts';
import { exitReason } from '#processes/exitReason.ts';
import { isJobErrorKind, JobError } from '#shared/jobs/jobErrors.ts';
import type { JobEvent } from '#shared/jobs/jobEvents.ts';
import { bundleFile, driverFile } from './driverFiles.ts';

/** How often is looked in the time that a driver may be silent. It beats at least four times in it. */
const looks = 6;

/**
 * Finds a driver that stands still: it says that it goes on every few seconds, unless it can't. Looks are counted, and no
 * clock is asked: a machine that slept wakes its processes in any order.
 */
class DriverWatch {
  /** How long it was silent when it was found to stand still. */
  readonly seconds: number;
  isStalled = false;
  readonly #pid: number;
  readonly #end: () => void;
  #timer: NodeJS.Timeout | undefined;
  #silent = 0;
  #ticks: string | undefined;

  constructor(pid: number, env: Readonly<Record<string, string | undefined>>, end: () => void) {
    this.#pid = pid;
    this.#end = end;
    // The driver reads the same variable for those that it watches.
    this.seconds = Number(env['LANCE_CATALOG_STALL_SECONDS'] ?? 60) || 60;
  }

  /** It said something. Before the first beat it loads its packages, which may take any time. */
  heard(): void {
    this.#silent = 0;
    this.#timer ??= setInterval(() => this.#look(), (this.seconds * 1000) / looks);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const ticks = processorTicks(this.#pid);
    if (++this.#silent === 1) this.#ticks = ticks;
    if (this.#silent < looks) return;
    if (ticks !== this.#ticks) {
      // It computes: something holds the lock of Python, and lets it go some time.
      this.#silent = 0;
      return;
    }
    this.stop();
    this.isStalled = true;
    this.#end();
  }
}

/** Processor time that a process has used, where the system tells it: on Linux. */
function processorTicks(pid: number): string | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // Behind the name, which may have anything in it.
    return stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
      .join(' ');
  } catch {
    return undefined;
  }
}

/** How long a driver that was told to end may take to keep what it has. Its workers have five seconds. */
const graceMilliseconds = 15_000;
/** How long its workers may take for that when it is gone. One that hangs in a function holds the pipes open meanwhile. */
const orphanMilliseconds = 7000;
/** Lines of its log that are kept for the error that names its end. */
const tailLines = 20;

export type DriverRun = {
  /** The interpreter. */
  readonly python: string;
  readonly spec: JobSpec;
  readonly mode: 'run' | 'plan' | 'try';
  /** Only of a trial: the fragment, how many rows are shown, how long it may take. */
  readonly trial?:
    | {
        readonly fragment?: number | undefined;
        readonly rows?: number | undefined;
        readonly seconds?: number | undefined;
      }
    | undefined;
  /** Where the function runs: relative paths in it are relative to this. */
  readonly folder: string;
  readonly onEvent: (event: JobEvent) => void;
  /** What the driver and the function print, in lines. */
  readonly log: (text: string) => void;
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly signal: AbortSignal;
};

/**
 * Runs the Python driver to its end, in a process group of its own, so that nothing of it outlives this process or the signal.
 * The job, with the settings of the object store, goes to it by its stdin, which stays open: its end is ours. One that stands
 * still is ended.
 * @returns the result of `plan` and `try`, unchecked
 * @throws JobError with what the driver said, FunctionCrashed when it ended without a word; an AbortError
 */
export async function runDriver(run: DriverRun): Promise<Record<string, unknown> | undefined> {
  run.signal.throwIfAborted();
  const env = environment(run);
  const temporary = temporaryFolder(run, env);
  const child = start(run, temporary === undefined ? env : { ...env, LANCE_CATALOG_TEMPORARY: temporary });
  const watch = new DriverWatch(child.pid ?? 0, env, () => child.kill('SIGKILL'));
  let result: Record<string, unknown> | undefined;
  let end: JobEvent | undefined;
  const tail: string[] = [];
  const logLine = (line: string): void => {
    tail.push(line);
    if (tail.length > tailLines) tail.shift();
    run.log(`${line}\n`);
  };
  const hear = (line: string): void => {
    const fields = readMarkedLine(line);
    if (fields) watch.heard();
    if (fields?.['kind'] === 'beat') return;
    if (isJobEvent(fields)) {
      if (fields.kind === 'failed' || fields.kind === 'cancelled') end = fields;
      else run.onEvent(fields);
    } else if (fields && (fields['kind'] === 'plan' || fields['kind'] === 'trial')) result = fields;
    else logLine(line);
  };
  const stop = stopper(child);
  run.signal.addEventListener('abort', stop.ask, { once: true });
  try {
    child.once('exit', stop.orphans);
    const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
    if (child.stdout) createInterface({ input: child.stdout }).on('line', hear);
    if (child.stderr) createInterface({ input: child.stderr }).on('line', logLine);
    child.stdin?.on('error', () => {
      // It ended before it had read the job; how, is told by its end.
    });
    child.stdin?.write(`${JSON.stringify(jsonOf(run))}\n`);
    const [code, signal] = await closed;
    if (end?.kind === 'failed') throw failureOf(end);
    if (code === 0) return result;
    run.signal.throwIfAborted();
    throw new JobError(
      'FunctionCrashed',
      watch.isStalled
        ? `The Python driver stood still for ${watch.seconds} seconds and was ended.`
        : `The Python driver ended: ${exitReason(code, signal, tail.join('\n'))}.`,
      'Resume the job: what was computed has been kept.',
    );
  } finally {
    run.signal.removeEventListener('abort', stop.ask);
    watch.stop();
    stop.now();
    // What the driver removes itself unless it is killed.
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
  }
}

const jsonOf = ({ spec, mode, trial }: DriverRun): object => ({
  ...specToJson(spec),
  mode,
  engine: 'processes',
  node: process.execPath,
  worker: bundleFile('functionWorker.mjs'),
  fragment: trial?.fragment,
  try_rows: trial?.rows,
  try_seconds: trial?.seconds,
});

function environment({ env }: DriverRun): NodeJS.ProcessEnv {
  const inherited = { ...process.env };
  // Flags for us are none for the Node of a function.
  delete inherited['NODE_OPTIONS'];
  return { ...inherited, PYTHONUTF8: '1', PYTHONUNBUFFERED: '1', ...env };
}

/** A folder for the files that the Nodes of a function need; without one the driver finds a place for them itself. */
function temporaryFolder({ spec }: DriverRun, env: NodeJS.ProcessEnv): string | undefined {
  if (spec.function.kind !== 'typescript') return undefined;
  try {
    return mkdtempSync(join(env['TMPDIR'] || tmpdir(), 'lance-backfill-'));
  } catch {
    return undefined;
  }
}

function start({ python, folder }: DriverRun, env: NodeJS.ProcessEnv): ChildProcess {
  return spawn(python, [driverFile(), '-'], {
    cwd: folder,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    // A group of its own, so that all of it can be ended at once.
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
}

/** Ends a driver: asked first, so that it keeps what it has, then with all that it has started. */
function stopper(child: ChildProcess): { ask: () => void; orphans: () => void; now: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const killGroup = (): void => {
    if (child.pid === undefined) return;
    try {
      if (process.platform === 'win32') child.kill('SIGKILL');
      else process.kill(-child.pid, 'SIGKILL');
    } catch {
      // Nothing of it is left.
    }
  };
  return {
    ask: () => {
      // Windows knows no signals: there the end of stdin says it.
      if (process.platform === 'win32') child.stdin?.end();
      else child.kill('SIGTERM');
      timer ??= setTimeout(killGroup, graceMilliseconds);
    },
    orphans: () => {
      clearTimeout(timer);
      timer = setTimeout(killGroup, orphanMilliseconds);
    },
    now: () => {
      clearTimeout(timer);
      killGroup();
    },
  };
}

function failureOf(event: JobEvent & { kind: 'failed' }): JobError {
  const { code, message, hint } = event;
  return new JobError(isJobErrorKind(code) ? code : 'Internal', message, hint);
}
