import ts from 'typescript-6';
import { CatalogError } from '#shared/errors.ts';
import type { NotebookLanguage } from '#shared/notebookLanguage.ts';
import { type CodeCell, isCodeCell, newCodeCell, type Notebook, tagsOf } from './notebookFile.ts';

/**
 * Infers the declared type of a parameter from its value, as code: `string[]` for `["a"]`. Returns undefined for an
 * empty list or object, and for a value that is not a plain literal, such as a call.
 */
export function literalType(node: ts.Expression): string | undefined {
  if (ts.isParenthesizedExpression(node)) return literalType(node.expression);
  if (ts.isNumericLiteral(node)) return 'number';
  if (ts.isBigIntLiteral(node)) return 'bigint';
  if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) return 'string';
  if (node.kind === ts.SyntaxKind.TrueKeyword || node.kind === ts.SyntaxKind.FalseKeyword) return 'boolean';
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.MinusToken) return literalType(node.operand);
  if (ts.isArrayLiteralExpression(node)) return listType(node.elements);
  return ts.isObjectLiteralExpression(node) ? recordType(node) : undefined;
}

function listType(elements: readonly ts.Expression[]): string | undefined {
  const types = new Set(elements.map(literalType));
  const [first] = types;
  if (first === undefined || types.has(undefined)) return undefined;
  return types.size === 1 ? `${first}[]` : `(${[...types].join(' | ')})[]`;
}

function recordType({ properties }: ts.ObjectLiteralExpression): string | undefined {
  const fields = properties.map((property) => {
    if (!ts.isPropertyAssignment(property) || ts.isComputedPropertyName(property.name)) return undefined;
    const type = literalType(property.initializer);
    return type && `${property.name.getText()}: ${type}`;
  });
  return fields.length === 0 || fields.includes(undefined) ? undefined : `{ ${fields.join('; ')} }`;
}

const identifier = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u;

/** A value from the command line, as written and parsed. */
export type Parameter = { readonly text: string; readonly value: unknown };

/**
 * Parses `name=value`. The value is parsed as JSON (`5`, `true`, `null`, `["a", "b"]`, `"5"`) if possible, else it is
 * the string itself. Integers beyond the safe range become bigints.
 * @throws CatalogError InvalidInput (13) if `=` is missing, or the name before it is not a valid variable name
 */
export function readParameter(argument: string): [name: string, parameter: Parameter] {
  const at = argument.indexOf('=');
  const name = argument.slice(0, Math.max(at, 0)).trim();
  const hint = 'Write name=value, for instance limit=10.';
  if (at < 0) throw new CatalogError('InvalidInput', `The parameter "${argument}" has no value.`, hint);
  if (!identifier.test(name)) throw new CatalogError('InvalidInput', `"${name}" is not a valid variable name.`, hint);
  const text = argument.slice(at + 1);
  try {
    return [name, { text, value: JSON.parse(text, exactNumber) as unknown }];
  } catch {
    return [name, { text, value: text }];
  }
}

/** JSON.parse passes the source text of a number since Node.js 22; the type declarations lack this argument. */
function exactNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source ?? '';
  return typeof value === 'number' && /^-?\d+$/.test(source) && !Number.isSafeInteger(value) ? BigInt(source) : value;
}

export function literal(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : JSON.stringify(value);
  const entries = Object.entries(value).map(([name, each]) => `${keyOf(name)}: ${literal(each)}`);
  return entries.length > 0 ? `{ ${entries.join(', ')} }` : '{}';
}

/** `["__proto__"]` creates a property; `__proto__` without brackets would set the prototype. */
const keyOf = (name: string): string => (name === '__proto__' ? '["__proto__"]' : JSON.stringify(name));

/** Cell tags for parameters, shared with other programs that run notebooks. */
const parametersTag = 'parameters';
const injectedTag = 'injected-parameters';

/** `type` is code; undefined if neither annotated nor inferred. */
type Declared = { isConstant: boolean; type: string | undefined };

export type ParameterCell = Parameter & {
  readonly name: string;
  readonly type: string | undefined;
  readonly code: string;
};

export type InjectedParameters = {
  readonly source: string;
  /** The parameters in the order of the lines of the added cell. The first line of the cell is a comment. */
  readonly written: readonly ParameterCell[];
  /** Names that the parameters cell does not declare; all names if there is no such cell. */
  readonly unknown: readonly string[];
};

/**
 * Adds a cell with the parameters below the cell tagged `parameters`, or replaces the cell that an earlier run added.
 * If neither exists, the new cell is the first one. In JavaScript no types are written.
 */
