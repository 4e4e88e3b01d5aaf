import { statSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import ts from 'typescript-6';

export type FolderOptions = {
  /**
   * Options of the nearest tsconfig.json and the files it extends; empty if there is no such file. If that project does
   * not include the folder, these are only the options that say where modules are and how code is written.
   */
  options: ts.CompilerOptions;
  /** Path of that tsconfig.json; undefined if there is none. */
  file?: string;
  /** Path relative to the folder of the tsconfig.json whose checks apply; undefined if none applies. */
  checkedBy?: string;
  /** A message if the file can't be read; cells then use the defaults. */
  problem?: string;
};

/** Codes of errors that only say that a project has no files. */
const harmless: ReadonlySet<number> = new Set([18002, 18003]);

/**
 * Options that also apply to cells outside of the project. Cells may import its files, and these need its paths, its
 * libraries, its JSX and its decorators.
 */
const shared = [
  'allowJs',
  'allowSyntheticDefaultImports',
  'baseUrl',
  'customConditions',
  'emitDecoratorMetadata',
  'esModuleInterop',
  'experimentalDecorators',
  'jsx',
  'jsxFactory',
  'jsxFragmentFactory',
  'jsxImportSource',
  'paths',
  'pathsBasePath',
  'resolveJsonModule',
  'rootDirs',
  'target',
  'typeRoots',
  'types',
  'useDefineForClassFields',
] as const;

/** A function that TypeScript's declarations lack. It lists files by the patterns of a tsconfig.json. */
type Internals = {
  matchFiles: (
    path: string,
    extensions: readonly string[],
    excludes: readonly string[] | undefined,
    includes: readonly string[] | undefined,
    isCaseSensitive: boolean,
    currentDirectory: string,
    depth: number | undefined,
    entries: (folder: string) => { files: readonly string[]; directories: readonly string[] },
    realpath: (path: string) => string,
  ) => string[];
};
const { matchFiles } = ts as unknown as Internals;

/** Name of the file that stands for the cells of a folder. */
const cellFile = 'cell.ts';

/**
 * Returns a host whose disk seems to hold nothing but the file of the cells, because listing the files of a project can
 * take seconds.
 */
const hostOf = (folder: string): ts.ParseConfigHost => ({
  useCaseSensitiveFileNames: true,
  fileExists: (path) => ts.sys.fileExists(path),
  readFile: (path) => ts.sys.readFile(path),
  readDirectory: (root, extensions, excludes, includes, depth) =>
    matchFiles(
      root,
      extensions,
      excludes,
      includes,
      true,
      root,
      depth,
      (at) => entriesOf(at, folder),
      (path) => path,
    ),
});

function entriesOf(at: string, folder: string): { files: string[]; directories: string[] } {
  if (at === folder) return { files: [cellFile], directories: [] };
  const inside = at.endsWith('/') ? at : `${at}/`;
  const [next] = folder.startsWith(inside) ? folder.slice(inside.length).split('/') : [];
  return { files: [], directories: next === undefined ? [] : [next] };
}

/** Reads the tsconfig.json of a folder, or the nearest one above it. */
export function readFolderOptions(folder: string): FolderOptions {
  const file = findFile(folder);
  if (file === undefined) return { options: {} };
  // The patterns of a tsconfig.json match paths with slashes, also on Windows.
  const here = ts.sys.resolvePath(folder).replaceAll('\\', '/');
  const host = hostOf(here);
  const read = ts.readConfigFile(file, (path) => host.readFile(path));
  if (read.error) return refused(file, folder, read.error);
  const parsed = ts.parseJsonConfigFileContent(read.config, host, dirname(file), undefined, file);
  const error = parsed.errors.find(({ code }) => !harmless.has(code));
  if (error) return refused(file, folder, error);
  const { options, fileNames } = parsed;
  const isIncluded = fileNames.includes(`${here}/${cellFile}`);
  return isIncluded ? { options, file, checkedBy: nameOf(file, folder) } : { options: sharedOptions(options), file };
}

function sharedOptions(options: ts.CompilerOptions): ts.CompilerOptions {
  const known = shared.filter((name) => options[name] !== undefined);
  return {
    ...(Object.fromEntries(known.map((name) => [name, options[name]])) as ts.CompilerOptions),
    // The project's libraries may be those of an old browser, but cells run on Node.js.
    ...(options.lib && { lib: [...new Set(['lib.esnext.d.ts', ...options.lib])] }),
  };
}

const findFile = (folder: string): string | undefined => ts.findConfigFile(folder, (path) => ts.sys.fileExists(path));

const nameOf = (file: string, folder: string): string => relative(folder, file) || file;

/**
 * Returns a string that changes if the nearest tsconfig.json changes, if another tsconfig.json becomes the nearest, or
 * if none remains.
 */
export function stampOfOptions(folder: string): string {
  const file = findFile(folder);
  const stat = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
  return stat ? `${file}:${stat.mtimeMs}:${stat.size}` : '';
}

function refused(file: string, folder: string, error: ts.Diagnostic): FolderOptions {
  const why = ts.flattenDiagnosticMessageText(error.messageText, ' ');
  return {
    options: {},
    file,
    problem: `Can't use "${nameOf(file, folder)}" for the cells of this notebook: ${why} Fix the file and run the cell again.`,
  };
}
