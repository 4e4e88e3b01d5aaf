import { isBuiltin } from 'node:module';
import { CacheRecords } from './cacheRecords.ts';

/** Part of a record's key, so that another form is another record. */
const form = 1;
/** Folders that are remembered, and packages of each: those that were imported last. */
const [mostFolders, mostPackages] = [60, 8];

/** A package or a file of one, as an import names it. */
const isPackage = (name: unknown): name is string =>
  typeof name === 'string' && /^(?:@[\w.-]+\/)?[\w-][\w.-]*(?:\/|$)/.test(name) && !isBuiltin(name);

/** Which packages the notebooks of a folder imported last, so that the next one there can be ready for them. */
export class ImportRecords {
  readonly #records: CacheRecords;

  /** @param where the folder of the records */
  constructor(where: string) {
    this.#records = new CacheRecords(where, mostFolders);
  }

  /** The packages of a notebook's folder, what was imported last first. */
  packagesOf(folder: string): string[] {
    const found = this.#records.read(keyOf(folder));
    return Array.isArray(found) ? found.filter(isPackage).slice(0, mostPackages) : [];
  }

  /** Puts what a notebook imports before what is known of its folder. */
  note(folder: string, names: readonly string[]): void {
    const known = this.packagesOf(folder);
    const packages = [...new Set([...names.filter(isPackage), ...known])].slice(0, mostPackages);
    if (packages.join() !== known.join()) this.#records.write([[keyOf(folder), packages]]);
  }
}

const keyOf = (folder: string): string => `${form} ${folder}`;
