import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname } from 'node:path';
import { constants, Script } from 'node:vm';
import ts from 'typescript-6';
import { messageOf } from '#shared/errors.ts';
import { cellOptions } from '#session/compiler/cellOptions.ts';
import { nodeSpecifier } from '#session/compiler/missingModules.ts';
import type { OwnFiles } from './ownFiles.ts';
import type { ScriptMaps } from './scriptMaps.ts';

type Module = { id: string; filename: string; path: string; exports: unknown; loaded: boolean };
type Body = (exports: unknown, require: NodeJS.Require, module: Module, filename: string, dirname: string) => void;

const compiled: ReadonlySet<string> = new Set(['.ts', '.tsx', '.mts', '.cts', '.jsx']);

/** Whether `require` has to compile the file. */
export const isCompiled = (file: string): boolean => compiled.has(extname(file));

type RequiredFilesDeps = { files: OwnFiles; maps: ScriptMaps; compilerOptions: () => ts.CompilerOptions };

/**
 * Loads the user's files for `require`, as CommonJS: a required ES module would stay in Node's cache forever, but these
 * files change.
 */
export class RequiredFiles {
  readonly #parts: RequiredFilesDeps;
  readonly #loaded = new Map<string, { url: string; module: Module }>();

  constructor(parts: RequiredFilesDeps) {
    this.#parts = parts;
  }

  /**
   * Returns the exports of the current version of a file.
   * @throws SyntaxError if only `import` can load the file; any error that the file throws
   */
  load(file: string): unknown {
    const url = this.#parts.files.urlOf(file);
    const known = this.#loaded.get(file);
    // The module is returned even while it is still loading, because files may import each other in a cycle.
    if (known?.url === url) return known.module.exports;
    const module: Module = { id: file, filename: file, path: dirname(file), exports: {}, loaded: false };
    const body = this.#compile(file, url);
    this.#loaded.set(file, { url, module });
    try {
      body(module.exports, this.#requireOf(file), module, file, module.path);
      module.loaded = true;
    } finally {
      if (!module.loaded) this.#loaded.delete(file);
    }
    return module.exports;
  }

  forgetUnfinished(): void {
    for (const [file, { module }] of this.#loaded) if (!module.loaded) this.#loaded.delete(file);
  }

  #requireOf(file: string): NodeJS.Require {
    const require = createRequire(file);
    const own = (name: string): unknown => {
      const found = this.#parts.files.resolve(name, file);
      return found !== undefined && isCompiled(found) ? this.load(found) : require(nodeSpecifier(name));
    };
    return Object.assign(own, require);
  }

  #compile(file: string, url: string): Body {
    const { outputText } = ts.transpileModule(readFileSync(file, 'utf8'), {
      fileName: file,
      compilerOptions: {
        ...cellOptions(this.#parts.compilerOptions()),
        declaration: false,
        isolatedModules: true,
        module: ts.ModuleKind.CommonJS,
      },
    });
    const code = this.#parts.maps.add(url, outputText);
    try {
      const script = new Script(`(function (exports, require, module, __filename, __dirname) {\n${code}\n})`, {
        filename: url,
        lineOffset: -1,
        importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
      });
      return script.runInThisContext() as Body;
    } catch (error) {
      throw new SyntaxError(
        `Can't require ${file} (${messageOf(error)}): it may use await at its top level. Use import, or await import(…).`,
        { cause: error },
      );
    }
  }
}
