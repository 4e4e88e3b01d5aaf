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
import { unwatched } from './unwatched.ts';
import type { Variable, Variables } from './variables.ts';

/**
 * The text of a direct `eval`, with what it names of the notebook read from its variables, as in the cell around it: they
 * are no variables of the script that a cell becomes.
 * @param locals names that mean something else where the eval stands
 * @param isVariable whether the notebook has a variable of a name
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
    // A name that the text declares somewhere is taken to mean that everywhere in it.
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
  // A function of the notebook is not called with what holds it as its `this`.
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

/** Whether an identifier reads or writes a variable, and is not the name of a property or a label. */
function isUse(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isLabeledStatement(parent) || ts.isBreakOrContinueStatement(parent)) return false;
  if (ts.isBindingElement(parent)) return parent.initializer === node;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  return !('name' in parent && parent.name === node);
}

/**
 * Node says once a process that `import()` in code of `node:vm` is experimental, as it is in every cell. Here it says so to
 * nobody; later it would be among what a cell prints.
 */
function quietImports(): void {
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
 * Compiles a script that will not come again. V8 keeps what it compiles in case the same text does, whatever its name, and
 * of ten thousand cells that is 20 MB; the person's own `eval` in a loop is quick by it and keeps it.
 */
function scriptOnce(code: string, options: ScriptOptions): Script {
  setFlagsFromString('--no-compilation-cache');
  try {
    return new Script(code, options);
  } finally {
    // Where code is cut off none of this runs, and the next cell makes up for it.
    setFlagsFromString('--compilation-cache');
  }
}

/** What a cell left: its last expression, if that is not null or undefined. */
type Executed = { value: { shown: unknown } | undefined };

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

type CellExecutorOptions = {
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
