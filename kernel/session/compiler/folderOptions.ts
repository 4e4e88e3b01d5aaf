import { statSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import ts from 'typescript-6';

export type FolderOptions = {
  /** Options of the nearest tsconfig.json and the files it extends; empty if there is no such file. */
  options: ts.CompilerOptions;
  /** Path of that tsconfig.json; undefined if there is none. */
  file?: string;
  /** A message if the file can't be read; cells then use the defaults. */
  problem?: string;
};

/** Codes of errors that only say that a project has no files. */
const harmless: ReadonlySet<number> = new Set([18002, 18003]);

const host = {
  useCaseSensitiveFileNames: true,
  fileExists: (path: string) => ts.sys.fileExists(path),
  readFile: (path: string) => ts.sys.readFile(path),
  // Returns no files, because cells do not need the files of the project, and listing them can take seconds.
  readDirectory: () => [],
};

/** Reads the tsconfig.json of a folder, or the nearest one above it. */
export function readFolderOptions(folder: string): FolderOptions {
  const file = ts.findConfigFile(folder, host.fileExists);
  if (file === undefined) return { options: {} };
  const read = ts.readConfigFile(file, host.readFile);
  if (read.error) return refused(file, folder, read.error);
  const parsed = ts.parseJsonConfigFileContent(read.config, host, dirname(file), undefined, file);
  const error = parsed.errors.find(({ code }) => !harmless.has(code));
  return error ? refused(file, folder, error) : { options: parsed.options, file };
}

/**
 * Returns a string that changes if the nearest tsconfig.json changes, if another tsconfig.json becomes the nearest, or
 * if none remains.
 */
export function stampOfOptions(folder: string): string {
  const file = ts.findConfigFile(folder, host.fileExists);
  const stat = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
  return stat ? `${file}:${stat.mtimeMs}:${stat.size}` : '';
}

function refused(file: string, folder: string, error: ts.Diagnostic): FolderOptions {
  const name = relative(folder, file) || file;
  const why = ts.flattenDiagnosticMessageText(error.messageText, ' ');
  return {
    options: {},
    file,
    problem: `Can't use "${name}" for the cells of this notebook: ${why} Fix the file and run the cell again.`,
  };
}
