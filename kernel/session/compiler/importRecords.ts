import { isBuiltin } from 'node:module';
import { CacheRecords } from './cacheRecords.ts';

/** Version of the format, part of a record's key. */
const form = 1;
/** Maximum number of folders, and maximum number of packages per folder. The latest folders and packages are kept. */
const [mostFolders, mostPackages] = [60, 8];

/** Whether an import names a package or a file of a package. */
const isPackage = (name: unknown): name is string =>
  typeof name === 'string' && /^(?:@[\w.-]+\/)?[\w-][\w.-]*(?:\/|$)/.test(name) && !isBuiltin(name);

/** The packages that notebooks of a folder imported last, so that the next notebook in that folder can preload them. */
export class ImportRecords {
  readonly #records: CacheRecords;

  /** @param where the folder of the records */
  constructor(where: string) {
    this.#records = new CacheRecords(where, mostFolders);
  }

  /** Returns the packages of a notebook's folder, the last imported first. */
  packagesOf(folder: string): string[] {
    const found = this.#records.read(keyOf(folder));
    return Array.isArray(found) ? found.filter(isPackage).slice(0, mostPackages) : [];
  }

  /** Records the imports of a notebook before the known packages of its folder. */
  note(folder: string, names: readonly string[]): void {
    const known = this.packagesOf(folder);
    const packages = [...new Set([...names.filter(isPackage), ...known])].slice(0, mostPackages);
    if (packages.join() !== known.join()) this.#records.write([[keyOf(folder), packages]]);
  }
}

const keyOf = (folder: string): string => `${form} ${folder}`;
