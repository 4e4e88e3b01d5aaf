import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isJobEvent, readMarkedLine } from '#jobs/eventLines.ts';
import { type JobSpec, specToJson } from '#jobs/jobSpec.ts';
import { bundleFile } from '#processes/bundleFile.ts';
import { exitReason } from '#processes/exitReason.ts';
import { isJobErrorKind, JobError } from '#shared/jobs/jobErrors.ts';
import type { JobEvent } from '#shared/jobs/jobEvents.ts';
import { driverFile } from './driverFiles.ts';

/** Number of checks in the time that a driver may be silent. The driver sends at least four heartbeats in that time. */
const looks = 6;

/**
 * Detects a blocked driver, which no longer sends heartbeats. Checks are counted instead of reading a clock, because a
 * machine that wakes from sleep resumes its processes in any order.
 */
class DriverWatch {
  /** Seconds of silence after which the driver counts as blocked. */
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
    // The driver reads the same variable to watch its own processes.
    this.seconds = Number(env['LANCE_CATALOG_STALL_SECONDS'] ?? 60) || 60;
  }

  /**
   * Notes a message of the driver. The first message starts the watch: before it, the driver loads packages, which may
   * take any time.
   */
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
      // The driver is busy and not blocked: native code computes while it holds the Python lock.
      this.#silent = 0;
      return;
    }
    this.stop();
    this.isStalled = true;
    this.#end();
  }
}

/** Reads the used processor time, which only Linux reports. */
function processorTicks(pid: number): string | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The fields follow the name of the program. The name may contain any character, so the fields are counted from its
    // end.
    return stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
      .join(' ');
  } catch {
    return undefined;
  }
}

/** Time for a driver to store its results after SIGTERM. Its workers get five seconds. */
const graceMilliseconds = 15_000;
/** Time for the driver's workers to end after the driver. A worker that hangs in a function keeps the pipes open. */
const orphanMilliseconds = 7000;
/** Log lines kept for the error message. */
const tailLines = 20;

export type DriverRun = {
  readonly python: string;
  readonly spec: JobSpec;
  readonly mode: 'run' | 'plan' | 'try';
  /** Only for `try`: fragment, number of rows to show, time limit in seconds. */
  readonly trial?:
    | {
        readonly fragment?: number | undefined;
        readonly rows?: number | undefined;
        readonly seconds?: number | undefined;
      }
    | undefined;
  /** Working directory of the function, the base of its relative paths. */
  readonly folder: string;
  readonly onEvent: (event: JobEvent) => void;
  /** Receives the output of the driver and the function, line by line. */
  readonly log: (text: string) => void;
  /** Additions to the environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly signal: AbortSignal;
};

/**
 * Runs the Python driver to its end. The driver has its own process group, so that all of its processes can be ended at
 * once. The job and its secrets are sent by stdin. Stdin stays open: the driver ends when stdin closes, so it never
 * outlives this process. A driver that does not respond is killed.
 * @returns the unchecked result of `plan` and `try`
 * @throws JobError with the failure that the driver reports, FunctionCrashed if the driver ends without a report; the
 * reason of `signal`
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
      // An error of stdin is ignored, because the exit of the driver explains why it did not read the job.
    });
    child.stdin?.write(`${JSON.stringify(jsonOf(run))}\n`);
    const [code, signal] = await closed;
    if (end?.kind === 'failed') throw failureOf(end);
    if (code === 0) return result;
    run.signal.throwIfAborted();
    throw new JobError(
      'FunctionCrashed',
      watch.isStalled
        ? `The Python driver did not respond for ${watch.seconds} seconds and was stopped.`
        : `The Python driver ended: ${exitReason(code, signal, tail.join('\n'))}.`,
      'Resume the job: computed rows are kept.',
    );
  } finally {
    run.signal.removeEventListener('abort', stop.ask);
    watch.stop();
    stop.now();
    // The folder still exists only if the driver was killed.
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
  // Options of this process must not apply to the function's Node.js processes.
  delete inherited['NODE_OPTIONS'];
  return { ...inherited, PYTHONUTF8: '1', PYTHONUNBUFFERED: '1', ...env };
}

/** Creates a folder for the function's Node.js processes. If this fails, the driver finds a location itself. */
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
    // The driver gets its own process group, so that all of its processes can be ended at once.
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
}

/**
 * Returns three ways to end a driver. `ask` requests the end, so that the driver stores its results, and kills the
 * process group after a grace period. `orphans` kills processes that the ended driver left behind. `now` kills at once.
 */
function stopper(child: ChildProcess): { ask: () => void; orphans: () => void; now: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const killGroup = (): void => {
    if (child.pid === undefined) return;
    try {
      if (process.platform === 'win32') child.kill('SIGKILL');
      else process.kill(-child.pid, 'SIGKILL');
    } catch {
      // No process of the group is left.
    }
  };
  return {
    ask: () => {
      // Windows has no signals; the end of stdin has the same effect.
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
