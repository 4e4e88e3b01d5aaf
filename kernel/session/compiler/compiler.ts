import ts from 'typescript-6';
import { type CellConverter, type CellService, createCellConverter } from '#session/compile/cellConverter.ts';
import { type CellProblem, missingName } from '#session/compile/cellProblems.ts';
import { prelude } from '#session/compile/prelude.ts';
import { messageOf } from '#shared/errors.ts';
import type { NotebookLanguage } from '#shared/notebookLanguage.ts';
import type { TypeCheck } from '#shared/protocol/kernelMessages.ts';
import { modulesOf } from './cellPrograms.ts';
import { type FolderOptions, readFolderOptions, stampOfOptions } from './folderOptions.ts';

type CompiledCell = {
  problems: CellProblem[];
  /** Code to run; undefined if the cell must not run. */
  output: string | undefined;
  /** Names declared at the top level, types included. */
  names: readonly string[];
  /** A message to print once with the cell's output. */
  remark: string | undefined;
  /** The tsconfig.json whose checks apply, if they may be the reason why the cell must not run. */
  checkedBy: string | undefined;
};

const relativeImport = /(\bfrom |\bimport\()(["'])(\.{1,2}\/[^"'\n]*)\2/g;

/**
 * The compiler of one notebook. Keeps the declarations of the cells that ran, follows the working directory, and
 * replaces a converter that was terminated halfway.
 */
export class CellCompiler {
  #typeCheck: TypeCheck = 'error';
  #language: NotebookLanguage = 'typescript';
  #converter: CellConverter | undefined;
  #declarations = prelude;
  #folder = process.cwd();
  #options: FolderOptions | undefined;
  #optionsStamp = '';
  #remark: string | undefined;
  #isBusy = false;
  /** Names that only refused cells declare, with the number of the last such cell. */
  readonly #refused = new Map<string, number>();

  /**
   * What the compiler does about a type error: refuse the cell, print the error with the output of the cell, or not
   * check types. `off` for JavaScript.
   */
  get typeCheck(): TypeCheck {
    return this.#language === 'javascript' ? 'off' : this.#typeCheck;
  }

  set typeCheck(mode: TypeCheck) {
    this.#typeCheck = mode;
  }

  get language(): NotebookLanguage {
    return this.#language;
  }

  set language(language: NotebookLanguage) {
    if (language === this.#language) return;
    this.#language = language;
    this.#closeConverter();
  }

  /** The notebook's folder, from which imports resolve: the working directory of the process. */
  get folder(): string {
    return this.#folder;
  }

  /** Options of the folder's tsconfig.json, for the files that cells import. */
  get folderOptions(): ts.CompilerOptions {
    return this.#options?.options ?? {};
  }

  /** The declarations of all cells that ran, as text. */
  get declarations(): string {
    return this.#declarations;
  }

  /**
   * Compiles a cell. Unless the cell is refused, it counts as run: later cells see its declarations.
   * @param count number of the cell, for the errors of later cells that need a name of this one
   */
  compile(source: string, count: number): CompiledCell {
    const check = this.typeCheck !== 'off';
    const converted = this.#use((it) => it.convert(this.#declarations, source, { check }));
    const { output, declarations, names } = converted;
    const problems = converted.problems.map((problem) => this.#withRefusedCell(problem));
    const isRefused = this.typeCheck === 'error' && problems.some(({ severity }) => severity === 'error');
    const remark = this.#remark;
    this.#remark = undefined;
    if (isRefused || output === undefined) {
      for (const name of names) this.#refused.set(name, count);
      const checkedBy = output === undefined ? undefined : this.#options?.checkedBy;
      return { problems, output: undefined, names: [], remark, checkedBy };
    }
    for (const name of names) this.#refused.delete(name);
    this.#declarations = declarations;
    return { problems, output, names, remark, checkedBy: undefined };
  }

  /** Adds the cell that failed to an error about a name that this cell would have declared. */
  #withRefusedCell(problem: CellProblem): CellProblem {
    const name = missingName(problem);
    const count = name === undefined ? undefined : this.#refused.get(name);
    if (count === undefined) return problem;
    return {
      ...problem,
      message: `Cannot find name '${name}': cell [${count}], which declares it, did not run. Fix and run that cell first.`,
    };
  }

  /** Returns a language service over code that is being typed. */
  service(source: string): CellService {
    return this.#use((it) => it.service(this.#declarations, source));
  }

  /** Forgets the declarations of cells. */
  reset(): void {
    this.#declarations = prelude;
    this.#refused.clear();
  }

  /** Searches again for modules that were not found. */
  refresh(): void {
    this.#converter?.refresh();
  }

  /** Loads the compiler's libraries, which takes most of a second the first time. */
  warmUp(): void {
    this.#use((it) => it.convert(this.#declarations, '1'));
  }

  /** Returns the modules that cells import, by their specifiers. */
  imports(): string[] {
    const given = new Set(modulesOf(prelude));
    return [...new Set(modulesOf(this.#declarations))].filter((name) => !given.has(name));
  }

  /** Loads the declarations of a package, as a cell that imports it would. */
  prepare(name: string): void {
    // `keyof` does the expensive part of an import: for each export the compiler checks whether it is a value.
    const source = `import * as it from ${JSON.stringify(name)};\ntype Keys = keyof typeof it;`;
    this.#use((converter) => converter.rehearse(this.#declarations, source));
    this.warmUp();
  }

  /**
   * Drops the converter if it was terminated halfway, because it is inconsistent then. Called after code was
   * terminated.
   */
  recover(): void {
    if (!this.#isBusy) return;
    this.#isBusy = false;
    this.#converter = undefined;
  }

  // Runs an action with the converter. Uses no try/finally on purpose. If the code is terminated, neither a `finally`
  // nor the steps after the action run. So `#isBusy` stays true, and `recover` detects the termination.
  #use<T>(action: (converter: CellConverter) => T): T {
    this.#isBusy = true;
    try {
      this.#follow();
      const result = action((this.#converter ??= this.#create()));
      this.#isBusy = false;
      return result;
    } catch (error) {
      this.recover();
      throw error;
    }
  }

  #create(): CellConverter {
    this.#options = readFolderOptions(this.#folder);
    this.#optionsStamp = stampOfOptions(this.#folder);
    this.#remark = this.#options.problem;
    return createCellConverter({
      folder: this.#folder,
      compilerOptions: this.#options.options,
      language: this.#language,
    });
  }

  /** Follows the notebook to another folder, and reads its tsconfig.json again if the file has changed. */
  #follow(): void {
    const folder = workingDirectory() ?? this.#folder;
    const isChanged = this.#options !== undefined && stampOfOptions(this.#folder) !== this.#optionsStamp;
    if (folder !== this.#folder) {
      this.#declarations = absoluteImports(this.#declarations, this.#folder);
      this.#folder = folder;
    } else if (!isChanged) return;
    this.#closeConverter();
  }

  #closeConverter(): void {
    this.#converter?.close();
    this.#converter = undefined;
  }
}

/** Converts relative imports in declarations of another folder to absolute imports. */
const absoluteImports = (declarations: string, folder: string): string =>
  declarations.replace(
    relativeImport,
    (_, head: string, quote: string, path: string) =>
      `${head}${quote}${ts.sys.resolvePath(`${folder}/${path}`)}${quote}`,
  );

function workingDirectory(): string | undefined {
  try {
    return process.cwd();
  } catch (error) {
    // The working directory was deleted. Then the earlier folder is still used.
    if (/uv_cwd/.test(messageOf(error))) return undefined;
    throw error;
  }
}

/** Gives the compiler its own base64 functions for source maps, because a cell may replace `globalThis.Buffer`. */
export function keepGlobalsOfCompiler(): void {
  ts.sys.base64encode = (text) => Buffer.from(text, 'utf8').toString('base64');
  ts.sys.base64decode = (text) => Buffer.from(text, 'base64').toString('utf8');
}
