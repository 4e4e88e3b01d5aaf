import { readFileSync } from 'node:fs';

/** How often is looked in the time that a driver may be silent. It beats at least four times in it. */
const looks = 6;

/**
 * Finds a driver that stands still: it says that it goes on every few seconds, unless it can't. Looks are counted, and no
 * clock is asked: a machine that slept wakes its processes in any order.
 */
export class DriverWatch {
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
