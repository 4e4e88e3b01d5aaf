import ts from 'typescript-6';
import type { CellHost } from './cellHost.ts';
import { asModule } from '#session/compile/parseCell.ts';

/** A cell within a program, and around it the declarations of the cells before it: in several files, the last one nearest. */
export type LoadedCell = { program: ts.Program; cell: ts.SourceFile; earlier: readonly ts.SourceFile[] };

/** Cells that one checker may see, and the characters of all of them: it keeps what it knows of each. */
const maxCells = 100;
const maxChars = 200_000;
/** Files of declarations, each around the one before: names are looked for in all of them. */
const maxFiles = 16;

/** What the compiler has and does not declare. */
type Internals = { bindSourceFile: (file: ts.SourceFile, options: ts.CompilerOptions) => void };
const { bindSourceFile } = ts as unknown as Internals;

/** What a program sets of its files that TypeScript does not declare. */
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
  /** Modules that declarations of earlier cells may import: those that the program has looked for. */
  readonly modules: ReadonlySet<string>;
  /** Additions to modules and to the globals, which a checker takes in when it is made. */
  readonly additions: string;
  /** The declarations that the last cell was put into, and their text. */
  earlier: readonly [ts.SourceFile, ...ts.SourceFile[]];
  previous: string;
  cells: number;
  chars: number;
};

/**
 * The programs that cells are compiled in. A program and its checker cost ten times what checking a cell does, since a
 * checker begins by merging the globals of hundreds of files; so a cell that asks for nothing new joins the one before:
 * it is a module that nobody imports, which the checker can take although the program does not list it.
 */
export class CellPrograms {
  readonly #host: CellHost;
  readonly #service: ts.LanguageService;
  #open: Open | undefined;

  constructor(host: CellHost, service: ts.LanguageService) {
    this.#host = host;
    this.#service = service;
  }

  /** Loads a cell wherever that is cheap. `isJsx` says whether it is one with JSX. */
  load(previous: string, text: string, isJsx: boolean): LoadedCell {
    return this.#join(previous, text, isJsx) ?? this.inService(previous, text, isJsx);
  }

  /** Loads a cell as the language service's own file. */
  inService(previous: string, text: string, isJsx: boolean): LoadedCell {
    this.#host.update(moduleOf(previous), text, isJsx);
    const program = this.#service.getProgram();
    const cell = program?.getSourceFile(this.#host.cellName);
    const earlier = program?.getSourceFile(this.#host.previousName);
    if (!program || !cell || !earlier) throw new Error('The compiler has lost the cell.');
    put(cell, earlier);
    if (this.#open?.program !== program)
      this.#open = isPlain(text, isJsx) ? open(program, earlier, previous) : undefined;
    return { program, cell, earlier: [earlier] };
  }

  /**
   * Lets no further cell join. For a checker that has found a problem, since it holds back part of what it says the
   * next time, and when modules are to be looked for again.
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
    // Each a name of its own, under which the program keeps its problems.
    const name = this.#host.nameOf(into.cells);
    const cell = addFile(into.program, { name, path: name }, text);
    put(cell, into.earlier.at(-1));
    return { program: into.program, cell, earlier: into.earlier };
  }

  /**
   * Puts the present declarations of earlier cells into a program: mostly those that it has and some more, which are a
   * file of their own then. `false` where it can't tell what they mean.
   */
  #renew(into: Open, previous: string): boolean {
    if (previous === into.previous) return true;
    const isMore = previous.startsWith(into.previous) && into.earlier.length < maxFiles;
    const text = isMore ? previous.slice(into.previous.length) : previous;
    if (modulesOf(text).some((name) => !into.modules.has(name))) return false;
    // Under the path of the program's own file, for which it knows where modules are.
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

/** From here a name that the file does not declare is looked for in the one around it, and at last among the globals. */
function put(file: ts.SourceFile, around: ts.SourceFile | undefined): void {
  if (around) (file as Partial<ProgramFile>).parent = around;
}

/** Whether a cell needs no module, no file and no change of the globals. Words in a text or a comment count, too. */
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

/** The modules that a text imports. */
export const modulesOf = (declarations: string): string[] =>
  ts.preProcessFile(declarations, true, false).importedFiles.map(({ fileName }) => fileName);

const additionsOf = (file: ts.SourceFile): string =>
  file.statements
    .filter((each) => ts.isModuleDeclaration(each) && (!ts.isIdentifier(each.name) || each.name.text === 'global'))
    .map((each) => each.getText(file))
    .join('\n');

const kindOf = (name: string): ts.ScriptKind => (name.endsWith('.js') ? ts.ScriptKind.JS : ts.ScriptKind.TS);

/** A file as a program makes it of a text that imports nothing which the program does not know. */
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
