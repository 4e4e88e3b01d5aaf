import { statSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript-6';
import { cacheFolder } from '#processes/userFolders.ts';
import { isRecord } from '#shared/records.ts';
import { CacheRecords } from './cacheRecords.ts';
import { type Outlines, useOutlines } from './installedFiles.ts';
import { type BoundFile, isQuiet, leaveOutRest } from './lazyFiles.ts';

// What is written down of the declarations of installed packages, so that the next notebook that imports one need not read
// and parse hundreds of files to learn which others they import: for each file its imports and where they lead. It is good
// for a file as it was, by size and time. One record a package, in a folder of the person's own.

/** A resolved import: its file from the package's folder, and what else TypeScript says of it. */
type Lead = Omit<ts.ResolvedModuleFull, 'resolvedFileName'> & { readonly to: string };

type Outline = {
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
const packageOf = (file: string): string | undefined => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+\//.exec(file)?.[0];

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
function stampOf(file: string): Pick<Outline, 'size' | 'time'> | undefined {
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

/** What the compiler has and does not declare. */
type Parsed = BoundFile & { amdDependencies: readonly unknown[] };
type Stamp = Pick<Outline, 'size' | 'time'>;

/** Stands for the text of a file: with it the compiler is given the file's outline. */
class Skeleton implements ts.IScriptSnapshot {
  readonly #text: string;

  constructor({ skeleton }: Outline) {
    this.#text = skeleton;
  }

  getText(start: number, end: number): string {
    return this.#text.slice(start, end);
  }

  getLength(): number {
    return this.#text.length;
  }

  getChangeRange(): undefined {
    return undefined;
  }
}

/**
 * Declarations of packages as the compiler gets to see them: by their outlines where there are any, else whole, and then
 * their outlines are made for the next time.
 */
export class OutlinedFiles implements Outlines {
  readonly #records: OutlineRecords;
  /** Files of packages that were read whole, as they were then. */
  readonly #read = new Map<string, Stamp>();
  readonly #parsed = new Set<Parsed>();
  /** Where relative imports of files of packages led, by file and text. */
  readonly #leads = new Map<string, Map<string, ts.ResolvedModuleFull>>();
  readonly #leftOut = new WeakSet<ts.SourceFile>();

  constructor(records: OutlineRecords) {
    this.#records = records;
  }

  textOf(file: string): ts.IScriptSnapshot | undefined {
    if (packageOf(file) === undefined) return undefined;
    const outline = this.#records.outlineOf(file);
    if (outline) return new Skeleton(outline);
    const stamp = stampOf(file);
    if (stamp) this.#read.set(file, stamp);
    return undefined;
  }

  acquired(file: ts.SourceFile, text: ts.IScriptSnapshot, options: ts.CompilerOptions): void {
    if (!(text instanceof Skeleton)) {
      if (this.#read.has(file.fileName)) this.#parsed.add(file as Parsed);
    } else if (!this.#leftOut.has(file)) {
      this.#leftOut.add(file);
      leaveOutRest(file as Parsed, options, () => ts.sys.readFile(file.fileName) ?? '');
    }
  }

  leadOf(name: string, from: string): ts.ResolvedModuleFull | undefined {
    return name.startsWith('.') ? this.#records.leadOf(name, from) : undefined;
  }

  noteLead(name: string, from: string, found: ts.ResolvedModuleFull | undefined): void {
    if (!found || !name.startsWith('.') || packageOf(from) === undefined) return;
    const known = this.#leads.get(from) ?? new Map<string, ts.ResolvedModuleFull>();
    this.#leads.set(from, known.set(name, found));
  }

  /** Writes down the outlines of what was parsed whole since the last time. For a moment in which nobody waits. */
  keep(): void {
    const outlines = new Map<string, Outline>();
    for (const file of this.#parsed) {
      const stamp = this.#read.get(file.fileName);
      const skeleton = stamp && skeletonOf(file);
      if (stamp && skeleton !== undefined)
        outlines.set(file.fileName, { ...stamp, skeleton, leads: this.#leadsOf(file.fileName) });
    }
    this.#parsed.clear();
    this.#read.clear();
    this.#leads.clear();
    this.#records.keep(outlines);
  }

  #leadsOf(from: string): Outline['leads'] {
    const root = packageOf(from) ?? '';
    const found = [...(this.#leads.get(from) ?? [])].map(([name, { resolvedFileName, ...rest }]) =>
      resolvedFileName.startsWith(root) ? [[name, { ...rest, to: resolvedFileName.slice(root.length) }] as const] : [],
    );
    return Object.fromEntries(found.flat());
  }
}

/** From now on this process uses the outlines in the person's cache. */
export function useOwnOutlines(): OutlinedFiles {
  const outlined = new OutlinedFiles(new OutlineRecords(join(cacheFolder(), 'declarations')));
  useOutlines(outlined);
  return outlined;
}

/** The skeleton of a module that is bound; undefined where the compiler has to see more of it in every program. */
function skeletonOf(file: Parsed): string | undefined {
  const isPlain =
    file.isDeclarationFile &&
    ts.isExternalModule(file) &&
    (file as Partial<Parsed>).symbol !== undefined &&
    isQuiet(file) &&
    file.ambientModuleNames.length === 0 &&
    file.amdDependencies.length === 0 &&
    !file.hasNoDefaultLib &&
    // How a module is looked for may be said of a single import.
    !file.text.includes('resolution-mode');
  if (!isPlain) return undefined;
  const lines = [
    ...file.referencedFiles.map(({ fileName }) => `/// <reference path="${fileName}" />`),
    ...file.typeReferenceDirectives.map(({ fileName }) => `/// <reference types="${fileName}" />`),
    ...file.libReferenceDirectives.map(({ fileName }) => `/// <reference lib="${fileName}" />`),
    ...new Set(file.imports.map(importOf)),
    'export {};',
  ];
  return `${lines.join('\n')}\n`;
}

// An import by `require` is looked for as one of CommonJS.
const importOf = (name: ts.StringLiteralLike, index: number): string =>
  ts.isExternalModuleReference(name.parent)
    ? `import module${index} = require(${JSON.stringify(name.text)});`
    : `import ${JSON.stringify(name.text)};`;
