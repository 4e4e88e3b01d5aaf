import { createRequire, isBuiltin } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { constants, Script } from 'node:vm';
import type ts from 'typescript-6';
import { isPath } from '#session/compiler/installedFiles.ts';
import { missingModuleStep, nodeSpecifier, reportsMissing } from '#session/compiler/missingModules.ts';
import { isProvidedByKernel } from '#session/compiler/moduleTypes.ts';
import { messageOf } from '#shared/errors.ts';
import { bindImport, importedValue, isEsModule, type Loaded } from './bindings.ts';
import type { CellGlobals } from './cellGlobals.ts';
import { hookOwnFiles } from './ownFileHooks.ts';
import { OwnFiles } from './ownFiles.ts';
import { isCompiled, RequiredFiles } from './requiredFiles.ts';
import type { ScriptMaps } from './scriptMaps.ts';
import type { Variables } from './variables.ts';

/** The required properties of a module in Node's cache. */
export type CachedModule = { readonly loaded: boolean; readonly children: readonly CachedModule[] };

/**
 * Returns the keys of modules whose loading was cut off, and the keys of modules that were loaded meanwhile and use
 * such a module. In a cycle, a module that uses an unfinished module has seen incomplete exports.
 * @param cache in the order in which loading started, like Node's cache
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

/**
 * Errors of `require` for an ES module that only `import()` can load: it has top-level await, or no `require` entry.
 */
const importOnly: ReadonlySet<unknown> = new Set(['ERR_REQUIRE_ASYNC_MODULE', 'ERR_PACKAGE_PATH_NOT_EXPORTED']);

/** Codes of errors of `require` and `import()` for a missing module, and for URLs that Node.js can't import. */
const missingCodes: ReadonlySet<string> = new Set([
  'MODULE_NOT_FOUND',
  'ERR_MODULE_NOT_FOUND',
  'ERR_UNSUPPORTED_ESM_URL_SCHEME',
]);

type Import = (specifier: string, options?: ImportCallOptions) => Promise<unknown>;
type Binding = {
  file: string;
  specifier: string;
  names: { isBound: () => boolean; rebind: (loaded: Loaded) => void }[];
};

type CellModulesOptions = {
  variables: Variables;
  maps: ScriptMaps;
  /** Absolute path from which imports are resolved. It is read at each use, because it may change. */
  folder: () => string;
  /** Options in the folder's tsconfig. */
  compilerOptions: () => ts.CompilerOptions;
  /** Replacements of Node modules in cells. */
  ofCells: CellGlobals['module'];
};

/**
 * Loads the modules that cells import, from the notebook's folder, and reloads the user's own files when they change.
 */
export class CellModules {
  readonly #variables: Variables;
  readonly #folder: () => string;
  readonly #files: OwnFiles;
  readonly #ofCells: CellGlobals['module'];
  /** The user's files loaded by static imports, with the loaded version. */
  readonly #bound = new Map<string, { version: string; bindings: Binding[] }>();
  readonly #required: RequiredFiles;
  /** Exports of the user's files that were imported as ES modules, by URL. */
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

  /**
   * `require` for cells. Unlike the `require` of Node, it compiles the user's own files and notices when they change.
   */
  get require(): NodeJS.Require {
    const { require } = this.#from();
    const own = (specifier: string): unknown => {
      const name = nodeSpecifier(specifier);
      const file = this.#files.resolve(name, this.#importer());
      // If a cell has imported the file, `require` returns the same module.
      if (file !== undefined && isCompiled(file))
        return this.#imported.get(this.#files.urlOf(file)) ?? this.#required.load(file);
      const replaced = this.#ofCells(name);
      if (replaced) return replaced;
      try {
        return require(name) as unknown;
      } catch (error) {
        throw this.#explained(specifier, error);
      }
    };
    return Object.assign(own, require);
  }

