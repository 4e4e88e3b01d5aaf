import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, replaceFile } from '#processes/files.ts';

/** JSON records by key in the user's cache, which a kernel writes for later kernels. */
export class CacheRecords {
  readonly #folder: string;
  readonly #most: number;

  /** @param most maximum number of records; the oldest are removed */
  constructor(folder: string, most: number) {
    this.#folder = folder;
    this.#most = most;
  }

  /** @returns undefined if the record is missing or damaged; the caller then creates the record again */
  read(key: string): unknown {
    try {
      return JSON.parse(readFileSync(this.#at(key), 'utf8'));
    } catch {
      return undefined;
    }
  }

  /** Does nothing if the disk is full or read-only, because kernels also work without records. */
  write(records: readonly (readonly [key: string, value: unknown])[]): void {
    try {
      makeFolder(this.#folder);
      for (const [key, value] of records) replaceFile(this.#at(key), JSON.stringify(value), { isLasting: false });
      prune(this.#folder, this.#most);
    } catch {
      // The error is dropped, because kernels also work without records.
    }
  }

  #at(key: string): string {
    return join(this.#folder, `${createHash('sha256').update(key).digest('hex').slice(0, 24)}.json`);
  }
}

const timeOf = (record: string): number => statSync(record, { throwIfNoEntry: false })?.mtimeMs ?? 0;

function prune(where: string, most: number): void {
  const records = readdirSync(where).map((name) => join(where, name));
  if (records.length <= most) return;
  const newestFirst = records.toSorted((a, b) => timeOf(b) - timeOf(a));
  for (const record of newestFirst.slice(most)) rmSync(record, { force: true });
}
