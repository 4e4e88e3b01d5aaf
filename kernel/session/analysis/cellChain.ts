import ts from 'typescript-6';
import type { NotebookLanguage } from '#shared/notebookLanguage.ts';
import type { LanguageCell } from '#shared/protocol/languageMessages.ts';
import { codeOf } from './cellSource.ts';
import { Files } from './files.ts';
import { notebookPrelude, type RowColumns } from './notebookPrelude.ts';

/** A cell as a file of the language service. */
type ChainedCell = { id: string; number: number; text: string; code: string; isJsx: boolean; version: number };

/** The folder from which a notebook's imports resolve, and the language of its cells. */
export type ChainSettings = { folder: string; language: NotebookLanguage };

/** Number of chains created in this process. */
let chains = 0;

/** Properties of source files that TypeScript does not declare. */
type Linked = { parent?: ts.Node; locals?: ReadonlyMap<string, ts.Symbol> };

/**
 * Checks the cells of one notebook with a TypeScript language service, without running them. Every cell is a separate
 * module. The parent of a cell's file is the file of the previous cell. So if a cell does not declare a name,
 * TypeScript looks the name up in the previous cell. A later cell may redeclare a name, and all earlier declarations
 * stay visible. The parent of the first cell is the prelude.
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
  #prelude = { text: notebookPrelude([]), version: 1 };

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

  /** Sets the cells in notebook order. Returns the index of the first changed cell. */
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

  /** Sets the text of a cell. Returns the index of the cell, or -1 if the cell does not exist. */
  setText(id: string, text: string): number {
    const index = this.#cells.findIndex((cell) => cell.id === id);
    const cell = this.#cells[index];
    if (!cell) return -1;
    update(cell, text);
    this.#index();
    return index;
  }

  /** Sets the tables whose rows have types. Returns whether this changes what cells mean. */
  setTables(tables: readonly RowColumns[]): boolean {
    const text = notebookPrelude(tables);
    const { text: before, version } = this.#prelude;
    if (text !== before) this.#prelude = { text, version: version + 1 };
    return text !== before;
  }

  /** Forgets everything read from disk, including which imports failed. */
  filesChanged(): void {
    this.#files.forget();
  }

  /** Returns the service and a cell's file in it; `undefined` for an unknown cell. */
  of(id: string): { service: ts.LanguageService; file: string; code: string; text: string } | undefined {
    const cell = this.#cells.find((one) => one.id === id);
    if (!cell) return undefined;
    this.#link();
    return { service: this.#service, file: this.#fileOf(cell), code: cell.code, text: cell.text };
  }

  /** Returns the cell whose code is in a file of the service. */
  cellOf(file: string): string | undefined {
    return this.#byFile.get(file)?.id;
  }

  /** Returns the parsed cells in notebook order. */
  get sources(): ts.SourceFile[] {
    const program = this.#link();
    return this.#cells.flatMap((cell) => program.getSourceFile(this.#fileOf(cell)) ?? []);
  }

  sourceOf(file: string): ts.SourceFile | undefined {
    return this.#link().getSourceFile(file);
  }

  get checker(): ts.TypeChecker {
    return this.#link().getTypeChecker();
  }

  /** Whether the prelude declares a symbol. */
  isPreloaded(symbol: ts.Symbol): boolean {
    return symbol.declarations?.some((node) => node.getSourceFile().fileName === this.#preludeFile) ?? false;
  }

  /** Returns the names that cells before a file declare, and those of the prelude. */
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

  /** Drops the computed types, to free memory. They are computed again when needed. */
  rest(): void {
    this.#linked = undefined;
    this.#service.cleanupSemanticCache();
  }

  dispose(): void {
    this.#linked = undefined;
    this.#service.dispose();
  }

  get #preludeFile(): string {
    return `${this.#folder}/__lance_notebook_${this.#number}__.ts`;
  }

  /**
   * Returns the file name of a cell. The names of cells and preludes must be unique among the notebooks of a folder,
   * because the notebooks share a registry that treats equal names as one file.
   */
  #fileOf({ number, isJsx }: ChainedCell): string {
    // A JavaScript file may contain JSX regardless of its extension.
    const extension = this.#language === 'javascript' ? 'js' : isJsx ? 'tsx' : 'ts';
    return `${this.#folder}/__lance_cell_${this.#number}_${number}__.${extension}`;
  }

  #index(): void {
    this.#byFile = new Map(this.#cells.map((cell) => [this.#fileOf(cell), cell]));
  }

  #read(file: string): { snapshot: ts.IScriptSnapshot; version: string } | undefined {
    if (file === this.#preludeFile) {
      const { text, version } = this.#prelude;
      return { snapshot: ts.ScriptSnapshot.fromString(text), version: String(version) };
    }
    const cell = this.#byFile.get(file);
    return cell && { snapshot: ts.ScriptSnapshot.fromString(cell.code), version: String(cell.version) };
  }

  #link(): ts.Program {
    const program = this.#service.getProgram();
    if (!program) throw new Error('The language service has no program.');
    if (program === this.#linked) return program;
    this.#files.settled();
    // Creates the checker before the cells are linked, because the checker binds each file, and binding resets the
    // parent of the file.
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

/** Whether code has fewer syntax errors as TSX than as TypeScript. In TSX, `<T>x` and `<T>(x) => x` are invalid. */
function looksLikeJsx(code: string): boolean {
  const problems = (kind: ts.ScriptKind): number => {
    const file = ts.createSourceFile('cell.tsx', code, ts.ScriptTarget.Latest, false, kind);
    return (file as { parseDiagnostics?: readonly unknown[] }).parseDiagnostics?.length ?? 0;
  };
  const plain = code.includes('<') ? problems(ts.ScriptKind.TS) : 0;
  return plain > 0 && problems(ts.ScriptKind.TSX) < plain;
}
