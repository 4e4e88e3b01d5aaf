import ts from 'typescript-6';
import { prelude } from '#session/compile/prelude.ts';
import type { NotebookLanguage } from '#shared/notebookLanguage.ts';
import type { LanguageCell } from '#shared/protocol/languageMessages.ts';
import { codeOf } from './cellSource.ts';
import { Files } from './files.ts';

/** A cell in the checker's world. */
type ChainedCell = { id: string; number: number; text: string; code: string; isJsx: boolean; version: number };

/** Where the imports of a notebook start, and what its cells are written in. */
export type ChainSettings = { folder: string; language: NotebookLanguage };

/** How many chains this process has had. */
let chains = 0;

const preludeText = ts.ScriptSnapshot.fromString(prelude);

/** Parts of source files that TypeScript does not declare. */
type Linked = { parent?: ts.Node; locals?: ReadonlyMap<string, ts.Symbol> };

/**
 * The cells of one notebook under a language service of TypeScript, none of them run. Every cell is a module of its own,
 * and the module around it, where its names are looked up next, is the cell before: so a later cell may declare a name
 * again, and nothing that the earlier ones say is lost on the way. The first one stands in what every notebook has.
 */
export class CellChain {
  readonly #folder: string;
  readonly #language: NotebookLanguage;
  readonly #number = ++chains;
  readonly #files: Files;
  readonly #service: ts.LanguageService;
  #cells: ChainedCell[] = [];
  #byFile = new Map<string, ChainedCell>();
  #numbers = 0;
  #linked: ts.Program | undefined;

