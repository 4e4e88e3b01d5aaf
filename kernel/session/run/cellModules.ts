import { createRequire, isBuiltin } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { constants, Script } from 'node:vm';
import type ts from 'typescript-6';
import { isPath, missingFile } from '#session/compiler/installedFiles.ts';
import { isLent } from '#session/compiler/moduleTypes.ts';
import { messageOf } from '#shared/errors.ts';
import { bindImport, importedValue, isEsModule, type Loaded } from './bindings.ts';
import type { CellGlobals } from './cellGlobals.ts';
import { hookOwnFiles } from './ownFileHooks.ts';
import { OwnFiles } from './ownFiles.ts';
import { isCompiled, RequiredFiles } from './requiredFiles.ts';
import type { ScriptMaps } from './scriptMaps.ts';
import type { Variables } from './variables.ts';

/** What is looked at of a module of Node's cache. */
export type CachedModule = { readonly loaded: boolean; readonly children: readonly CachedModule[] };

/**
 * The keys of modules that were being loaded when code was cut off, and of those that were loaded within that and took
 * something of them: modules that need each other know the half of a module that there was.
 * @param cache in the order in which the modules began to be loaded, as Node's is
 */
export function unfinishedModules(cache: Readonly<Record<string, CachedModule | undefined>>): string[] {
  const all = Object.entries(cache).flatMap(([key, module]) => (module ? [{ key, module }] : []));
  const first = all.findIndex(({ module }) => !module.loaded);
  if (first < 0) return [];
  const later = all.slice(first);
  const unfinished = new Set(later.map(({ module }) => module).filter(({ loaded }) => !loaded));
  for (let known = 0; known !== unfinished.size;) {
    known = unfinished.size;
    for (const { module } of later) if (module.children.some((each) => unfinished.has(each))) unfinished.add(module);
  }
  return later.filter(({ module }) => unfinished.has(module)).map(({ key }) => key);
}

/** What `require` says of an ES module that only `import()` can load: it awaits, or has no entry for `require`. */
const importOnly: ReadonlySet<unknown> = new Set(['ERR_REQUIRE_ASYNC_MODULE', 'ERR_PACKAGE_PATH_NOT_EXPORTED']);

type Import = (specifier: string, options?: ImportCallOptions) => Promise<unknown>;
type Binding = {
  file: string;
  specifier: string;
  names: { isBound: () => boolean; rebind: (loaded: Loaded) => void }[];
};

type CellModulesOptions = {
  variables: Variables;
  maps: ScriptMaps;
  /** Absolute path that imports are resolved from; asked each time, for it may change. */
  folder: () => string;
  /** What the folder's tsconfig says. */
  compilerOptions: () => ts.CompilerOptions;
  /** Modules that cells have in place of Node's, by their names. */
  ofCells: CellGlobals['module'];
};

/** Loads what cells import, from the notebook's folder, and loads the person's own files again when they have changed. */
export class CellModules {
  readonly #variables: Variables;
  readonly #folder: () => string;
  readonly #files: OwnFiles;
  readonly #ofCells: CellGlobals['module'];
  /** Files of the person's own that were imported by static imports, by the version that was loaded. */
  readonly #bound = new Map<string, { version: string; bindings: Binding[] }>();
  readonly #required: RequiredFiles;
  /** What files of the person's own export as ES modules, by their URLs. */
  readonly #imported = new Map<string, unknown>();
  #loader: { folder: string; require: NodeJS.Require; import: Import } | undefined;

