import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { constants } from 'node:vm';
import { runtimeName } from '#session/compile/generatedNames.ts';
import { cellGlobalNames, type CellGlobals } from './cellGlobals.ts';
import type { CellModules } from './cellModules.ts';
import { evalText } from './evalText.ts';
import { quietImports } from './quietImports.ts';
import type { ScriptMaps } from './scriptMaps.ts';
import { scriptOfCell } from './scriptNames.ts';
import { unwatched } from './unwatched.ts';
import { scriptOnce } from './scriptOnce.ts';
import type { Variable, Variables } from './variables.ts';

/** What a cell left: its last expression, if that is not null or undefined. */
export type Executed = { value: { shown: unknown } | undefined };

/** The kernel's part of generated code, see cellTransform.ts. */
type CellRuntime = {
  value?: unknown;
  variables: (names: readonly string[]) => Variable[];
  load: CellModules['load'];
  import: CellModules['import'];
  /** The text of a direct `eval`. */
  evalText: (code: unknown, locals: readonly string[]) => unknown;
  /** What `await` of the cell's top level waits for from now on, and where it stands. */
  waits: <T>(value: T, line: number, column: number) => T;
  /** What `await` of the cell's top level gave. @throws once the cell is interrupted */
  resume: <T>(value: T) => T;
  meta: ImportMeta;
};

/** Makes the cell's function, with its own of the globals in `cellGlobalNames`. */
type MakeBody = (...globals: readonly unknown[]) => CellBody;

type CellBody = (
  runtime: CellRuntime,
  require: NodeJS.Require,
  module: object,
  exports: object,
  filename: string,
  dirname: string,
) => Promise<void>;

/** What is known of a cell that runs: whether it was given up, what does that, and where it waits, as `[3]:2:7`. */
type Given = { isUp: boolean; giveUp?: () => void; waitsAt: string | undefined };

/** Names of scripts without a number of their own, by the number that they have: what asks in a loop must not crowd out others. */
const maxOthers = 100;

export type CellExecutorOptions = {
  variables: Variables;
  /** The same as an object, which is what CommonJS calls `exports`. */
  locals: object;
  modules: CellModules;
  maps: ScriptMaps;
  globals: CellGlobals;
  folder: () => string;
};

/** Runs what the compiler made of cells, in the kernel's own realm, one function a cell. */
export class CellExecutor {
  readonly #options: CellExecutorOptions;
  /** Where cells waited for what came to be an error: most of those that a catalog or a package gives have no place of it. */
  readonly #places = new WeakMap<object, string>();
  readonly #running = new Set<Given>();
  /** The highest number of a cell so far, and how many scripts did not have a number of their own. */
  #highest = -1;
  #others = 0;

  constructor(options: CellExecutorOptions) {
    this.#options = options;
    quietImports();
  }

  /** Where the cell that an error ended waited for what failed, as `[3]:2:7`; undefined where it waited for nothing. */
  placeOf(error: unknown): string | undefined {
    return typeof error === 'object' && error !== null ? this.#places.get(error) : undefined;
  }

  /**
   * Runs one cell to its end, or until `interrupt`.
   * @param count names it in stack traces
   * @throws what the cell throws
   */
  async execute(output: string, count: number): Promise<Executed> {
    const { variables, locals, modules, maps, globals } = this.#options;
    const script = this.#nameOf(count);
    const code = maps.add(script, output);
    const parameters = `${runtimeName}, require, module, exports, __filename, __dirname`;
    const head = `(function (${cellGlobalNames.join(', ')}) { return async function (${parameters}) { "use strict";`;
    const compiled = scriptOnce(`${head}\n${code}\n} })`, {
      filename: script,
      // The line above is ours.
      lineOffset: -1,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    const body = (compiled.runInThisContext() as MakeBody)(...globals.values);
    const given: Given = { isUp: false, waitsAt: undefined };
    const dirname = this.#options.folder();
    const filename = join(dirname, script);
    const runtime: CellRuntime = {
      variables: (names) => variables.get(names),
      load: (specifier, pairs) => modules.load(specifier, pairs),
      import: (specifier, options) => modules.import(specifier, options),
      evalText: (text, others) => evalText(text, others, (name) => variables.has(name)),
      waits: (value, line, column) => {
        given.waitsAt = `[${count}]:${line}:${column}`;
        return value;
      },
      resume: (value) => {
        given.waitsAt = undefined;
        if (given.isUp) throw interruption();
        return value;
      },
      meta: {
        url: pathToFileURL(filename).href,
        filename,
        dirname,
        main: false,
        resolve: (specifier) => modules.resolve(specifier),
      },
    };
    const { require } = modules;
    const module = { id: filename, filename, path: dirname, exports: locals, require };
    try {
      await this.#unlessInterrupted(() => body(runtime, require, module, locals, filename, dirname), given);
    } catch (error) {
      if (given.waitsAt !== undefined && !given.isUp && error instanceof Object) this.#places.set(error, given.waitsAt);
      throw error;
    }
    return { value: runtime.value === undefined || runtime.value === null ? undefined : { shown: runtime.value } };
  }

  /** Gives up waiting for the cells; code of them that runs is stopped by the worker. */
  interrupt(): void {
    for (const given of this.#running) given.giveUp?.();
    this.#running.clear();
  }

  /**
   * Parts of a cell, expressions, and cells that leave no trace in the notebook have the number of one that may still run,
   * which keeps its own script: positions in stack traces are translated by the name.
   */
  #nameOf(count: number): string {
    if (count <= this.#highest) return scriptOfCell(count, this.#others++ % maxOthers);
    this.#highest = count;
    return scriptOfCell(count);
  }

  async #unlessInterrupted(run: () => Promise<void>, given: Given): Promise<void> {
    const givenUp = new Promise<never>((_, reject) => {
      given.giveUp = () => {
        given.isUp = true;
        reject(interruption());
      };
    });
    // Nobody waits for it once the cell is over.
    givenUp.catch(() => {});
    this.#running.add(given);
    try {
      await Promise.race([this.#options.maps.isDebugged ? unwatched(run) : run(), givenUp]);
    } finally {
      this.#running.delete(given);
    }
  }
}

const interruption = (): Error => new DOMException('The cell was interrupted.', 'AbortError');
