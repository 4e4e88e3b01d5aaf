import { join } from 'node:path';
import ts from 'typescript-6';
import { cacheFolder } from '#client/personFolders.ts';
import { useOutlines, type Outlines } from './installedFiles.ts';
import { isQuiet, leaveOutRest, type BoundFile } from './lateFiles.ts';
import { OutlineRecords, packageOf, stampOf, type Outline } from './outlines.ts';

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
