import { join } from 'node:path';
import { cacheFolder } from '#processes/userFolders.ts';
import type { CellCompiler } from '#session/compiler/compiler.ts';
import { ImportRecords } from '#session/compiler/importRecords.ts';
import { keepFiles } from '#session/compiler/installedFiles.ts';

/**
 * A pause of this length means that no cell runs. It is longer than the pauses between cells that run one after the
 * other.
 */
const stillMs = 250;

/**
 * Loads the declarations of packages that notebooks in this folder imported last, while no cell runs. This saves half
 * the time of a first import. Packages are loaded one at a time, so that a cell that starts meanwhile waits for at most
 * one package.
 */
export class ImportPrefetch {
  readonly #compiler: CellCompiler;
  readonly #records: ImportRecords;
  /** Packages still to load; undefined before the first pause. */
  #left: string[] | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(compiler: CellCompiler, records = new ImportRecords(join(cacheFolder(), 'imports'))) {
    this.#compiler = compiler;
    // Preloaded files would be dropped otherwise, because they belong to no program until a cell imports them.
    keepFiles();
    this.#records = records;
  }

  /** Called when no cell runs. */
  rest(): void {
    if (this.#left?.length === 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#next(), stillMs).unref();
  }

  /** Called when a cell starts. */
  work(): void {
    clearTimeout(this.#timer);
  }

  keep(): void {
    this.#records.note(this.#compiler.folder, this.#compiler.imports());
  }

  #next(): void {
    // Without a type check the declarations are not needed.
    if (this.#compiler.typeCheck === 'off') return;
    this.#left ??= this.#records.packagesOf(this.#compiler.folder);
    const name = this.#left.shift();
    if (name === undefined) return;
    try {
      if (!this.#compiler.imports().includes(name)) this.#compiler.prepare(name);
    } catch {
      // The error is dropped, because a cell that imports the package reports the problem.
    }
    this.#timer = setTimeout(() => this.#next()).unref();
  }
}
