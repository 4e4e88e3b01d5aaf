import ts from 'typescript-6';
import { boundNames, importedNames, isDisposed, namesOf } from '#session/compile/cellNames.ts';
import { runtimeName, variablePrefix } from '#session/compile/generatedNames.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';

// Turns a function of a cell into a separate module. Uses the compiled text of the function and not the text of the
// cell, because a cell may create ten functions in a loop, and the text of the cell does not show which function is
// meant. In the compiled text the compiler has marked every use of a notebook variable (`$cell_name.v`), so the
// dependencies are known exactly. A variable is included if its meaning is fixed: an import, a portable function or
// class, or a constant with its value. Anything else that a function may capture (a `let`, a connection, arguments of
// an enclosing function) is refused by name.

/** Maximum characters of a constant: larger values are data and belong in a column or a file. */
const maxText = 64 * 1024;
const maxDepth = 8;

/**
 * Returns code that recreates a value: a primitive, a regular expression, a date, or arrays, sets, maps, typed arrays
 * and plain objects of these.
 * @returns undefined for any other value, and for values that are too large
 */
function constantText(value: unknown): string | undefined {
  const text = literalSource(value, 0);
  return text !== undefined && text.length <= maxText ? text : undefined;
}

function literalSource(value: unknown, depth: number): string | undefined {
  if (depth > maxDepth) return undefined;
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      return Object.is(value, -0) ? '-0' : String(value);
    case 'bigint':
      return `${value}n`;
    case 'boolean':
      return String(value);
    case 'undefined':
      return 'undefined';
    case 'object':
      return value === null ? 'null' : objectText(value, depth + 1);
    case 'function':
    case 'symbol':
      return undefined;
  }
}

function objectText(value: object, depth: number): string | undefined {
  if (Array.isArray(value)) return listText(value, depth);
  // An instance of a user-defined class is not a constant, and neither is a collection with extra properties.
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return plainText(value, depth);
  if (prototype === RegExp.prototype) return RegExp.prototype.toString.call(value);
  if (prototype === Date.prototype) return `new Date(${Number(value)})`;
  if (prototype === Set.prototype) return wrapped('Set', listText([...(value as Set<unknown>)], depth));
  if (prototype === Map.prototype) return wrapped('Map', listText([...(value as Map<unknown, unknown>)], depth));
  const isNumbers = ArrayBuffer.isView(value) && !(value instanceof DataView) && !Buffer.isBuffer(value);
  if (!isNumbers) return undefined;
  const { name } = value.constructor;
  if (prototype !== (globalThis as unknown as Record<string, { prototype: unknown }>)[name]?.prototype)
    return undefined;
  return wrapped(name, listText(Array.from(value as unknown as Iterable<unknown>), depth));
}

const wrapped = (name: string, list: string | undefined): string | undefined => list && `new ${name}(${list})`;

function listText(list: readonly unknown[], depth: number): string | undefined {
  if (list.length > maxText) return undefined;
  const parts: string[] = [];
  for (const each of list) {
    const text = literalSource(each, depth);
    if (text === undefined) return undefined;
    parts.push(text);
  }
  return `[${parts.join(', ')}]`;
}

function plainText(value: object, depth: number): string | undefined {
  const parts: string[] = [];
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    const text = 'value' in property && property.enumerable ? literalSource(property.value, depth) : undefined;
    if (text === undefined) return undefined;
    parts.push(`[${JSON.stringify(name)}]: ${text}`);
  }
  return Object.getOwnPropertySymbols(value).length > 0 ? undefined : `({ ${parts.join(', ')} })`;
}

type Declared =
  | { readonly kind: 'import'; readonly from: string; readonly imported: string }
  | { readonly kind: 'const' | 'let' | 'var' | 'function' | 'class' | 'enum' | 'other' };

/**
 * Returns how the variables of a notebook were declared.
 * @param declarations of all cells, as the compiler keeps them; the last declaration of a name counts
 */