export function injectParameters(
  notebook: Notebook,
  given: ReadonlyMap<string, Parameter>,
  language: NotebookLanguage = 'typescript',
): InjectedParameters {
  const { cells } = notebook;
  const tagged = (tag: string) => cells.findIndex((cell) => isCodeCell(cell) && tagsOf(cell).includes(tag));
  const before = tagged(parametersTag);
  const earlier = tagged(injectedTag);
  const declared = declaredIn(cells[before]?.source ?? '');
  const written = [...given].map(([name, parameter]) => writtenAs(name, parameter, declared.get(name), language));
  const source = ['// Parameters', ...written.map(({ code }) => code)].join('\n');
  const injected = newCodeCell(source, [injectedTag]);
  if (earlier >= 0) cells[earlier] = again(injected, cells[earlier]!.id);
  else cells.splice(before + 1, 0, injected);
  return { source, written, unknown: [...given.keys()].filter((name) => !declared.has(name)) };
}

/** Keeps the id of an earlier parameters cell, so that the results of two runs can be compared. */
const again = (cell: CodeCell, id: string): CodeCell => ({ ...cell, id });

/**
 * Returns the statement that sets a parameter. A variable is assigned, so that its type is checked and functions above
 * see the value. A constant is declared again with its type, or with `let` if the type is unknown, because `const limit
 * = 5` would have the type `5`.
 */
function writtenAs(
  name: string,
  parameter: Parameter,
  declared: Declared | undefined,
  language: NotebookLanguage,
): ParameterCell {
  const type = declared?.type;
  const value = literal(valueFor(type, parameter));
  const code =
    declared && !declared.isConstant
      ? `${name} = ${value};`
      : type === undefined || language === 'javascript'
        ? `let ${name} = ${value};`
        : `const ${name}: ${type} = ${value};`;
  return { ...parameter, name, type, code };
}

/**
 * Returns the value for the declared type. If the type is `string`, a value that looks like a number, such as a
 * postcode, stays a string.
 */
function valueFor(type: string | undefined, { text, value }: Parameter): unknown {
  if (type === 'string') return typeof value === 'string' || value === null ? value : text;
  // A parameter of type `bigint` may be written as a small number, because JSON has no notation for a bigint.
  return type === 'bigint' && Number.isSafeInteger(value) ? BigInt(value as number) : value;
}

function declaredIn(source: string): Map<string, Declared> {
  const file = ts.createSourceFile('cell.ts', source, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS);
  const found = new Map<string, Declared>();
  for (const each of file.statements) {
    if (!ts.isVariableStatement(each)) continue;
    const { flags, declarations } = each.declarationList;
    // `using` and `await using` also set this bit, but parameters are never declared with them.
    const isConstant = (flags & ts.NodeFlags.Const) !== 0;
    for (const { name, type, initializer } of declarations) {
      if (!ts.isIdentifier(name)) continue;
      found.set(name.text, { isConstant, type: type?.getText(file) ?? (initializer && literalType(initializer)) });
    }
  }
  return found;
}

/** Maximum characters shown of a value from the command line. */
const maxShown = 60;

const findings = /\[\d+\]:(\d+):\d+ - error TS\d+/g;

/** Returns a description of each parameter that the type check rejected. */
export function refusedParameters(traceback: string, { written }: InjectedParameters): string[] {
  const refused = [...traceback.matchAll(findings)].map(([, line]) => parameterAt(written, Number(line)));
  return [...new Set(refused)].filter((each) => each !== undefined).map(described);
}

/**
 * Returns the parameter whose statement contains a line of the cell. A type may span several lines. The first line of
 * the cell is a comment.
 */
function parameterAt(written: readonly ParameterCell[], line: number): ParameterCell | undefined {
  let last = 1;
  return written.find(({ code }) => (last += code.split('\n').length) >= line);
}

function described({ name, text, type, value }: ParameterCell): string {
  const shown = `-p ${name}=${text.length > maxShown ? `${text.slice(0, maxShown)}…` : text}`;
  if (type === undefined) return `${shown} does not match the type of "${name}" in the notebook.`;
  return `${shown} is ${kindOf(value)}, but "${name}" is declared as ${type.replaceAll(/\s+/g, ' ')}. ${hintFor(name, type)}`;
}

function kindOf(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return 'a string';
  if (typeof value === 'object') return Array.isArray(value) ? 'an array' : 'an object';
  return typeof value === 'bigint' ? 'a bigint' : 'a number';
}

function hintFor(name: string, type: string): string {
  const example = examples[type] ?? (type.endsWith('[]') ? `'NAME=["a", "b"]'` : undefined);
  if (example === undefined) return 'Write a value of this type in JSON.';
  return `Write for instance -p ${example.replace('NAME', () => name)}.`;
}

/** Example values, quoted for a shell. */
const examples: Readonly<Record<string, string>> = {
  number: 'NAME=10',
  bigint: 'NAME=10',
  boolean: 'NAME=true',
  string: `'NAME="text"'`,
  'number[]': "'NAME=[1, 2]'",
};
