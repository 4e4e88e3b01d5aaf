import ts from 'typescript-6';
import { cellOptions } from '#session/compile/cellOptions.ts';
import { readFolderOptions } from '#session/compile/folderOptions.ts';
import { moduleResolver } from '#session/compile/moduleTypes.ts';
import { getDefaultTypeRoots } from '#session/compile/typescript.ts';

type Virtual = {
  names(): string[];
  read(file: string): { text: string; version: string } | undefined;
};

/** Packages and libraries do not change while a notebook is open, but for being installed, which is told. */
const isStill = (file: string): boolean => /\/(?:node_modules|dist\/types)\//.test(file);

/** What the language service sees of the world: the cells, and the disk around them, read once until it is told to be new. */
export class Files {
  readonly host: ts.LanguageServiceHost;
  readonly #versions = new Map<string, string>();
  #isForgotten = false;
  #options: ts.CompilerOptions | undefined;

  constructor(folder: string, virtual: Virtual) {
    const { sys } = ts;
    const fileExists = (file: string): boolean => virtual.read(file) !== undefined || sys.fileExists(file);
    const readFile = (file: string): string | undefined => virtual.read(file)?.text ?? sys.readFile(file);
    const resolve = moduleResolver(sys);
    const host: ts.LanguageServiceHost & { hasInvalidatedResolutions(): boolean } = {
      getCompilationSettings: () => (this.#options ??= optionsOf(folder)),
      getScriptFileNames: () => virtual.names(),
      getScriptVersion: (file) => virtual.read(file)?.version ?? this.#version(file),
      getScriptSnapshot: (file) => {
        const text = readFile(file);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      getCurrentDirectory: () => folder,
      getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
      fileExists,
      readFile,
      directoryExists: (path) => sys.directoryExists(path),
      getDirectories: (path) => sys.getDirectories(path),
      readDirectory: (...args) => sys.readDirectory(...args),
      realpath: (path) => sys.realpath?.(path) ?? path,
      useCaseSensitiveFileNames: () => sys.useCaseSensitiveFileNames,
      resolveModuleNameLiterals: (...args) => resolve(...args),
      // Not declared by TypeScript. Without it an import that was not found is not looked for again.
      hasInvalidatedResolutions: () => this.#isForgotten,
    };
    this.host = host;
  }

  /** Everything that was read of the disk may be different now. */
  forget(): void {
    this.#versions.clear();
    this.#options = undefined;
    this.#isForgotten = true;
  }

  /** To be called when a program was made of what is there now. */
  settled(): void {
    this.#isForgotten = false;
  }

  #version(file: string): string {
    if (isStill(file)) return '1';
    const known = this.#versions.get(file);
    if (known !== undefined) return known;
    const version = String(ts.sys.getModifiedTime?.(file)?.getTime() ?? 0);
    this.#versions.set(file, version);
    return version;
  }
}

/** The options that cells of a folder are checked under, the same as when they run. */
function optionsOf(folder: string): ts.CompilerOptions {
  const options = cellOptions(readFolderOptions(folder).options);
  return { ...options, typeRoots: options.typeRoots ?? getDefaultTypeRoots(folder) };
}
