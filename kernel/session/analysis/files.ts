import ts from 'typescript-6';
import { cellOptions } from '#session/compiler/cellOptions.ts';
import { readFolderOptions } from '#session/compiler/folderOptions.ts';
import { installedText, isInstalled } from '#session/compiler/installedFiles.ts';
import { moduleResolver, typesResolver } from '#session/compiler/moduleTypes.ts';
import { getDefaultTypeRoots } from '#session/compiler/typeRoots.ts';

type Virtual = {
  names(): string[];
  read(file: string): { snapshot: ts.IScriptSnapshot; version: string } | undefined;
};

/** TypeScript's type of a host, with methods that TypeScript calls but does not declare. */
type Host = ts.LanguageServiceHost & {
  /** Without this method TypeScript would not retry failed imports. */
  hasInvalidatedResolutions(): boolean;
  getModuleResolutionCache(): ts.ModuleResolutionCache;
};

/** The files of the language service: cells, and files on disk, which are read once until `forget` is called. */
export class Files {
  readonly host: ts.LanguageServiceHost;
  readonly #folder: string;
  readonly #versions = new Map<string, string>();
  #isForgotten = false;
  #options: ts.CompilerOptions | undefined;
  #resolutions: ts.ModuleResolutionCache | undefined;

  /** @param folder the folder from which imports resolve, with forward slashes */
  constructor(folder: string, virtual: Virtual) {
    this.#folder = folder;
    const { sys } = ts;
    const host: Host = {
      getCompilationSettings: () => (this.#options ??= optionsOf(folder)),
      getScriptFileNames: () => virtual.names(),
      getScriptVersion: (file) => virtual.read(file)?.version ?? this.#version(file),
      getScriptSnapshot: (file) => virtual.read(file)?.snapshot ?? readSnapshot(file),
      getCurrentDirectory: () => folder,
      getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
      fileExists: (file) => virtual.read(file) !== undefined || sys.fileExists(file),
      readFile: (file) => {
        const cell = virtual.read(file)?.snapshot;
        return cell ? cell.getText(0, cell.getLength()) : sys.readFile(file);
      },
      directoryExists: (path) => sys.directoryExists(path),
      getDirectories: (path) => sys.getDirectories(path),
      readDirectory: (...args) => sys.readDirectory(...args),
      realpath: (path) => sys.realpath?.(path) ?? path,
      useCaseSensitiveFileNames: () => sys.useCaseSensitiveFileNames,
      getModuleResolutionCache: () => this.#cache(),
      resolveModuleNameLiterals: (...args) => moduleResolver(sys, this.#cache())(...args),
      resolveTypeReferenceDirectiveReferences: typesResolver(sys),
      hasInvalidatedResolutions: () => this.#isForgotten,
    };
    this.host = host;
  }

  /** Forgets everything read from disk, because files may have changed. */
  forget(): void {
    this.#versions.clear();
    this.#options = undefined;
    this.#resolutions = undefined;
    this.#isForgotten = true;
  }

  /** Records that a program was created from the current files. */
  settled(): void {
    this.#isForgotten = false;
  }

  #cache(): ts.ModuleResolutionCache {
    return (this.#resolutions ??= ts.createModuleResolutionCache(
      this.#folder,
      (file) => (ts.sys.useCaseSensitiveFileNames ? file : file.toLowerCase()),
      this.host.getCompilationSettings(),
    ));
  }

  #version(file: string): string {
    if (isInstalled(file)) return '0';
    const known = this.#versions.get(file);
    if (known !== undefined) return known;
    const version = String(ts.sys.getModifiedTime?.(file)?.getTime() ?? 0);
    this.#versions.set(file, version);
    return version;
  }
}

function readSnapshot(file: string): ts.IScriptSnapshot | undefined {
  if (isInstalled(file)) return installedText(file);
  const text = ts.sys.readFile(file);
  return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
}

/** Returns the options for checking the cells of a folder. The kernel runs the cells with the same options. */
function optionsOf(folder: string): ts.CompilerOptions {
  const options = cellOptions(readFolderOptions(folder).options);
  return { ...options, typeRoots: options.typeRoots ?? getDefaultTypeRoots(folder) };
}
