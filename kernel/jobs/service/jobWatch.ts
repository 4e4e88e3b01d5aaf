import { statSync, watch, type FSWatcher } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '#processes/files.ts';
import { findProcess, type Found } from '#jobs/records/control.ts';
import { recordFile, type JobFolders } from '#jobs/records/jobFolder.ts';
import type { JobRecord } from '#jobs/records/jobRecord.ts';
import { viewOf, type Liveness } from '#jobs/records/viewOf.ts';
import type { JobState, JobView } from '#shared/jobs/jobView.ts';
import { isActive } from '#shared/jobs/jobLabels.ts';
import { wordsOf } from './startProcess.ts';

/** Views are told of four times a second at most. */
const tellMs = 250;
/** How often a process is asked whether it answers, and looked for where a job waits for its process. */
const askMs = 3000;
/** For file systems that tell nobody of changes, and those of another machine. */
const pollMs = 5000;

type Changes = (changed: readonly JobView[], removed: readonly string[]) => void;

type Known = {
  /** Which record it was: no two have the same. */
  stamp: string;
  record: JobRecord;
  found: Found;
  answers: boolean;
  askedAt: number;
  /** What was told of it last. */
  told: string;
  state: JobState;
  watcher: FSWatcher | undefined;
};

/**
 * Watches the records of all jobs, or of one, and the processes of those that run. Records are told of by the file system and
 * processes by the end of a connection to them, so that nothing is done while nothing happens.
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

  /** Tells of all jobs that there are, and from then on of those that change; resolves when the signal aborts. */
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

  /** Looks as soon as it may be told of again. */
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

  /** The view of a job, where it is another than was told last. */
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
      // Of a process that is gone the last word may have been written since the record was read.
      if (known.found.kind === 'gone') known.record = this.#folders.read(id) ?? known.record;
    } else release(known);
    const view = viewOf(known.record, this.#livenessOf(id, known), Date.now());
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
      known.found = await findProcess(this.#folders.of(id), this.#signal).catch((): Found => ({ kind: 'gone' }));
      if (known.found.kind !== 'here') return;
      const found = known.found;
      const ended = (): void => {
        if (known.found === found) known.found = { kind: 'gone' };
        this.#soon();
      };
      void found.control.ended.then(ended);
    }
    // Not waited for: one that does not answer holds up no other.
    const answered = (answers: boolean): void => {
      if (answers !== known.answers) this.#soon();
      known.answers = answers;
    };
    void known.found.control.answers(this.#signal).then(answered);
  }

  #livenessOf(id: string, { found, answers }: Known): Liveness {
    if (found.kind === 'here') return { kind: 'here', pid: found.control.pid, answers };
    if (found.kind === 'elsewhere') return found;
    return { ...found, words: wordsOf(this.#folders, id) };
  }

  /** Whether there is somebody to ask: an interrupted job comes back by being resumed, which its folder tells. */
  #hasActive(): boolean {
    return [...this.#known.values()].some(({ state }) => isActive({ state }));
  }

  #isThere(id: string): boolean {
    return this.#stamp(id) !== '';
  }

  /** Empty where there is no record, or none that can be looked at: of those nobody is told anything. */
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
      // Removed, or one too many for the system: then there is the clock.
      watcher.on('error', () => watcher.close());
      return watcher;
    } catch {
      return undefined;
    }
  }
}

/** So that the first job of all is seen as soon as any other. */
function makeRoot(folder: string): void {
  try {
    makeFolder(folder);
  } catch {
    // Nobody will start a job there, either.
  }
}

function release(known: Known): void {
  known.watcher?.close();
  known.watcher = undefined;
  if (known.found.kind === 'here') known.found.control.close();
  known.found = { kind: 'gone' };
}
