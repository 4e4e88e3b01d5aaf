import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript-6';
import { cellOptions } from '#session/compiler/cellOptions.ts';

// The user's files that cells import: TypeScript, JavaScript and JSON outside node_modules. They may change while the
// notebook is open, so their URLs contain a hash of the file and everything it imports.

const parameter = 'cell-import';
const importable = /\.(?:[cm]?[jt]sx?|json)$/;

type Read = { stamp: string; hash: string; imports: string[] };

export class OwnFiles {
  readonly #options: () => ts.CompilerOptions;
  readonly #read = new Map<string, Read>();

  /** @param options returns the options in the folder's tsconfig */
  constructor(options: () => ts.CompilerOptions) {
    this.#options = options;
  }

  /** Returns the file that an import in the file `importer` resolves to; undefined for packages and missing files. */
  resolve(specifier: string, importer: string): string | undefined {
    if (specifier.startsWith('file:')) return undefined;
    const isRelative = /^(?:\.{1,2}(?:\/|$)|\/|[a-zA-Z]:[\\/])/.test(specifier);
    const options = cellOptions(this.#options());
    // Only a path, or a name that tsconfig.json maps to a path, can resolve to a file of the user.
    if (!isRelative && !options.paths) return undefined;
    const found = ts.resolveModuleName(specifier, importer, options, ts.sys).resolvedModule?.resolvedFileName;
    const file = found ?? (isRelative ? ts.sys.resolvePath(`${importer}/../${specifier}`) : undefined);
    if (file === undefined || file.includes('/node_modules/') || !importable.test(file)) return undefined;
    const runs = /\.d\.[cm]?ts$/.test(file) ? ofDeclarations(file) : file;
    return ts.sys.fileExists(runs) ? runs : undefined;
  }

  /** Returns the URL for the current version of a file. */
  urlOf(file: string): string {
    const url = pathToFileURL(file);
    url.searchParams.set(parameter, this.versionOf(file));
    return url.href;
  }

  /** Returns a hash that changes with the file or any user file that it imports. */
  versionOf(file: string): string {
    const hash = createHash('sha256');
    for (const each of [...this.reach(file)].toSorted()) hash.update(`${each}\0${this.#look(each).hash}\0`);
    return hash.digest('base64url').slice(0, 12);
  }

  /** Returns a file and all user files that it imports, directly or indirectly. */
  reach(file: string): Set<string> {
    const reached = new Set([file]);
    for (const each of reached) {
      for (const specifier of this.#look(each).imports) {
        const found = this.resolve(specifier, each);
        if (found !== undefined) reached.add(found);
      }
    }
    return reached;
  }

  #look(file: string): Read {
    const stat = statSync(file, { throwIfNoEntry: false });
    const stamp = stat ? `${stat.mtimeMs}:${stat.size}` : '';
    const known = this.#read.get(file);
    if (known?.stamp === stamp) return known;
    const text = stat ? readFileSync(file, 'utf8') : '';
    const isCode = extname(file) !== '.json';
    const read: Read = {
      stamp,
      hash: createHash('sha256').update(text).digest('base64url'),
      imports: isCode ? ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName) : [],
    };
    this.#read.set(file, read);
    return read;
  }
}

/** Whether `urlOf` created the URL. */
export const isOwnUrl = (url: string): boolean => url.startsWith('file:') && url.includes(`?${parameter}=`);

/** `lib.d.ts` describes `lib.js`. */
const ofDeclarations = (file: string): string => file.replace(/\.d\.([cm]?)ts$/, '.$1js');
