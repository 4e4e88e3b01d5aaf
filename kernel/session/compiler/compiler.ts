import ts from 'typescript-6';
import { type CellConverter, type CellService, createCellConverter } from '#session/compile/cellConverter.ts';
import type { CellProblem } from '#session/compile/cellProblems.ts';
import { prelude } from '#session/compile/prelude.ts';
import { messageOf } from '#shared/errors.ts';
import type { NotebookLanguage } from '#shared/notebookLanguage.ts';
import type { TypeCheck } from '#shared/protocol/kernelMessages.ts';
import { modulesOf } from './cellPrograms.ts';
import { type FolderOptions, readFolderOptions, stampOfOptions } from './folderOptions.ts';

type CompiledCell = {
  problems: CellProblem[];
  /** What is to be run; undefined when the cell is refused. */
  output: string | undefined;
  /** Names of its top level, of types too. */
  names: readonly string[];
  /** To be said beside the cell's output, once. */
  remark: string | undefined;
};

const relativeImport = /(\bfrom |\bimport\()(["'])(\.{1,2}\/[^"'\n]*)\2/g;

/**
 * The compiler of one notebook: keeps the declarations of the cells that ran, follows the working directory, and replaces
 * a converter that was stopped in the middle.
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

  /** What a type error does to a cell: refuses it, is printed beside it, or is not looked for. `off` for JavaScript. */
  get typeCheck(): TypeCheck {
    return this.#language === 'javascript' ? 'off' : this.#typeCheck;
  }

  set typeCheck(mode: TypeCheck) {
    this.#typeCheck = mode;
  }

  /** What the cells are written in. */
  get language(): NotebookLanguage {
    return this.#language;
  }

  set language(language: NotebookLanguage) {
    if (language === this.#language) return;
    this.#language = language;
    this.#closeConverter();
  }

  /** The notebook's folder, from where imports are resolved: the process's working directory. */
  get folder(): string {
    return this.#folder;
  }

  /** Options of the folder's tsconfig.json, for the files that cells import. */
  get folderOptions(): ts.CompilerOptions {
    return this.#options?.options ?? {};
  }

  /** What all cells that ran declare, as text. */
  get declarations(): string {
    return this.#declarations;
  }

  /** Compiles a cell. One that is not refused counts as run: later cells know what it declares. */
  compile(source: string): CompiledCell {
    const check = this.typeCheck !== 'off';
    const { problems, output, declarations, names } = this.#use((it) =>
      it.convert(this.#declarations, source, { check }),
    );
    const isRefused = this.typeCheck === 'error' && problems.some(({ severity }) => severity === 'error');
    const remark = this.#remark;
    this.#remark = undefined;
    if (isRefused || output === undefined) return { problems, output: undefined, names: [], remark };
    this.#declarations = declarations;
    return { problems, output, names, remark };
  }

  /** TypeScript's language service over code that is being typed. */
  service(source: string): CellService {
    return this.#use((it) => it.service(this.#declarations, source));
  }

  /** Forgets what cells declared. */
  reset(): void {
    this.#declarations = prelude;
  }

  /** Looks for modules again that were not there before. */
  refresh(): void {
    this.#converter?.refresh();
  }

  /** Loads the compiler's libraries, which takes most of a second the first time. */
  warmUp(): void {
    this.#use((it) => it.convert(this.#declarations, '1'));
  }

  /** The modules that cells import, as they name them. */
  imports(): string[] {
    const given = new Set(modulesOf(prelude));
    return [...new Set(modulesOf(this.#declarations))].filter((name) => !given.has(name));
  }

  /** Loads what a package declares, as a cell that imports it would have to. */
  prepare(name: string): void {
    // Its keys, since they are what takes the time: of each export is asked whether it is a value.
    const source = `import * as it from ${JSON.stringify(name)};\ntype Keys = keyof typeof it;`;
    this.#use((converter) => converter.rehearse(this.#declarations, source));
    this.warmUp();
  }

  /** To be called after code was stopped: a compiler cut off in the middle has no consistent state any more. */
  recover(): void {
    if (!this.#isBusy) return;
    this.#isBusy = false;
    this.#converter = undefined;
  }

  // Not try/finally: when the code is stopped no `finally` runs, and that is how `recover` knows.
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

  /** Goes where the notebook went, and reads its tsconfig.json again when that has changed. */
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

/** Declarations that were written for another folder, with their relative imports spelled out. */
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
    // Someone deleted it; what was found there is known still.
    if (/uv_cwd/.test(messageOf(error))) return undefined;
    throw error;
  }
}

/**
 * Gives the compiler what it would take from `globalThis.Buffer` whenever it writes a source map: a cell may replace that.
 */
export function keepGlobalsOfCompiler(): void {
  ts.sys.base64encode = (text) => Buffer.from(text, 'utf8').toString('base64');
  ts.sys.base64decode = (text) => Buffer.from(text, 'base64').toString('utf8');
}
