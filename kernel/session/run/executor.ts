import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { constants, Script, type ScriptOptions } from 'node:vm';
import ts from 'typescript-6';
import { runtimeName, variablePrefix } from '#session/compile/generatedNames.ts';
import { cellGlobalNames, type CellGlobals } from './cellGlobals.ts';
import type { CellModules } from './cellModules.ts';
import type { ScriptMaps } from './scriptMaps.ts';
import { scriptOfCell } from './scriptNames.ts';
import { runUncaught } from './runUncaught.ts';
import type { Variable, Variables } from './variables.ts';

/**
 * Rewrites the text of a direct `eval` so that it reads notebook variables. Without the rewrite, the variables would
 * not be found, because they are not variables of the cell's script.
 * @param locals names that are local variables at the position of the `eval`
 * @param isVariable whether the notebook has a variable of this name
 */
export function evalText(code: unknown, locals: readonly string[], isVariable: (name: string) => boolean): unknown {
  if (typeof code !== 'string') return code;
  const file = ts.createSourceFile('eval.js', code, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  const uses: { start: number; end: number; text: string }[] = [];
  const declared = new Set(locals);
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) {
      if (isDeclaration(node)) declared.add(node.text);
      else if (isUse(node)) uses.push({ start: node.getStart(file), end: node.end, text: written(node) });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  const names = new Set<string>();
  let result = code;
  for (const { start, end, text } of uses.toReversed()) {
    const name = code.slice(start, end);
    // A name that the text declares anywhere counts as local in the whole text.
    if (declared.has(name) || !isVariable(name)) continue;
    names.add(name);
    result = result.slice(0, start) + text + result.slice(end);
  }
  if (names.size === 0) return code;
  const listed = [...names].map((name) => JSON.stringify(name)).join(', ');
  const bound = [...names].map((name) => variablePrefix + name).join(', ');
  return `const [${bound}] = ${runtimeName}.variables([${listed}]);${result}`;
}

function written(node: ts.Identifier): string {
  const variable = `${variablePrefix}${node.text}.v`;
  if (ts.isShorthandPropertyAssignment(node.parent)) return `${node.text}: ${variable}`;
  // Calls a notebook function without its variable object as `this`.
  return ts.isCallExpression(node.parent) && node.parent.expression === node ? `(0, ${variable})` : variable;
}

const isDeclaration = ({ parent, text }: ts.Identifier): boolean =>
  !ts.isShorthandPropertyAssignment(parent) &&
  'name' in parent &&
  (parent.name as Partial<ts.Identifier> | undefined)?.text === text &&
  (ts.isVariableDeclaration(parent) ||
    ts.isParameter(parent) ||
    ts.isBindingElement(parent) ||
    ts.isFunctionLike(parent) ||
    ts.isClassLike(parent));

/** Whether an identifier reads or writes a variable; not the name of a property or a label. */
function isUse(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isLabeledStatement(parent) || ts.isBreakOrContinueStatement(parent)) return false;
  if (ts.isBindingElement(parent)) return parent.initializer === node;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  return !('name' in parent && parent.name === node);
}

/**
 * Node warns once per process that `import()` in `node:vm` code is experimental. Triggers this warning now and
 * suppresses it, because otherwise a cell would print it.
 */
function silenceImportWarning(): void {
  const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  const first = new Script(`import('node:vm')`, { importModuleDynamically });
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => {};
  try {
    void first.runInThisContext();
  } finally {
    process.emitWarning = emitWarning;
  }
}

/**
 * Compiles a script without V8's compilation cache: cells rarely repeat, and 10,000 of them would take 20 MB. The
 * user's own `eval` keeps using the cache, which makes `eval` fast in loops.
 */
function compileUncached(code: string, options: ScriptOptions): Script {
  setFlagsFromString('--no-compilation-cache');
  try {
    return new Script(code, options);
  } finally {
    // This line does not run if execution is terminated. Then the next cell restores the flag.
    setFlagsFromString('--compilation-cache');
  }
}