function declaredVariables(declarations: string): ReadonlyMap<string, Declared> {
  const file = ts.createSourceFile('cells.d.ts', declarations, ts.ScriptTarget.Latest, false);
  const found = new Map<string, Declared>();
  for (const statement of file.statements) {
    if (ts.isImportDeclaration(statement)) {
      const from = ts.isStringLiteral(statement.moduleSpecifier) ? statement.moduleSpecifier.text : '';
      for (const { local, imported } of importedNames(statement))
        found.set(local.text, { kind: 'import', from, imported });
    } else if (ts.isVariableStatement(statement)) {
      const list = statement.declarationList;
      const kind = isDisposed(list) ? 'other' : kindOf(list);
      for (const { name } of list.declarations) for (const each of boundNames(name)) found.set(each, { kind });
    } else
      for (const name of namesOf(statement))
        if (!isType(statement)) found.set(name, { kind: statementKind(statement) });
  }
  return found;
}

const kindOf = ({ flags }: ts.VariableDeclarationList): 'const' | 'let' | 'var' =>
  flags & ts.NodeFlags.Const ? 'const' : flags & ts.NodeFlags.Let ? 'let' : 'var';

const isType = (statement: ts.Statement): boolean =>
  ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement);

function statementKind(statement: ts.Statement): 'function' | 'class' | 'enum' | 'other' {
  if (ts.isFunctionDeclaration(statement)) return 'function';
  if (ts.isClassDeclaration(statement)) return 'class';
  return ts.isEnumDeclaration(statement) ? 'enum' : 'other';
}

/** A name that the text of a function uses but does not declare. */
type UsedName = {
  readonly name: string;
  /**
   * `variable`: a notebook variable; `kernel`: a member of the runtime object of generated code; `other`: a global, or
   * a name of the code around the function.
   */
  readonly of: 'variable' | 'kernel' | 'other';
  /** Position in the text. */
  readonly start: number;
  readonly end: number;
};

type FunctionText = { readonly text: string; readonly names: readonly UsedName[] };

const fileName = '/function.js';
const head = '(';

/**
 * Parses the compiled text of a function or class, where notebook variables have a prefix.
 * @returns undefined if the text is not an expression, such as the text of a method
 */
function usedNames(text: string): FunctionText | undefined {
  const file = ts.createSourceFile(fileName, `${head}${text})`, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  const { parseDiagnostics = [] } = file as { parseDiagnostics?: readonly unknown[] };
  if (parseDiagnostics.length > 0 || file.statements.length !== 1) return undefined;
  const checker = checkerOf(file);
  const names: UsedName[] = [];
  const add = (name: string, of: UsedName['of'], node: ts.Node): void => {
    names.push({ name, of, start: node.getStart(file) - head.length, end: node.end - head.length });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)) {
      const { text: owner } = node.expression;
      if (owner === runtimeName) return add(node.name.text, 'kernel', node);
      if (owner.startsWith(variablePrefix) && node.name.text === 'v')
        return add(owner.slice(variablePrefix.length), 'variable', node);
    }
    if (ts.isIdentifier(node) && isUse(node) && !isDeclared(checker, node)) add(node.text, 'other', node);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return { text, names };
}

/** Creates a checker without libraries, so that only names declared in the text are found. */
function checkerOf(file: ts.SourceFile): ts.TypeChecker {
  const host: ts.CompilerHost = {
    getSourceFile: (name) => (name === fileName ? file : undefined),
    getDefaultLibFileName: () => '/lib.d.ts',
    writeFile: () => {},
    getCurrentDirectory: () => '/',
    getCanonicalFileName: (name) => name,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => '\n',
    fileExists: (name) => name === fileName,
    readFile: () => undefined,
  };
  const options: ts.CompilerOptions = {
    allowJs: true,
    noLib: true,
    noResolve: true,
    types: [],
    target: ts.ScriptTarget.Latest,
  };
  return ts.createProgram([fileName], options, host).getTypeChecker();
}

/** Names that are defined in every function. */
const ofLanguage: ReadonlySet<string> = new Set(['arguments', 'undefined', 'globalThis']);

function isDeclared(checker: ts.TypeChecker, node: ts.Identifier): boolean {
  const { parent } = node;
  const symbol = ts.isShorthandPropertyAssignment(parent)
    ? checker.getShorthandAssignmentValueSymbol(parent)
    : checker.getSymbolAtLocation(node);
  // A symbol counts only if it has a declaration: the compiler treats JavaScript as CommonJS and adds a `require`
  // symbol without a declaration.
  return (symbol?.declarations ?? []).length > 0 || ofLanguage.has(node.text);
}

