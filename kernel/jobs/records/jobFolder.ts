import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, replaceFile } from '#processes/files.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import { toCamel, toSnake } from '#shared/jobs/caseKeys.ts';
import { isJobId } from '#shared/jobs/jobId.ts';
import { isBackfillRequest } from '#shared/jobs/jobShapes.ts';
import { isActive } from '#shared/jobs/jobLabels.ts';
import { parseRecord, recordText, type JobRecord } from './jobRecord.ts';
import { withoutSecrets } from './withoutSecrets.ts';

export const recordFile = 'record.json';
const requestFile = 'request.json';
/** File for stderr of the job process, for an end that the process could not record. */
export const exitMessageFile = 'errors.txt';

/** Number of finished jobs to keep. */
const keptJobs = 200;

/** Job folders of a user, private to the user. */
export class JobFolders {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  of(id: string): string {
    return join(this.root, id);
  }

  /** Lists the job ids, newest first. */
  ids(): string[] {
    try {
      return readdirSync(this.root).filter(isJobId).toSorted().toReversed();
    } catch {
      // Without a folder there are no jobs: the first job creates the folder.
      return [];
    }
  }

  /** Returns `undefined` if the record is missing or unreadable. */
  read(id: string): JobRecord | undefined {
    if (!isJobId(id)) return undefined;
    try {
      return parseRecord(readFileSync(join(this.of(id), recordFile), 'utf8'), id);
    } catch {
      return undefined;
    }
  }

  /** @throws an error of the file system, after removing the new folder */
  create(record: JobRecord, request: BackfillRequest): void {
    makeFolder(this.root);
    const folder = this.of(record.id);
    mkdirSync(folder, { mode: 0o700 });
    try {
      this.writeRequest(record.id, request);
      // The record is written last, because a folder without a record does not count as a job.
      this.write(record, { isLasting: true });
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** @throws an error of the file system; the record is then unchanged */
  write(record: JobRecord, { isLasting }: { readonly isLasting: boolean }): void {
    replaceFile(join(this.of(record.id), recordFile), recordText(record), { isLasting });
  }

  /** Stores the request without its secrets, to resume the job and show it as code. */
  writeRequest(id: string, request: BackfillRequest): void {
    const { request: open, isWhole } = withoutSecrets(request);
    const text = JSON.stringify({ version: 1, is_whole: isWhole, request: toSnake(open) }, undefined, 1);
    replaceFile(join(this.of(id), requestFile), `${text}\n`, { isLasting: true });
  }

  /** Reads the stored request. `isWhole` is false if secrets were left out. */
  readRequest(id: string): { readonly request: BackfillRequest; readonly isWhole: boolean } | undefined {
    try {
      const kept = toCamel(JSON.parse(readFileSync(join(this.of(id), requestFile), 'utf8')));
      const { request, isWhole } = Object(kept) as { request?: unknown; isWhole?: unknown };
      if (!isBackfillRequest(request)) return undefined;
      return { request, isWhole: isWhole === true };
    } catch {
      return undefined;
    }
  }

  /** Removes a job. The folder is renamed first, so that readers see the complete folder or none. */
  remove(id: string): void {
    const folder = this.of(id);
    const gone = join(this.root, `.removed-${id}-${process.pid}`);
    try {
      renameSync(folder, gone);
    } catch {
      // Another process has removed the folder, or a file is open on Windows. Then as much as possible is removed.
      rmSync(folder, { recursive: true, force: true });
      return;
    }
    rmSync(gone, { recursive: true, force: true });
  }

  /** Removes the oldest finished jobs. Interrupted jobs stay, because they can be resumed. */
  tidy(): void {
    const ended = this.ids().filter((id) => {
      const record = this.read(id);
      return record && !isActive(record.progress) && record.progress.state !== 'interrupted';
    });
    for (const id of ended.slice(keptJobs)) this.remove(id);
  }
}
