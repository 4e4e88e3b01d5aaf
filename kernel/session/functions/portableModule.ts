import { JobError } from '#shared/jobs/jobErrors.ts';
import { constantText } from './constantText.ts';
import { declaredVariables, type Declared } from './declaredVariables.ts';
import { usedNames, type UsedName } from './usedNames.ts';

// How a function of a cell becomes a module of its own. What travels is the text that runs in the notebook, and not the
// cell that it was written in: a cell may make ten functions in a loop, and only the function itself knows which it is. In
// that text the compiler has marked every use of a variable of the notebook (`$cell_name.v`), so what a function needs is
// known without guessing. A variable goes along where it can only mean one thing: an import, a function or a class that
// can travel itself, or a constant, with the value that it has. Everything else that a function may hold on to (what a
// `let` says later, a connection, the arguments of a function around it) is refused by its name.

export type Notebook = {
  /** The value of each of its variables. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Declarations of all cells. */
  readonly declarations: string;
  /** The number of the cell that declared a variable, where one did. */
  readonly cellOf: (name: string) => number | undefined;
};

/** Globals of Node, as they are before any cell has added to them. */
const globals: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(globalThis));

/**
 * The text of an ES module whose default export is the function.
 * @param name of the function, for errors
 * @throws JobError FunctionNotPortable naming the variable that can't travel, and its cell
 */
export function portableModule(name: string, fn: Function, notebook: Notebook): string {
  return new ModuleMaker(name, notebook).make(fn);
}

class ModuleMaker {
  readonly #name: string;
  readonly #notebook: Notebook;
  readonly #declared: ReadonlyMap<string, Declared>;
  /** Statements by the variable that they declare, those first that others need. */
  readonly #statements = new Map<string, string>();
  readonly #begun = new Set<string>();

  constructor(name: string, notebook: Notebook) {
    this.#name = name;
    this.#notebook = notebook;
    this.#declared = declaredVariables(notebook.declarations);
  }

  make(fn: Function): string {
    const text = this.#text(fn, undefined);
    return `${[...this.#statements.values()].map((each) => `${each}\n`).join('')}export default ${parenthesised(text)};\n`;
  }

  /** The text of a function or class, with the names that the person wrote. @param via the variable that holds it */
  #text(fn: Function, via: string | undefined): string {
    const compiled = Function.prototype.toString.call(fn);
    const what = via === undefined ? 'is' : `uses the function "${via}"${this.#cell(via)}, which is`;
    if (/\{\s*\[native code\]\s*\}$/.test(compiled))
      throw this.#refused(`${what} built in or bound to something`, 'Write it as (row) => ….');
    const used = usedNames(compiled);
    if (!used) throw this.#refused(`${what} a method of an object`, 'Write it as (row) => ….');
    let text = compiled;
    for (const each of used.names.toReversed()) {
      const by = this.#replacement(each, via);
      text = text.slice(0, each.start) + by + text.slice(each.end);
    }
    return text;
  }

  #replacement({ name, of }: UsedName, via: string | undefined): string {
    if (of === 'variable') {
      this.#take(name);
      return name;
    }
    if (of === 'kernel' && name === 'import') return 'import';
    const where = via === undefined ? '' : ` in "${via}"${this.#cell(via)}`;
    if (of === 'kernel') {
      const meant = name === 'meta' ? 'import.meta' : name === 'evalText' ? 'eval' : 'something of the notebook';
      throw this.#refused(`uses ${meant}${where}, which means nothing where it runs`, 'Do without it.');
    }
    if (globals.has(name)) return name;
    if (name === 'require' || name === 'module' || name === 'exports')
      throw this.#refused(
        `uses ${name}${where}, which is not there where it runs`,
        'Import the module in the cell instead.',
      );
    throw this.#refused(
      `uses "${name}"${where}, which is declared around it and can't travel`,
      'Declare it as a constant of a cell, or pass it as a constant in the function.',
    );
  }

  /** Makes a statement of a variable of the notebook, after those that it needs. */
  #take(name: string): void {
    if (this.#begun.has(name)) return;
    this.#begun.add(name);
    const declared = this.#declared.get(name);
    this.#statements.set(
      name,
      declared?.kind === 'import' ? this.#import(name, declared) : this.#declaration(name, declared),
    );
  }

  #import(name: string, { from, imported }: Extract<Declared, { kind: 'import' }>): string {
    // The kernel lends it; where the function runs it is a package like any other.
    if (from === 'lance-catalog' && imported === 'arrow') return `import * as ${name} from 'apache-arrow';`;
    if (from === 'lance-catalog' || from === 'tslab')
      throw this.#refused(
        `uses "${name}", which is the notebook's and is not there where it runs`,
        'Give it what it needs as columns or constants.',
      );
    const specifier = JSON.stringify(from);
    if (imported === '*') return `import * as ${name} from ${specifier};`;
    return `import { ${imported} as ${name} } from ${specifier};`;
  }

  #declaration(name: string, declared: Declared | undefined): string {
    // What no cell has declared, the kernel has.
    const kind = declared && this.#notebook.cellOf(name) !== undefined ? declared.kind : 'other';
    const value = this.#notebook.variables[name];
    if (kind === 'let' || kind === 'var' || kind === 'other') {
      const said = kind === 'other' ? "which is the notebook's" : `which is declared by ${kind} and may change`;
      const hint =
        kind === 'other'
          ? 'Give it what it needs as columns or constants.'
          : 'Declare it by const, or pass it as a constant in the function.';
      throw this.#refused(`uses the variable "${name}"${this.#cell(name)}, ${said}`, hint);
    }
    if (typeof value === 'function') return `const ${name} = ${parenthesised(this.#text(value, name))};`;
    const text = constantText(value);
    if (text !== undefined) return `const ${name} = ${text};`;
    throw this.#refused(
      `uses the variable "${name}"${this.#cell(name)}, which holds ${described(value)} and can't travel`,
      'Make it within the function, or pass what it needs as a constant.',
    );
  }

  #cell(name: string): string {
    const count = this.#notebook.cellOf(name);
    return count === undefined ? '' : ` of cell [${count}]`;
  }

  #refused(what: string, hint: string): JobError {
    return new JobError('FunctionNotPortable', `The function "${this.#name}" ${what}.`, hint);
  }
}

const parenthesised = (text: string): string => `(${text})`;

function described(value: unknown): string {
  if (typeof value !== 'object' || value === null) return `a ${typeof value}`;
  const name: unknown = value.constructor?.name;
  if (Array.isArray(value) || name === 'Object' || name === 'Set' || name === 'Map')
    return 'more than plain values, or more than 64 KB of them';
  return typeof name === 'string' && name !== '' ? `a ${name}` : 'an object';
}
