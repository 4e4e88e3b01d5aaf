import { statSync } from 'node:fs';
import ts from 'typescript-6';
import type { NotebookLanguage } from '#shared/notebookLanguage.ts';
import { installedText, isInstalled, newVersion } from './installedFiles.ts';
import { moduleResolver, typesResolver } from './moduleTypes.ts';
import { getDefaultTypeRoots } from './typeRoots.ts';

/**
 * The compiler's view of a cell and the declarations before it: two files that seem to be in the notebook's folder, but
 * are not on disk.
 */
export class CellHost implements ts.LanguageServiceHost {
  readonly previousName: string;
  readonly #folder: string;
  readonly #options: ts.CompilerOptions;
  readonly #plainName: string;
  readonly #jsxName: string;
  readonly #resolutions: ts.ModuleResolutionCache;
  readonly resolveModuleNameLiterals: NonNullable<ts.LanguageServiceHost['resolveModuleNameLiterals']>;
  readonly resolveTypeReferenceDirectiveReferences = typesResolver(ts.sys);
  #cellName: string;
  #cell: Text;
  #previous: Text;
  /** The user's own files, which change while the notebook is open. */
  readonly #own = new Map<string, string>();

  readonly #extension: 'js' | 'ts';

  constructor(folder: string, options: ts.CompilerOptions, language: NotebookLanguage = 'typescript') {
    const here = ts.sys.resolvePath(folder);
    this.#folder = here;
    this.#options = { ...options, typeRoots: options.typeRoots ?? getDefaultTypeRoots(here) };
    this.previousName = `${here}/__previous__.d.ts`;
    this.#extension = language === 'javascript' ? 'js' : 'ts';
    this.#plainName = `${here}/__cell__.${this.#extension}`;
    this.#jsxName = `${here}/__cell__.${this.#extension}x`;
    this.#cellName = this.#plainName;
    this.#cell = textOf('');
    this.#previous = textOf('');
    this.#resolutions = ts.createModuleResolutionCache(here, canonical, this.#options);
    this.resolveModuleNameLiterals = moduleResolver(ts.sys, this.#resolutions);
  }

  get cellName(): string {
    return this.#cellName;
  }

  /** Returns a file name for a cell that is not in one of the two files. */
  nameOf(number: number): string {
    return `${this.#folder}/__cell_${number}__.${this.#extension}`;
  }

  /** Whether the user's own files are unchanged on disk since they were read. */
  isCurrent(): boolean {
    return [...this.#own].every(([file, stamp]) => stampOf(file) === stamp);
  }

  /**
   * Sets the text of the two files. If the text of a file is unchanged, the file keeps its version, so that TypeScript
   * computes nothing again.
   */
  update(previous: string, cell: string, hasJsx: boolean): void {
    this.#cellName = hasJsx ? this.#jsxName : this.#plainName;
    if (previous !== this.#previous.text) this.#previous = textOf(previous);
    if (cell !== this.#cell.text) this.#cell = textOf(cell);
    for (const file of this.#own.keys()) this.#own.set(file, stampOf(file));
  }

  /** Gives both files new versions, so that their modules are resolved again. */
  refresh(): void {
    this.#resolutions.clear();
    this.#previous = textOf(this.#previous.text);
    this.#cell = textOf(this.#cell.text);
  }

  getCompilationSettings(): ts.CompilerOptions {
    return this.#options;
  }

  getScriptFileNames(): string[] {
    return [this.previousName, this.#cellName];
  }

  getScriptVersion(file: string): string {
    const text = this.#virtual(file);
    if (text) return String(text.version);
    if (isInstalled(file)) return '0';
    const known = this.#own.get(file);
    if (known !== undefined) return known;
    const stamp = stampOf(file);
    this.#own.set(file, stamp);
    return stamp;
  }

  getScriptSnapshot(file: string): ts.IScriptSnapshot | undefined {
    const virtual = this.#virtual(file);
    if (virtual) return virtual.snapshot;
    if (isInstalled(file)) return installedText(file);
    const text = ts.sys.readFile(file);
    return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
  }

  /**
   * TypeScript calls this method but does not declare it. Without this method, TypeScript reads a package.json for
   * every file of every package in every cell.
   */
  getModuleResolutionCache(): ts.ModuleResolutionCache {
    return this.#resolutions;
  }

  getCurrentDirectory(): string {
    return this.#folder;
  }

  getDefaultLibFileName(options: ts.CompilerOptions): string {
    return ts.getDefaultLibFilePath(options);
  }

  useCaseSensitiveFileNames(): boolean {
    return ts.sys.useCaseSensitiveFileNames;
  }

  fileExists(file: string): boolean {
    return this.#virtual(file) !== undefined || ts.sys.fileExists(file);
  }

  readFile(file: string): string | undefined {
    return this.#virtual(file)?.text ?? ts.sys.readFile(file);
  }

  directoryExists(folder: string): boolean {
    return ts.sys.directoryExists(folder);
  }

  getDirectories(folder: string): string[] {
    return ts.sys.getDirectories(folder);
  }

  realpath(path: string): string {
    return ts.sys.realpath?.(path) ?? path;
  }

  #virtual(file: string): Text | undefined {
    if (file === this.#cellName) return this.#cell;
    return file === this.previousName ? this.#previous : undefined;
  }
}

const canonical = (name: string): string => (ts.sys.useCaseSensitiveFileNames ? name : name.toLowerCase());

type Text = { text: string; version: number; snapshot: ts.IScriptSnapshot };

const textOf = (text: string): Text => ({
  text,
  version: newVersion(),
  snapshot: ts.ScriptSnapshot.fromString(text),
});

function stampOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat ? `${stat.mtimeMs}:${stat.size}` : 'none';
}