  constructor({ folder, language }: ChainSettings, registry: ts.DocumentRegistry) {
    this.#language = language;
    this.#folder = ts.sys.resolvePath(folder).replaceAll('\\', '/');
    this.#files = new Files(this.#folder, {
      names: () => [this.#preludeFile, ...this.#cells.map((cell) => this.#fileOf(cell))],
      read: (file) => this.#read(file),
    });
    this.#service = ts.createLanguageService(this.#files.host, registry);
  }

  get folder(): string {
    return this.#folder;
  }

  get ids(): string[] {
    return this.#cells.map((cell) => cell.id);
  }

  /** Takes the cells in the order of the notebook. Returns the index of the first that differs from before. */
  setCells(cells: readonly LanguageCell[]): number {
    const known = new Map(this.#cells.map((cell) => [cell.id, cell]));
    const before = this.#cells;
    const texts = before.map((cell) => cell.text);
    this.#cells = cells.map(({ id, text }) => {
      const cell = known.get(id) ?? { id, number: ++this.#numbers, text: '', code: '', isJsx: false, version: 0 };
      update(cell, text);
      return cell;
    });
    this.#index();
    const same = this.#cells.findIndex((cell, i) => before[i] !== cell || texts[i] !== cell.text);
    return same === -1 ? Math.min(before.length, this.#cells.length) : same;
  }

  /** Takes the new text of a cell. Returns its index, -1 when there is no such cell. */
  setText(id: string, text: string): number {
    const index = this.#cells.findIndex((cell) => cell.id === id);
    const cell = this.#cells[index];
    if (!cell) return -1;
    update(cell, text);
    this.#index();
    return index;
  }

  /** Forgets what was read of files on the disk, and looks for what was not found. */
  filesChanged(): void {
    this.#files.forget();
  }

  /** The service with every cell in its place, and the cell in it; `undefined` for a cell that is not here. */
  of(id: string): { service: ts.LanguageService; file: string; code: string; text: string } | undefined {
    const cell = this.#cells.find((one) => one.id === id);
    if (!cell) return undefined;
    this.#link();
    return { service: this.#service, file: this.#fileOf(cell), code: cell.code, text: cell.text };
  }

  /** The cell behind a file of the service. */
  cellOf(file: string): string | undefined {
    return this.#byFile.get(file)?.id;
  }

  sourceOf(file: string): ts.SourceFile | undefined {
    return this.#link().getSourceFile(file);
  }

  get checker(): ts.TypeChecker {
    return this.#link().getTypeChecker();
  }

  /** Whether a symbol is one that every notebook has before its first cell. */
  isPreloaded(symbol: ts.Symbol): boolean {
    return symbol.declarations?.some((node) => node.getSourceFile().fileName === this.#preludeFile) ?? false;
  }

  /** Names that the notebook itself declares before a cell, and those that it has from the start. */
  namesBefore(file: string): { cells: Set<string>; preloaded: Set<string> } {
    const program = this.#link();
    const localsOf = (name: string): string[] => [
      ...((program.getSourceFile(name) as Linked | undefined)?.locals?.keys() ?? []),
    ];
    const cells = new Set<string>();
    for (const cell of this.#cells) {
      const name = this.#fileOf(cell);
      if (name === file) break;
      for (const local of localsOf(name)) cells.add(local);
    }
    return { cells, preloaded: new Set(localsOf(this.#preludeFile)) };
  }

  /** Lets go of the types that were computed; they are made again when they are needed. */
  rest(): void {
    this.#linked = undefined;
    this.#service.cleanupSemanticCache();
  }

  dispose(): void {
    this.#linked = undefined;
    this.#service.dispose();
  }

  get #preludeFile(): string {
    return `${this.#folder}/__lance_notebook__.ts`;
  }

  /** A name that no cell of another notebook in the folder has: in the registry that they share it would be one file. */
  #fileOf({ number, isJsx }: ChainedCell): string {
    // A file of JavaScript may hold JSX, whatever its name.
    const extension = this.#language === 'javascript' ? 'js' : isJsx ? 'tsx' : 'ts';
    return `${this.#folder}/__lance_cell_${this.#number}_${number}__.${extension}`;
  }

  #index(): void {
    this.#byFile = new Map(this.#cells.map((cell) => [this.#fileOf(cell), cell]));
  }

  #read(file: string): { snapshot: ts.IScriptSnapshot; version: string } | undefined {
    if (file === this.#preludeFile) return { snapshot: preludeText, version: '1' };
    const cell = this.#byFile.get(file);
    return cell && { snapshot: ts.ScriptSnapshot.fromString(cell.code), version: String(cell.version) };
  }

  #link(): ts.Program {
    const program = this.#service.getProgram();
    if (!program) throw new Error('The language service has no program.');
    if (program === this.#linked) return program;
    this.#files.settled();
    // Binding sets what is around a file to nothing, so the checker, which binds, is made before the cells are linked.
    program.getTypeChecker();
    let around = program.getSourceFile(this.#preludeFile);
    for (const cell of this.#cells) {
      const file = program.getSourceFile(this.#fileOf(cell));
      if (!file) continue;
      if (around) (file as Linked).parent = around;
      around = file;
    }
    this.#linked = program;
    return program;
  }
}

function update(cell: ChainedCell, text: string): void {
  if (cell.version > 0 && cell.text === text) return;
  const code = codeOf(text);
  cell.text = text;
  if (cell.version === 0 || code !== cell.code) {
    cell.version++;
    cell.code = code;
    cell.isJsx = looksLikeJsx(code);
  }
}

/** Whether code makes more sense with JSX, in which `<T>x` and `<T>(x) => x` can't be written. */
function looksLikeJsx(code: string): boolean {
  const problems = (kind: ts.ScriptKind): number => {
    const file = ts.createSourceFile('cell.tsx', code, ts.ScriptTarget.Latest, false, kind);
    return (file as { parseDiagnostics?: readonly unknown[] }).parseDiagnostics?.length ?? 0;
  };
  const plain = code.includes('<') ? problems(ts.ScriptKind.TS) : 0;
  return plain > 0 && problems(ts.ScriptKind.TSX) < plain;
}
