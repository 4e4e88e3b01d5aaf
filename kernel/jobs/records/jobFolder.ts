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
/** What the process of a job says when it ends in a way that it can't tell itself. */
export const wordsFile = 'errors.txt';

/** Ended jobs that are kept; the oldest go first. */
const keptJobs = 200;

/** The folders of jobs of a person, one each, of the person alone. */
export class JobFolders {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  /** Where a job keeps everything. */
  of(id: string): string {
    return join(this.root, id);
  }

  /** Ids of all jobs, newest first. */
  ids(): string[] {
    try {
      return readdirSync(this.root).filter(isJobId).toSorted().toReversed();
    } catch {
      // Nobody has started one yet.
      return [];
    }
  }

  /** The record of a job; `undefined` where there is none, or one that can't be read. */
  read(id: string): JobRecord | undefined {
    if (!isJobId(id)) return undefined;
    try {
      return parseRecord(readFileSync(join(this.of(id), recordFile), 'utf8'), id);
    } catch {
      return undefined;
    }
  }

  /** Makes the folder of a new job. @throws an error of the file system, and then there is none */
  create(record: JobRecord, request: BackfillRequest): void {
    makeFolder(this.root);
    const folder = this.of(record.id);
    mkdirSync(folder, { mode: 0o700 });
    try {
      this.writeRequest(record.id, request);
      // Last: a folder without a record is no job.
      this.write(record, { isLasting: true });
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** @throws an error of the file system, and the record is as it was */
  write(record: JobRecord, { isLasting }: { readonly isLasting: boolean }): void {
    replaceFile(join(this.of(record.id), recordFile), recordText(record), { isLasting });
  }

  /** Keeps what was asked, without its secrets, so that the job can be resumed and shown as code. */
  writeRequest(id: string, request: BackfillRequest): void {
    const { request: open, isWhole } = withoutSecrets(request);
    const text = JSON.stringify({ version: 1, is_whole: isWhole, request: toSnake(open) }, undefined, 1);
    replaceFile(join(this.of(id), requestFile), `${text}\n`, { isLasting: true });
  }

  /** What was asked, and whether nothing of it was kept back; `undefined` where it can't be read. */
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

  /** Removes all that is kept of a job. Whoever looks meanwhile finds it whole or not at all. */
  remove(id: string): void {
    const folder = this.of(id);
    const gone = join(this.root, `.removed-${id}-${process.pid}`);
    try {
      renameSync(folder, gone);
    } catch {
      // Removed by somebody else, or, on Windows, open there: then as much as can be.
      rmSync(folder, { recursive: true, force: true });
      return;
    }
    rmSync(gone, { recursive: true, force: true });
  }

  /** Removes the oldest of the jobs that have ended, of which more are kept than anybody looks at. */
  tidy(): void {
    const ended = this.ids().filter((id) => {
      const record = this.read(id);
      return record && !isActive(record.progress) && record.progress.state !== 'interrupted';
    });
    for (const id of ended.slice(keptJobs)) this.remove(id);
  }
}