/** Whether an identifier is a reference, not the name of a property or a label. */
function isUse(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isShorthandPropertyAssignment(parent)) return parent.name === node;
  if (ts.isBindingElement(parent)) return parent.propertyName !== node && parent.name !== node;
  if (ts.isLabeledStatement(parent) || ts.isBreakOrContinueStatement(parent) || ts.isMetaProperty(parent)) return false;
  return !('name' in parent && parent.name === node);
}

export type Notebook = {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly declarations: string;
  /** Returns the number of the cell that declared a variable, if any. */
  readonly cellOf: (name: string) => number | undefined;
};

/** Globals of Node.js, read before any cell can add to them. */
const globals: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(globalThis));

/**
 * Returns the text of an ES module whose default export is the function.
 * @param name of the function, for errors
 * @throws JobError FunctionNotPortable naming the variable that is not portable, and its cell
 */
export function portableModule(name: string, fn: Function, notebook: Notebook): string {
  return new ModuleMaker(name, notebook).make(fn);
}

class ModuleMaker {
  readonly #name: string;
  readonly #notebook: Notebook;
  readonly #declared: ReadonlyMap<string, Declared>;
  /** Statements by the variable that they declare, dependencies first. */
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

  /**
   * Returns the text of a function or class, with the variable names that the user wrote.
   * @param via the variable that holds the function
   */
  #text(fn: Function, via: string | undefined): string {
    const compiled = Function.prototype.toString.call(fn);
    const what = via === undefined ? 'is' : `uses the function "${via}"${this.#cell(via)}, which is`;
    if (/\{\s*\[native code\]\s*\}$/.test(compiled))
      throw this.#refused(`${what} a built-in or bound function`, 'Write it as (row) => ….');
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
      const meant = name === 'meta' ? 'import.meta' : name === 'evalText' ? 'eval' : 'a feature of the notebook';
      throw this.#refused(`uses ${meant}${where}, which is not available where the function runs`, 'Remove it.');
    }
    if (globals.has(name)) return name;
    if (name === 'require' || name === 'module' || name === 'exports')
      throw this.#refused(
        `uses ${name}${where}, which is not available where the function runs`,
        'Import the module in the cell instead.',
      );
    throw this.#refused(
      `uses "${name}"${where}, which is declared in an enclosing scope and can't be stored with the function`,
      'Declare it as a constant at the top level of a cell, or as a constant inside the function.',
    );
  }

  /** Adds the statement that declares a notebook variable, after its dependencies. */
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
    // In a notebook the kernel provides this module. On the machine where the function runs, the import names the
    // package itself.
    if (from === 'lance-catalog' && imported === 'arrow') return `import * as ${name} from 'apache-arrow';`;
    if (from === 'lance-catalog' || from === 'tslab')
      throw this.#refused(
        `uses "${name}", which belongs to the notebook and is not available where the function runs`,
        'Pass what the function needs as columns or constants.',
      );
    const specifier = JSON.stringify(from);
    if (imported === '*') return `import * as ${name} from ${specifier};`;
    return `import { ${imported} as ${name} } from ${specifier};`;
  }

  #declaration(name: string, declared: Declared | undefined): string {
    // A variable that no cell declares belongs to the kernel.
    const kind = declared && this.#notebook.cellOf(name) !== undefined ? declared.kind : 'other';
    const value = this.#notebook.variables[name];
    if (kind === 'let' || kind === 'var' || kind === 'other') {
      const said = kind === 'other' ? 'which belongs to the notebook' : `which is declared with ${kind} and may change`;
      const hint =
        kind === 'other'
          ? 'Pass what the function needs as columns or constants.'
          : 'Declare it with const, or as a constant inside the function.';
      throw this.#refused(`uses the variable "${name}"${this.#cell(name)}, ${said}`, hint);
    }
    if (typeof value === 'function') return `const ${name} = ${parenthesised(this.#text(value, name))};`;
    const text = constantText(value);
    if (text !== undefined) return `const ${name} = ${text};`;
    throw this.#refused(
      `uses the variable "${name}"${this.#cell(name)}, which holds ${described(value)} and can't be stored with the function`,
      'Create the value inside the function, or declare the plain values that it needs as constants.',
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
    return 'values that are not plain, or more than 64 KB,';
  return typeof name === 'string' && name !== '' ? `a ${name}` : 'an object';
}
