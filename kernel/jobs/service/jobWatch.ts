import { statSync, watch, type FSWatcher } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '#processes/files.ts';
import { findProcess, type ProcessLookup } from '#jobs/records/control.ts';
import { recordFile, type JobFolders } from '#jobs/records/jobFolder.ts';
import type { JobRecord } from '#jobs/records/jobRecord.ts';
import { toJobView, type Liveness } from '#jobs/records/toJobView.ts';
import type { JobState, JobView } from '#shared/jobs/jobView.ts';
import { isActive } from '#shared/jobs/jobLabels.ts';
import { startupFailure } from './startProcess.ts';

/** Milliseconds between reports. */
const tellMs = 250;
/** Interval of requests to job processes, and of searches for processes that have not started. */
const askMs = 3000;
/** Interval of polling. Needed because some file systems report no changes, or no changes made by other machines. */
const pollMs = 5000;

type Changes = (changed: readonly JobView[], removed: readonly string[]) => void;

type Known = {
  /** Identifies the version of the record file. */
  stamp: string;
  record: JobRecord;
  found: ProcessLookup;
  answers: boolean;
  askedAt: number;
  /** The last reported view, as JSON. */
  told: string;
  state: JobState;
  watcher: FSWatcher | undefined;
};

/**
 * Watches all jobs, or one, by file system events and by the connections to running processes, so that it does little
 * while nothing changes.
 */
export class JobWatch {
  readonly #folders: JobFolders;
  readonly #only: string | undefined;
  readonly #onChange: Changes;
  readonly #signal: AbortSignal;
  readonly #known = new Map<string, Known>();
  #root: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lookedAt = 0;
  #looking: Promise<void> | undefined;
  #isDirty = false;

  constructor(
    folders: JobFolders,
    onChange: Changes,
    options: { readonly signal: AbortSignal; readonly only?: string },
  ) {
    this.#folders = folders;
    this.#onChange = onChange;
    this.#signal = options.signal;
    this.#only = options.only;
  }

  /** Reports all jobs, and then each job that changes. Resolves when the signal aborts. */
  async run(): Promise<void> {
    if (this.#signal.aborted) return;
    const poll = setInterval(() => this.#soon(), pollMs);
    const ask = setInterval(() => this.#hasActive() && this.#soon(), askMs);
    const aborted = new Promise<void>((resolve) =>
      this.#signal.addEventListener('abort', () => resolve(), { once: true }),
    );
    try {
      makeRoot(this.#folders.root);
      this.#root = this.#watch(this.#folders.root);
      this.#soon();
      await aborted;
      await this.#looking;
    } finally {
      clearInterval(poll);
      clearInterval(ask);
      clearTimeout(this.#timer);
      this.#root?.close();
      for (const known of this.#known.values()) release(known);
    }
  }

  #soon(): void {
    this.#isDirty = true;
    if (this.#timer !== undefined || this.#looking || this.#signal.aborted) return;
    const wait = Math.max(0, this.#lookedAt + tellMs - Date.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#isDirty = false;
      this.#lookedAt = Date.now();
      this.#looking = this.#look().finally(() => {
        this.#looking = undefined;
        if (this.#isDirty) this.#soon();
      });
    }, wait);
  }

  async #look(): Promise<void> {
    const ids = this.#only === undefined ? this.#folders.ids() : [this.#only];
    const views = await Promise.all(ids.map((id) => this.#lookAt(id)));
    if (this.#signal.aborted) return;
    const changed = views.filter((view) => view !== undefined);
    const there = new Set(ids.filter((id) => this.#known.has(id)));
    const removed = [...this.#known.keys()].filter((id) => !there.has(id) || !this.#isThere(id));
    for (const id of removed) {
      const known = this.#known.get(id);
      if (known) release(known);
      this.#known.delete(id);
    }
    if (changed.length > 0 || removed.length > 0) this.#onChange(changed, removed);
  }

  /** Returns the view if it differs from the last reported one. */
  async #lookAt(id: string): Promise<JobView | undefined> {
    const stamp = this.#stamp(id);
    const before = this.#known.get(id);
    if (stamp === '') return undefined;
    let known = before;
    if (!known || known.stamp !== stamp) {
      const record = this.#folders.read(id);
      if (!record) return undefined;
      known = before ?? {
        found: { kind: 'gone' },
        answers: true,
        askedAt: 0,
        told: '',
        state: record.progress.state,
        watcher: undefined,
        stamp,
        record,
      };
      Object.assign(known, { stamp, record });
      this.#known.set(id, known);
    }
    if (isActive(known.record.progress)) {
      await this.#askAfter(id, known);
      // The process may have recorded its end meanwhile, so the record is read again.
      if (known.found.kind === 'gone') known.record = this.#folders.read(id) ?? known.record;
    } else release(known);
    const view = toJobView(known.record, this.#livenessOf(id, known), Date.now());
    const told = JSON.stringify(view);
    if (told === known.told) return undefined;
    known.told = told;
    known.state = view.state;
    return view;
  }

  async #askAfter(id: string, known: Known): Promise<void> {
    known.watcher ??= this.#watch(this.#folders.of(id));
    if (Date.now() - known.askedAt < askMs && known.found.kind === 'here') return;
    known.askedAt = Date.now();
    if (known.found.kind !== 'here') {
      known.found = await findProcess(this.#folders.of(id), this.#signal).catch((): ProcessLookup => ({
        kind: 'gone',
      }));
      if (known.found.kind !== 'here') return;
      const found = known.found;
      const ended = (): void => {
        if (known.found === found) known.found = { kind: 'gone' };
        this.#soon();
      };
      void found.control.ended.then(ended);
    }
    // The reply is not awaited, because a blocked process must not delay the other jobs.
    const answered = (answers: boolean): void => {
      if (answers !== known.answers) this.#soon();
      known.answers = answers;
    };
    void known.found.control.answers(this.#signal).then(answered);
  }

  #livenessOf(id: string, { found, answers }: Known): Liveness {
    if (found.kind === 'here') return { kind: 'here', pid: found.control.pid, answers };
    if (found.kind === 'elsewhere') return found;
    return { ...found, words: startupFailure(this.#folders, id) };
  }

  /** Whether any job may have a process. An interrupted job has none; if it is resumed, its folder changes. */
  #hasActive(): boolean {
    return [...this.#known.values()].some(({ state }) => isActive({ state }));
  }

  #isThere(id: string): boolean {
    return this.#stamp(id) !== '';
  }

  /** Identifies the version of a record. Returns an empty string if there is no record; such jobs are not reported. */
  #stamp(id: string): string {
    try {
      const { ino, mtimeMs, size } = statSync(join(this.#folders.of(id), recordFile));
      return `${ino} ${mtimeMs} ${size}`;
    } catch {
      return '';
    }
  }

  #watch(folder: string): FSWatcher | undefined {
    try {
      const watcher = watch(folder, () => this.#soon());
      // The watcher is closed on an error: the folder was removed, or there are too many watchers. Polling continues.
      watcher.on('error', () => watcher.close());
      return watcher;
    } catch {
      return undefined;
    }
  }
}

/** Creates the folder, so that the very first job of a user is noticed as fast as later ones. */
function makeRoot(folder: string): void {
  try {
    makeFolder(folder);
  } catch {
    // The error is ignored: if the folder can't be created, no job can start either.
  }
}

function release(known: Known): void {
  known.watcher?.close();
  known.watcher = undefined;
  if (known.found.kind === 'here') known.found.control.close();
  known.found = { kind: 'gone' };
}
