import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '#processes/files.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import { toCamel, toSnake } from '#shared/jobs/caseKeys.ts';
import { isJobId } from '#shared/jobs/jobId.ts';
import { isBackfillRequest } from '#shared/jobs/jobShapes.ts';
import { isActive } from '#shared/jobs/jobLabels.ts';
import { replaceFile } from '#processes/files.ts';
import { parseRecord, recordText, type JobRecord } from './jobRecord.ts';
import { withoutSecrets } from './withoutSecrets.ts';

export const recordFile = 'record.json';
const requestFile = 'request.json';
/** Stderr of the job process: why it ended, if it could not write that to the record. */
export const wordsFile = 'errors.txt';

/** Number of finished jobs to keep. The oldest are removed first. */
const keptJobs = 200;

/** The job folders of a user, one per job, private to the user. */
export class JobFolders {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  /** Returns the folder with all files of a job. */
  of(id: string): string {
    return join(this.root, id);
  }

  /** Returns the ids of all jobs, newest first. */
  ids(): string[] {
    try {
      return readdirSync(this.root).filter(isJobId).toSorted().toReversed();
    } catch {
      // The folder does not exist before the first job.
      return [];
    }
  }

  /** Reads the record of a job, `undefined` if it is missing or unreadable. */
  read(id: string): JobRecord | undefined {
    if (!isJobId(id)) return undefined;
    try {
      return parseRecord(readFileSync(join(this.of(id), recordFile), 'utf8'), id);
    } catch {
      return undefined;
    }
  }

  /**
   * Creates the folder of a new job.
   * @throws an error of the file system; the folder is then removed again
   */
  create(record: JobRecord, request: BackfillRequest): void {
    makeFolder(this.root);
    const folder = this.of(record.id);
    mkdirSync(folder, { mode: 0o700 });
    try {
      this.writeRequest(record.id, request);
      // Written last: a folder without a record is not a job.
      this.write(record, { isLasting: true });
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /**
   * Replaces the record of a job.
   * @throws an error of the file system; the record is then unchanged
   */
  write(record: JobRecord, { isLasting }: { readonly isLasting: boolean }): void {
    replaceFile(join(this.of(record.id), recordFile), recordText(record), { isLasting });
  }

  /** Stores the request without its secrets, so that the job can be resumed and shown as code. */
  writeRequest(id: string, request: BackfillRequest): void {
    const { request: open, isWhole } = withoutSecrets(request);
    const text = JSON.stringify({ version: 1, is_whole: isWhole, request: toSnake(open) }, undefined, 1);
    replaceFile(join(this.of(id), requestFile), `${text}\n`, { isLasting: true });
  }

  /**
   * Reads the stored request, `undefined` if it is missing or unreadable.
   * @returns `isWhole` is false if secrets were left out
   */
  readRequest(id: string): { readonly request: BackfillRequest; readonly isWhole: boolean } | undefined {
    try {
      const kept = toCamel(JSON.parse(readFileSync(join(this.of(id), requestFile), 'utf8')));
      const { request, isWhole } = Object(kept) as { request?: unknown; isWhole?: unknown };
      if (!isBackfillRequest(request)) return undefined;
      return { request: request as BackfillRequest, isWhole: isWhole === true };
    } catch {
      return undefined;
    }
  }

  /** Removes all files of a job. Readers see the complete folder or none, because it is renamed first. */
  remove(id: string): void {
    const folder = this.of(id);
    const gone = join(this.root, `.removed-${id}-${process.pid}`);
    try {
      renameSync(folder, gone);
    } catch {
      // Another process removed it, or it is open on Windows. Then remove as much as possible.
      rmSync(folder, { recursive: true, force: true });
      return;
    }
    rmSync(gone, { recursive: true, force: true });
  }

  /** Removes the oldest finished jobs beyond the limit. Interrupted jobs stay, because they can be resumed. */
  tidy(): void {
    const ended = this.ids().filter((id) => {
      const record = this.read(id);
      return record && !isActive(record.progress) && record.progress.state !== 'interrupted';
    });
    for (const id of ended.slice(keptJobs)) this.remove(id);
  }
}
