import { statSync } from 'node:fs';
import ts from 'typescript-6';
import { isRecord } from '#shared/records.ts';
import { CacheRecords } from './cacheRecords.ts';

// What is written down of the declarations of installed packages, so that the next notebook that imports one need not read
// and parse hundreds of files to learn which others they import: for each file its imports and where they lead. It is good
// for a file as it was, by size and time. One record a package, in a folder of the person's own.

/** A resolved import: its file from the package's folder, and what else TypeScript says of it. */
type Lead = Omit<ts.ResolvedModuleFull, 'resolvedFileName'> & { readonly to: string };

export type Outline = {
  readonly size: number;
  /** Of the last change, milliseconds. */
  readonly time: number;
  /** A module with the imports and references of the file, and nothing else. */
  readonly skeleton: string;
  /** The relative imports, by their text. */
  readonly leads: Readonly<Record<string, Lead>>;
};

/** By the file's path from the package's folder. */
type Package = Record<string, Outline>;

/** Part of a record's name, so that another form is another record. */
const form = 1;
/** Records that are kept, those that were used last. */
const keptRecords = 60;

/** The folder of the package that a file belongs to, with a slash at its end. */
export const packageOf = (file: string): string | undefined =>
  /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+\//.exec(file)?.[0];

/** The outlines in a folder. */
export class OutlineRecords {
  readonly #records: CacheRecords;
  readonly #packages = new Map<string, Package>();
  /** Files that were asked for, with the outlines of those that are still what they were. */
  readonly #looked = new Map<string, Outline | undefined>();

  constructor(folder: string) {
    this.#records = new CacheRecords(folder, keptRecords);
  }

  /** The outline of a file, if the file is still what it was when that was made. */
  outlineOf(file: string): Outline | undefined {
    const known = this.#looked.get(file);
    if (known !== undefined || this.#looked.has(file)) return known;
    const root = packageOf(file);
    const outline = root === undefined ? undefined : ownOf(this.#packageAt(root), file.slice(root.length));
    const found = outline && isSame(file, outline) ? outline : undefined;
    this.#looked.set(file, found);
    return found;
  }

  /** Where a relative import of an outlined file leads; undefined when that has to be looked for. */
  leadOf(name: string, from: string): ts.ResolvedModuleFull | undefined {
    const root = packageOf(from);
    const lead = root === undefined ? undefined : ownOf(this.outlineOf(from)?.leads ?? {}, name);
    if (lead === undefined) return undefined;
    const { to, ...rest } = lead;
    const resolvedFileName = root + to;
    return this.outlineOf(resolvedFileName) && { ...rest, resolvedFileName };
  }

  /** Writes outlines down, beside those that are known. Nothing is said where that can't be done. */
  keep(outlines: ReadonlyMap<string, Outline>): void {
    const changed = new Set<string>();
    for (const [file, outline] of outlines) {
      const root = packageOf(file);
      if (root === undefined) continue;
      this.#packageAt(root)[file.slice(root.length)] = outline;
      changed.add(root);
    }
    // Where that fails the next notebook parses what this one did.
    this.#records.write([...changed].map((root) => [keyOf(root), this.#packageAt(root)]));
  }

  #packageAt(root: string): Package {
    const known = this.#packages.get(root);
    if (known) return known;
    const record = this.#records.read(keyOf(root));
    const found = isPackage(record) ? record : {};
    this.#packages.set(root, found);
    return found;
  }
}

/** The size and time of a file. @returns undefined where there is none */
export function stampOf(file: string): Pick<Outline, 'size' | 'time'> | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  return found && { size: found.size, time: found.mtimeMs };
}

function isSame(file: string, { size, time }: Outline): boolean {
  const stamp = stampOf(file);
  return stamp?.size === size && stamp.time === time;
}

const keyOf = (root: string): string => `${form} ${ts.version} ${root}`;

const ownOf = <T>(found: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(found, name) ? found[name] : undefined;

const isPackage = (value: unknown): value is Package => isRecord(value) && Object.values(value).every(isOutline);

const isOutline = (value: unknown): value is Outline =>
  isRecord(value) &&
  typeof value['size'] === 'number' &&
  typeof value['time'] === 'number' &&
  typeof value['skeleton'] === 'string' &&
  isRecord(value['leads']) &&
  Object.values(value['leads']).every(isLead);

const isLead = (value: unknown): value is Lead =>
  isRecord(value) && typeof value['extension'] === 'string' && typeof value['to'] === 'string';
