import { join } from 'node:path';
import { cacheFolder } from '#processes/userFolders.ts';
import type { CellCompiler } from '#session/compiler/compiler.ts';
import { ImportRecords } from '#session/compiler/importRecords.ts';
import { keepFiles } from '#session/compiler/installedFiles.ts';

/** Cells that are run one after the other leave shorter pauses. */
const stillMs = 250;

/**
 * Loads the declarations of packages that notebooks of this folder imported last, while nothing runs: half of what a
 * first import takes is that. A package at a time, so that a cell that comes meanwhile waits for one at most.
 */
export class Preparation {
  readonly #compiler: CellCompiler;
  readonly #records: ImportRecords;
  /** Packages still to be loaded; undefined before the first pause. */
  #left: string[] | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(compiler: CellCompiler, records = new ImportRecords(join(cacheFolder(), 'imports'))) {
    this.#compiler = compiler;
    // What is loaded ahead belongs to no program until a cell imports it.
    keepFiles();
    this.#records = records;
  }

  /** Nothing runs from here on. */
  rest(): void {
    if (this.#left?.length === 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#next(), stillMs).unref();
  }

  /** A cell begins. */
  work(): void {
    clearTimeout(this.#timer);
  }

  /** Writes down what this notebook imports. */
  keep(): void {
    this.#records.note(this.#compiler.folder, this.#compiler.imports());
  }

  #next(): void {
    // What nobody checks is not needed either.
    if (this.#compiler.typeCheck === 'off') return;
    this.#left ??= this.#records.packagesOf(this.#compiler.folder);
    const name = this.#left.shift();
    if (name === undefined) return;
    try {
      if (!this.#compiler.imports().includes(name)) this.#compiler.prepare(name);
    } catch {
      // A cell that imports it says what is wrong with it.
    }
    this.#timer = setTimeout(() => this.#next()).unref();
  }
}
