import ts from 'typescript-6';
import type { CellHost } from './cellHost.ts';
import { asModule } from '#session/compile/parseCell.ts';

/**
 * A cell in a program, with the files that declare earlier cells. TypeScript searches a name in the last of these files
 * first.
 */
export type LoadedCell = { program: ts.Program; cell: ts.SourceFile; earlier: readonly ts.SourceFile[] };

/**
 * Maximum number of cells in one checker, and maximum number of characters in their code and declarations. The limits
 * are needed because a checker keeps its results for every cell.
 */
const maxCells = 100;
const maxChars = 200_000;
/** Maximum number of nested declaration files, because a name lookup visits all of them. */
const maxFiles = 16;

/** Internals that TypeScript does not declare. */
type Internals = { bindSourceFile: (file: ts.SourceFile, options: ts.CompilerOptions) => void };
const { bindSourceFile } = ts as unknown as Internals;

/** Properties that a program sets on its files and TypeScript does not declare. */
type ProgramFile = {
  parent?: ts.Node;
  path: string;
  resolvedPath: string;
  originalFileName: string;
  imports: readonly ts.StringLiteralLike[];
  moduleAugmentations: readonly ts.Node[];
  ambientModuleNames: readonly string[];
};

/** A program that further cells may join. */
type Open = {
  readonly program: ts.Program;
  /** Modules that the declarations of earlier cells may import. They are the modules that the program has resolved. */
  readonly modules: ReadonlySet<string>;
  /** Declarations that add to modules and to the globals. A checker reads these only when it is created. */
  readonly additions: string;
  /** The declarations around the last cell, and their text. */
  earlier: readonly [ts.SourceFile, ...ts.SourceFile[]];
  previous: string;
  cells: number;
  chars: number;
};

/**
 * The programs that cells are compiled in. Creating a program and its checker costs ten times as much as checking a
 * cell, because a checker first merges the globals of hundreds of files. So a cell without new imports joins the
 * program of the previous cell, as a module that nothing imports. This works because the checker accepts a file that
 * the program does not list.
 */
export class CellPrograms {
  readonly #host: CellHost;
  readonly #service: ts.LanguageService;
  #open: Open | undefined;

  constructor(host: CellHost, service: ts.LanguageService) {
    this.#host = host;
    this.#service = service;
  }

  /** Loads a cell, into the open program if possible. */
  load(previous: string, text: string, isJsx: boolean): LoadedCell {
    return this.#join(previous, text, isJsx) ?? this.inService(previous, text, isJsx);
  }

  /** Loads a cell as a file of the language service. */
  inService(previous: string, text: string, isJsx: boolean): LoadedCell {
    this.#host.update(moduleOf(previous), text, isJsx);
    const program = this.#service.getProgram();
    const cell = program?.getSourceFile(this.#host.cellName);
    const earlier = program?.getSourceFile(this.#host.previousName);
    if (!program || !cell || !earlier) throw new Error('The compiler has no program for the cell.');
    put(cell, earlier);
    if (this.#open?.program !== program)
      this.#open = isPlain(text, isJsx) ? open(program, earlier, previous) : undefined;
    return { program, cell, earlier: [earlier] };
  }

  /**
   * Closes the program to further cells. Called when modules must be resolved again, and when a checker has found a
   * problem, because the same checker would report only a part of the problem the next time.
   */
  leave(): void {
    this.#open = undefined;
  }

  #join(previous: string, text: string, isJsx: boolean): LoadedCell | undefined {
    const into = this.#open;
    if (!into || !isPlain(text, isJsx) || into.cells >= maxCells || into.chars >= maxChars) return undefined;
    if (!this.#host.isCurrent() || !this.#renew(into, previous)) return undefined;
    into.cells++;
    into.chars += text.length;
    // Each cell has a unique file name, because the program stores problems by file name.
    const name = this.#host.nameOf(into.cells);
    const cell = addFile(into.program, { name, path: name }, text);
    put(cell, into.earlier.at(-1));
    return { program: into.program, cell, earlier: into.earlier };
  }

  /**
   * Sets the declarations of earlier cells in a program. If declarations were only added, as usual, the added
   * declarations go into a separate file. Returns `false` if the program can't resolve the declarations.
   */
  #renew(into: Open, previous: string): boolean {
    if (previous === into.previous) return true;
    const isMore = previous.startsWith(into.previous) && into.earlier.length < maxFiles;
    const text = isMore ? previous.slice(into.previous.length) : previous;
    if (modulesOf(text).some((name) => !into.modules.has(name))) return false;
    // Uses the path of the program's own file, because modules are already resolved for that path.
    const [first] = into.earlier;
    const { path } = first as Partial<ProgramFile>;
    const name = this.#host.previousName;
    const file = addFile(into.program, { name, path: path ?? name }, moduleOf(text));
    if (additionsOf(file) !== (isMore ? '' : into.additions)) return false;
    if (isMore) put(file, into.earlier.at(-1));
    into.earlier = isMore ? [...into.earlier, file] : [file];
    into.chars += text.length;
    into.previous = previous;
    return true;
  }
}

const moduleOf = (previous: string): string => `export {};\n${previous}`;

/**
 * Makes one file the outer scope of another. Names that the inner file does not declare resolve in the outer file, and
 * finally among the globals.
 */
function put(file: ts.SourceFile, around: ts.SourceFile | undefined): void {
  if (around) (file as Partial<ProgramFile>).parent = around;
}

/**
 * Whether a cell imports no module, refers to no file and does not change the globals. Matches in strings and comments
 * count too, so the result may be false without need.
 */
const isPlain = (text: string, isJsx: boolean): boolean =>
  !isJsx && !/\b(?:import|declare)\b|\bexport\b[^;]*\bfrom\b|\/\/\//.test(text);

const open = (program: ts.Program, earlier: ts.SourceFile, previous: string): Open => ({
  program,
  earlier: [earlier],
  previous,
  modules: new Set(modulesOf(previous)),
  additions: additionsOf(earlier),
  cells: 0,
  chars: 0,
});

/** Returns the modules that declarations import. */
export const modulesOf = (declarations: string): string[] =>
  ts.preProcessFile(declarations, true, false).importedFiles.map(({ fileName }) => fileName);

const additionsOf = (file: ts.SourceFile): string =>
  file.statements
    .filter((each) => ts.isModuleDeclaration(each) && (!ts.isIdentifier(each.name) || each.name.text === 'global'))
    .map((each) => each.getText(file))
    .join('\n');

const kindOf = (name: string): ts.ScriptKind => (name.endsWith('.js') ? ts.ScriptKind.JS : ts.ScriptKind.TS);

/** Creates a source file for a program. The program must already have resolved the imports in the text. */
function addFile(program: ts.Program, { name, path }: { name: string; path: string }, text: string): ts.SourceFile {
  const options = program.getCompilerOptions();
  const languageVersion = options.target ?? ts.ScriptTarget.Latest;
  const file = ts.createSourceFile(name, text, { ...asModule, languageVersion }, false, kindOf(name));
  const added: Partial<ProgramFile> = {
    path,
    resolvedPath: path,
    originalFileName: name,
    imports: [],
    moduleAugmentations: [],
    ambientModuleNames: [],
  };
  Object.assign(file, added);
  bindSourceFile(file, options);
  return file;
}