  /**
   * Runs a static import of a cell: loads the module and binds notebook variables to its exports.
   * @param pairs names of the variable and of the export, `*` for the namespace
   */
  async load(specifier: string, pairs: readonly (readonly [string, string])[]): Promise<unknown> {
    const file = this.#files.resolve(specifier, this.#importer());
    const module = await this.#static(nodeSpecifier(specifier), file).catch((error: unknown) => {
      throw this.#explained(specifier, error);
    });
    const loaded: Loaded = { specifier, module };
    const names = pairs.map(([local, imported]) => this.#bind(local, imported, loaded));
    if (file !== undefined && names.length > 0) this.#remember(file, { file, specifier, names });
    return loaded.module;
  }

  /** `import()` for cells. */
  async import(specifier: unknown, options?: ImportCallOptions): Promise<unknown> {
    const name = nodeSpecifier(String(specifier));
    const file = this.#files.resolve(name, this.#importer());
    if (file !== undefined) return this.#importFile(file);
    const own = this.#ofCells(name);
    if (own) return importedValue({ specifier: name, module: own }, '*');
    // All imports must give the same copy of apache-arrow, because two copies do not recognize each other's tables.
    if (isProvidedByKernel(name)) return importedValue({ specifier: name, module: this.require(name) }, '*');
    return this.#from()
      .import(name, options)
      .catch((error: unknown) => {
        throw this.#explained(String(specifier), error);
      });
  }

  /** `import.meta.resolve` for cells. */
  resolve(written: string): string {
    const specifier = nodeSpecifier(written);
    if (URL.canParse(specifier)) return specifier;
    const file = this.#files.resolve(specifier, this.#importer());
    if (file !== undefined) return pathToFileURL(file).href;
    if (/^[./]/.test(specifier)) return new URL(specifier, pathToFileURL(this.#importer())).href;
    if (isBuiltin(specifier)) return `node:${specifier}`;
    return pathToFileURL(this.require.resolve(specifier)).href;
  }

  /**
   * Reloads the user's files that have changed since a cell imported them.
   * @returns messages about files that can't be reloaded
   */
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
        problems.push(`Can't reload "${file}" after a change, so its previous state is kept: ${messageOf(error)}`);
      }
    }
    return problems;
  }

  /** Drops modules whose loading was interrupted, because otherwise they would stay in the cache, incomplete. */
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
    // Tries CommonJS first: the engine loads apache-arrow as CommonJS, and there must be only one copy of apache-arrow.
    const from = this.#from();
    try {
      if (!/^(?:data|https?|blob):/.test(specifier)) return from.require(specifier);
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (!importOnly.has(code)) throw error;
    }
    return from.import(specifier);
  }

  async #importFile(file: string): Promise<unknown> {
    // Removes the file and its imports from Node's cache, because Node caches CommonJS modules by path and ignores the
    // version in the URL.
    for (const each of this.#files.reach(file)) delete this.require.cache[each];
    const url = this.#files.urlOf(file);
    const namespace = await this.#from().import(url);
    // The exports of a CommonJS file are the default of its namespace.
    const { default: exported } = namespace as { default?: unknown };
    const module = isEsModule(exported) && '__esModule' in Object(exported) ? exported : namespace;
    this.#imported.set(url, module);
    return module;
  }

  /** Returns the error of an import, with the next step if the imported module itself is missing. */
  #explained(specifier: string, cause: unknown): unknown {
    const { code } = Object(cause) as { code?: unknown };
    const isMissing = typeof code === 'string' && missingCodes.has(code);
    if (!isMissing || !reportsMissing(messageOf(cause), specifier)) return cause;
    const folder = this.#folder();
    const step = missingModuleStep(specifier, folder, `'${specifier}'`);
    if (step === undefined) return cause;
    const message = isPath(specifier) ? step : `Can't load '${specifier}' in ${folder}. ${step}`;
    return Object.assign(new Error(message, { cause }), { code });
  }

  /** The path of a file in the notebook's folder, from which modules are resolved. */
  #importer = (): string => join(this.#folder(), 'cell.ts');

  #from(): { require: NodeJS.Require; import: Import } {
    const folder = this.#folder();
    if (this.#loader?.folder === folder) return this.#loader;
    const filename = join(folder, 'cell.js');
    // The `import()` of a script resolves relative to the filename of the script.
    const script = new Script('(specifier, options) => import(specifier, options)', {
      filename,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    const load = script.runInThisContext() as Import;
    this.#loader = { folder, require: createRequire(filename), import: load };
    return this.#loader;
  }
}
