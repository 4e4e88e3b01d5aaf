import { statSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript-6';
import { cacheFolder } from '#processes/userFolders.ts';
import { isRecord } from '#shared/records.ts';
import { CacheRecords } from './cacheRecords.ts';
import { type Outlines, useOutlines } from './installedFiles.ts';
import { type BoundFile, hasNoGlobalEffects, replaceByOutline } from './lazyFiles.ts';

// Records of the declarations of installed packages: for each file its imports and their targets. With these records,
// the next notebook that imports a package does not have to read and parse hundreds of files to find their imports. The
// record of one file is an outline. An outline is valid while the size and time of its file are unchanged. The user's
// cache has one record per package.

/** A resolved import: its file relative to the package's folder, and TypeScript's other properties. */
type Lead = Omit<ts.ResolvedModuleFull, 'resolvedFileName'> & { readonly to: string };

type Outline = {
  readonly size: number;
  /** Time of the last change in milliseconds. */
  readonly time: number;
  /** A module with only the imports and references of the file. */
  readonly skeleton: string;
  /** The relative imports, by their specifiers. */
  readonly leads: Readonly<Record<string, Lead>>;
};

/** Outlines by the file's path relative to the package's folder. */
type Package = Record<string, Outline>;

/** Version of the format, part of a record's key. */
const form = 1;
/** Maximum number of records; the last written are kept. */
const keptRecords = 60;

/** Returns the folder of the package that a file belongs to, with a trailing slash. */
const packageOf = (file: string): string | undefined => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+\//.exec(file)?.[0];

/** The outlines in a folder. */
export class OutlineRecords {
  readonly #records: CacheRecords;
  readonly #packages = new Map<string, Package>();
  /** The outlines of the requested files; undefined for a file that has changed or has no outline. */
  readonly #looked = new Map<string, Outline | undefined>();

  constructor(folder: string) {
    this.#records = new CacheRecords(folder, keptRecords);
  }

  /** Returns the outline of a file if the file is unchanged. */
  outlineOf(file: string): Outline | undefined {
    const known = this.#looked.get(file);
    if (known !== undefined || this.#looked.has(file)) return known;
    const root = packageOf(file);
    const outline = root === undefined ? undefined : ownOf(this.#packageAt(root), file.slice(root.length));
    const found = outline && isSame(file, outline) ? outline : undefined;
    this.#looked.set(file, found);
    return found;
  }

  /** Returns the target of a relative import of an outlined file; undefined if the import has to be resolved. */
  leadOf(name: string, from: string): ts.ResolvedModuleFull | undefined {
    const root = packageOf(from);
    const lead = root === undefined ? undefined : ownOf(this.outlineOf(from)?.leads ?? {}, name);
    if (lead === undefined) return undefined;
    const { to, ...rest } = lead;
    const resolvedFileName = root + to;
    return this.outlineOf(resolvedFileName) && { ...rest, resolvedFileName };
  }

  /** Writes outlines, in addition to the outlines that are already in the records. */
  keep(outlines: ReadonlyMap<string, Outline>): void {
    const changed = new Set<string>();
    for (const [file, outline] of outlines) {
      const root = packageOf(file);
      if (root === undefined) continue;
      this.#packageAt(root)[file.slice(root.length)] = outline;
      changed.add(root);
    }
    // `write` may fail silently. Then the next notebook parses the same files again.
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

/** Returns size and time of a file, if it exists. */
function fileStamp(file: string): Pick<Outline, 'size' | 'time'> | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  return found && { size: found.size, time: found.mtimeMs };
}

function isSame(file: string, { size, time }: Outline): boolean {
  const stamp = fileStamp(file);
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

/** Internals that TypeScript does not declare. */
type Parsed = BoundFile & { amdDependencies: readonly unknown[] };
type Stamp = Pick<Outline, 'size' | 'time'>;

/** What the compiler gets instead of the text of a file: the outline of the file. */
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
 * Provides the declarations of packages to the compiler: an outline if there is one, otherwise the whole file. For each
 * whole file it creates an outline for the next time.
 */
export class OutlinedFiles implements Outlines {
  readonly #records: OutlineRecords;
  /** Files of packages that were read whole, with their size and time at that moment. */
  readonly #read = new Map<string, Stamp>();
  readonly #parsed = new Set<Parsed>();
  /** Targets of relative imports in files of packages, by file and specifier. */
  readonly #leads = new Map<string, Map<string, ts.ResolvedModuleFull>>();
  readonly #leftOut = new WeakSet<ts.SourceFile>();

  constructor(records: OutlineRecords) {
    this.#records = records;
  }

  textOf(file: string): ts.IScriptSnapshot | undefined {
    if (packageOf(file) === undefined) return undefined;
    const outline = this.#records.outlineOf(file);
    if (outline) return new Skeleton(outline);
    const stamp = fileStamp(file);
    if (stamp) this.#read.set(file, stamp);
    return undefined;
  }

  acquired(file: ts.SourceFile, text: ts.IScriptSnapshot, options: ts.CompilerOptions): void {
    if (!(text instanceof Skeleton)) {
      if (this.#read.has(file.fileName)) this.#parsed.add(file as Parsed);
    } else if (!this.#leftOut.has(file)) {
      this.#leftOut.add(file);
      replaceByOutline(file as Parsed, options, () => ts.sys.readFile(file.fileName) ?? '');
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

  /**
   * Writes the outlines of files that were parsed whole since the last call. Takes a while, so call it when no cell
   * waits.
   */
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

/** From now on this process uses the outlines in the user's cache. */
export function useOwnOutlines(): OutlinedFiles {
  const outlined = new OutlinedFiles(new OutlineRecords(join(cacheFolder(), 'declarations')));
  useOutlines(outlined);
  return outlined;
}

/** Returns the skeleton of a bound module; undefined if programs need more than the skeleton. */
function skeletonOf(file: Parsed): string | undefined {
  const isPlain =
    file.isDeclarationFile &&
    ts.isExternalModule(file) &&
    (file as Partial<Parsed>).symbol !== undefined &&
    hasNoGlobalEffects(file) &&
    file.ambientModuleNames.length === 0 &&
    file.amdDependencies.length === 0 &&
    !file.hasNoDefaultLib &&
    // An import with `resolution-mode` sets how its module is resolved. An outline does not have this setting.
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

// An import by `require` stays a `require`, because it resolves like an import of a CommonJS file.
const importOf = (name: ts.StringLiteralLike, index: number): string =>
  ts.isExternalModuleReference(name.parent)
    ? `import module${index} = require(${JSON.stringify(name.text)});`
    : `import ${JSON.stringify(name.text)};`;