  constructor({ variables, maps, folder, compilerOptions, ofCells }: CellModulesOptions) {
    this.#variables = variables;
    this.#ofCells = ofCells;
    this.#folder = folder;
    this.#files = new OwnFiles(compilerOptions);
    this.#required = new RequiredFiles({ files: this.#files, maps, compilerOptions });
    hookOwnFiles(this.#files, maps, compilerOptions);
  }

  /** `require` as cells have it: of their own files too, which Node's own would take for those of a finished program. */
  get require(): NodeJS.Require {
    const { require } = this.#from();
    const own = (name: string): unknown => {
      const file = this.#files.resolve(name, this.#importer());
      // One that a cell imported is the same here as there.
      if (file !== undefined && isCompiled(file))
        return this.#imported.get(this.#files.urlOf(file)) ?? this.#required.load(file);
      return this.#ofCells(name) ?? require(name);
    };
    return Object.assign(own, require);
  }

  /**
   * What a static import of a cell does: loads the module and makes variables of the notebook of its exports.
   * @param pairs name of the variable and name of the export, `*` for all of them
   */
  async load(specifier: string, pairs: readonly (readonly [string, string])[]): Promise<unknown> {
    const file = this.#files.resolve(specifier, this.#importer());
    const loaded: Loaded = { specifier, module: await this.#static(specifier, file) };
    const names = pairs.map(([local, imported]) => this.#bind(local, imported, loaded));
    if (file !== undefined && names.length > 0) this.#remember(file, { file, specifier, names });
    return loaded.module;
  }

  /** `import()` as cells have it. */
  async import(specifier: unknown, options?: ImportCallOptions): Promise<unknown> {
    const name = String(specifier);
    const file = this.#files.resolve(name, this.#importer());
    if (file !== undefined) return this.#importFile(file);
    const own = this.#ofCells(name);
    if (own) return importedValue({ specifier: name, module: own }, '*');
    // One copy of apache-arrow, whichever way it is asked for: two do not know each other's tables.
    if (isLent(name)) return importedValue({ specifier: name, module: this.require(name) }, '*');
    return this.#from().import(name, options);
  }

  /** `import.meta.resolve` as cells have it. */
  resolve(specifier: string): string {
    if (URL.canParse(specifier)) return specifier;
    const file = this.#files.resolve(specifier, this.#importer());
    if (file !== undefined) return pathToFileURL(file).href;
    if (/^[./]/.test(specifier)) return new URL(specifier, pathToFileURL(this.#importer())).href;
    if (isBuiltin(specifier)) return `node:${specifier}`;
    return pathToFileURL(this.require.resolve(specifier)).href;
  }

  /** Loads own files again that have changed since a cell imported them. @returns sentences about those that can't be */
  async refresh(): Promise<string[]> {
    const problems: string[] = [];
    for (const [file, { version, bindings }] of this.#bound) {
      const now = this.#files.versionOf(file);
      if (now === version) continue;
      const alive = bindings.filter(({ names }) => names.some(({ isBound }) => isBound()));
      if (alive.length === 0) this.#bound.delete(file);
      else this.#bound.set(file, { version: now, bindings: alive });
      try {
        if (alive.length > 0) await this.#reload(file, alive);
      } catch (error) {
        problems.push(`${file} has changed and can't be loaded, so its earlier state is kept: ${messageOf(error)}`);
      }
    }
    return problems;
  }

  /** Forgets modules that were being loaded when code was cut off: they would stay half made for ever. */
  forgetUnfinished(): void {
    this.#required.forgetUnfinished();
    const { cache } = this.require;
    for (const path of unfinishedModules(cache)) delete cache[path];
  }

  async #reload(file: string, bindings: readonly Binding[]): Promise<void> {
    const module = await this.#importFile(file);
    for (const { specifier, names } of bindings)
      for (const { isBound, rebind } of names) if (isBound()) rebind({ specifier, module });
  }

  #remember(file: string, binding: Binding): void {
    const known = this.#bound.get(file);
    this.#bound.set(file, {
      version: this.#files.versionOf(file),
      bindings: [...(known?.bindings ?? []).filter(({ names }) => names.some(({ isBound }) => isBound())), binding],
    });
  }

  #bind(local: string, imported: string, loaded: Loaded): Binding['names'][number] {
    let current = loaded;
    importedValue(current, imported);
    return {
      isBound: bindImport(this.#variables.of(local), () => importedValue(current, imported)),
      rebind: (again) => {
        importedValue(again, imported);
        current = again;
      },
    };
  }

  async #static(specifier: string, file: string | undefined): Promise<unknown> {
    if (file !== undefined) return this.#importFile(file);
    const own = this.#ofCells(specifier);
    if (own) return own;
    // CommonJS first: the engine takes its apache-arrow that way, and there must be one copy of it.
    const from = this.#from();
    try {
      if (!/^(?:data|https?|blob):/.test(specifier)) return from.require(specifier);
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code === 'MODULE_NOT_FOUND') throw this.#missing(specifier, error);
      if (!importOnly.has(code)) throw error;
    }
    return from.import(specifier);
  }

  async #importFile(file: string): Promise<unknown> {
    // Node keeps CommonJS by path alone.
    for (const each of this.#files.reach(file)) delete this.require.cache[each];
    const url = this.#files.urlOf(file);
    const namespace = await this.#from().import(url);
    // A CommonJS file comes as the default of a namespace; what it exports is meant.
    const { default: exported } = namespace as { default?: unknown };
    const module = isEsModule(exported) && '__esModule' in Object(exported) ? exported : namespace;
    this.#imported.set(url, module);
    return module;
  }

  #missing(specifier: string, cause: unknown): unknown {
    if (!messageOf(cause).includes(`'${specifier}'`)) return cause;
    const message = isPath(specifier)
      ? (missingFile(specifier, this.#folder(), `'${specifier}'`) ?? messageOf(cause))
      : `There is no package '${specifier}' in ${this.#folder()} or above it: run %install ${packageOf(specifier)} in a cell.`;
    return Object.assign(new Error(message, { cause }), { code: 'MODULE_NOT_FOUND' });
  }

  /** A file of the notebook's folder for whom modules are resolved. */
  #importer = (): string => join(this.#folder(), 'cell.ts');

  #from(): { require: NodeJS.Require; import: Import } {
    const folder = this.#folder();
    if (this.#loader?.folder === folder) return this.#loader;
    const filename = join(folder, 'cell.js');
    // The path of a script is where its `import()` resolves from.
    const script = new Script('(specifier, options) => import(specifier, options)', {
      filename,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    const load = script.runInThisContext() as Import;
    this.#loader = { folder, require: createRequire(filename), import: load };
    return this.#loader;
  }
}

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