/** The result of a cell: the value of its last expression, unless null or undefined. */
type Executed = { value: { shown: unknown } | undefined };

/** The runtime object of generated code, see cellTransform.ts. */
type CellRuntime = {
  value?: unknown;
  variables: (names: readonly string[]) => Variable[];
  load: CellModules['load'];
  import: CellModules['import'];
  evalText: (code: unknown, locals: readonly string[]) => unknown;
  /** Records the position of a top-level `await` that starts waiting. */
  waits: <T>(value: T, line: number, column: number) => T;
  /**
   * Receives the value of a top-level `await`.
   * @throws DOMException AbortError if the cell was interrupted
   */
  resume: <T>(value: T) => T;
  meta: ImportMeta;
};

/** Creates the cell's function, with replacements of the globals in `cellGlobalNames`. */
type MakeBody = (...globals: readonly unknown[]) => CellBody;

type CellBody = (
  runtime: CellRuntime,
  require: NodeJS.Require,
  module: object,
  exports: object,
  filename: string,
  dirname: string,
) => Promise<void>;

/** State of a running cell: whether it was cancelled, how to cancel it, and where it waits, as `[3]:2:7`. */
type Given = { isUp: boolean; giveUp?: () => void; waitsAt: string | undefined };

/**
 * Number of names for scripts that share a cell's number. The names are reused, so that expressions evaluated in a loop
 * don't displace other source maps.
 */
const maxOthers = 100;

type CellExecutorOptions = {
  variables: Variables;
  /** The notebook's variables as an object, for CommonJS `exports`. */
  locals: object;
  modules: CellModules;
  maps: ScriptMaps;
  globals: CellGlobals;
  folder: () => string;
};

/** Runs compiled cells in the kernel's own realm, each as a function. */
export class CellExecutor {
  readonly #options: CellExecutorOptions;
  /**
   * For an error, where a cell waited for the promise that rejected with the error. Needed because most errors of a
   * catalog or a package have no position in the cell.
   */
  readonly #places = new WeakMap<object, string>();
  readonly #running = new Set<Given>();
  /** The highest cell number so far. */
  #highest = -1;
  /** The number of scripts that used the number of a cell again (see `#nameOf`). */
  #others = 0;

  constructor(options: CellExecutorOptions) {
    this.#options = options;
    silenceImportWarning();
  }

  /**
   * Returns where a cell waited for the promise that rejected with an error, as `[3]:2:7`; undefined if the cell did
   * not wait.
   */
  placeOf(error: unknown): string | undefined {
    return typeof error === 'object' && error !== null ? this.#places.get(error) : undefined;
  }

  /**
   * Runs one cell to its end, or until `interrupt`.
   * @param count identifies the cell in stack traces
   * @throws the error that the cell throws
   */
  async execute(output: string, count: number): Promise<Executed> {
    const { variables, locals, modules, maps, globals } = this.#options;
    const script = this.#nameOf(count);
    const code = maps.add(script, output);
    const parameters = `${runtimeName}, require, module, exports, __filename, __dirname`;
    const head = `(function (${cellGlobalNames.join(', ')}) { return async function (${parameters}) { "use strict";`;
    const compiled = compileUncached(`${head}\n${code}\n} })`, {
      filename: script,
      // The offset excludes the line that was added above the cell.
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

  /** Cancels the wait for all cells; the worker thread stops code that is busy. */
  interrupt(): void {
    for (const given of this.#running) given.giveUp?.();
    this.#running.clear();
  }

  /**
   * Returns a unique name for a script. The name is used to translate positions in stack traces. Parts of a cell,
   * expressions, and cells not stored in the history share the number of another cell. That cell may still run, so
   * these scripts get other names.
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
    // After the cell has ended, no code awaits this promise, so its rejection is handled here.
    givenUp.catch(() => {});
    this.#running.add(given);
    try {
      await Promise.race([this.#options.maps.isDebugged ? runUncaught(run) : run(), givenUp]);
    } finally {
      this.#running.delete(given);
    }
  }
}

const interruption = (): Error => new DOMException('The cell was interrupted.', 'AbortError');
