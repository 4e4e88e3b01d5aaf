import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '#processes/files.ts';
import { replaceFile } from '#processes/files.ts';

/** What one kernel writes down for the next in a folder of the person's cache: JSON by keys. */
export class CacheRecords {
  readonly #folder: string;
  readonly #most: number;

  /** @param most records that are kept, those that were written last */
  constructor(folder: string, most: number) {
    this.#folder = folder;
    this.#most = most;
  }

  /** @returns undefined where there is none yet, or one that was damaged: it is made again */
  read(key: string): unknown {
    try {
      return JSON.parse(readFileSync(this.#at(key), 'utf8'));
    } catch {
      return undefined;
    }
  }

  /** Nothing is said where that can't be done, on a disk that is full or read-only: nobody needs a record. */
  write(records: readonly (readonly [key: string, value: unknown])[]): void {
    try {
      makeFolder(this.#folder);
      for (const [key, value] of records) replaceFile(this.#at(key), JSON.stringify(value), { isLasting: false });
      prune(this.#folder, this.#most);
    } catch {
      // As said above.
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
