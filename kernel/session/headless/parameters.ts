import ts from 'typescript-6';
import { CatalogError } from '#shared/errors.ts';
import type { NotebookLanguage } from '#shared/notebookLanguage.ts';
import { type CodeCell, isCodeCell, newCodeCell, type Notebook, tagsOf } from './notebookFile.ts';

/**
 * The type that a parameter without one is meant to have, as code, read off the value it is given: `string[]` of
 * `["a"]`. Undefined for what is no plain value, such as a call, and for what holds nothing to go by.
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

/** What the command line gives in place of a value of the notebook: as it was written, and what that is. */
export type Parameter = { readonly text: string; readonly value: unknown };

/**
 * Reads one `name=value`. The value is what it is as JSON (`5`, `true`, `null`, `["a", "b"]`, `"5"`), else the text itself.
 * Whole numbers that a number can't hold are bigints.
 * @throws CatalogError InvalidInput (13) when there is no `=`, or no name of a variable before it
 */
export function readParameter(argument: string): [name: string, parameter: Parameter] {
  const at = argument.indexOf('=');
  const name = argument.slice(0, Math.max(at, 0)).trim();
  const hint = 'Write name=value, for instance limit=10.';
  if (at < 0) throw new CatalogError('InvalidInput', `The parameter "${argument}" has no value.`, hint);
  if (!identifier.test(name)) throw new CatalogError('InvalidInput', `"${name}" is no name of a variable.`, hint);
  const text = argument.slice(at + 1);
  try {
    return [name, { text, value: JSON.parse(text, exactNumber) as unknown }];
  } catch {
    return [name, { text, value: text }];
  }
}

/** The text of a number that is being read, which Node gives since 22 and its types do not know. */
function exactNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source ?? '';
  return typeof value === 'number' && /^-?\d+$/.test(source) && !Number.isSafeInteger(value) ? BigInt(source) : value;
}

/** A value of JSON, or a bigint, as an expression of TypeScript. */
export function literal(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : JSON.stringify(value);
  const entries = Object.entries(value).map(([name, each]) => `${keyOf(name)}: ${literal(each)}`);
  return entries.length > 0 ? `{ ${entries.join(', ')} }` : '{}';
}

/** In brackets it is a property; bare it would set the prototype. */
const keyOf = (name: string): string => (name === '__proto__' ? '["__proto__"]' : JSON.stringify(name));

/** The tags by which programs that run notebooks agree on parameters. */
const parametersTag = 'parameters';
const injectedTag = 'injected-parameters';

/** How a cell declares a name; the type as code, where it is written or plain to see. */
type Declared = { isConstant: boolean; type: string | undefined };

/** A parameter in the cell that gives the values. */
export type Written = Parameter & { readonly name: string; readonly type: string | undefined; readonly code: string };

/** The cell that gives the values. */
export type Injected = {
  readonly source: string;
  /** In the order in which they stand there, below a line of comment. */
  readonly written: readonly Written[];
  /** Names that the cell of parameters does not declare; all of them where there is no such cell. */
  readonly unknown: readonly string[];
};

/**
 * Puts values in place of those that the cell tagged `parameters` gives, by a cell below it (or in place of such a cell of
 * an earlier run; without either, at the top). In JavaScript no type is written.
 */
export function injectParameters(
  notebook: Notebook,
  given: ReadonlyMap<string, Parameter>,
  language: NotebookLanguage = 'typescript',
): Injected {
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

/** The same cell for whoever compares the results of two runs. */
const again = (cell: CodeCell, id: string): CodeCell => ({ ...cell, id });

/**
 * A variable is assigned, so that its type is checked and functions above see the value. A constant is declared anew with
 * its type; where none can be told, by `let`, for `const limit = 5` would be of the type `5`.
 */
function writtenAs(
  name: string,
  parameter: Parameter,
  declared: Declared | undefined,
  language: NotebookLanguage,
): Written {
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

/** Where text is declared, a postcode or a version is no number. */
function valueFor(type: string | undefined, { text, value }: Parameter): unknown {
  if (type === 'string') return typeof value === 'string' || value === null ? value : text;
  // JSON has no way to write a small one.
  return type === 'bigint' && Number.isSafeInteger(value) ? BigInt(value as number) : value;
}

function declaredIn(source: string): Map<string, Declared> {
  const file = ts.createSourceFile('cell.ts', source, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS);
  const found = new Map<string, Declared>();
  for (const each of file.statements) {
    if (!ts.isVariableStatement(each)) continue;
    const { flags, declarations } = each.declarationList;
    // The two kinds of `using` have its bit too, and no parameter is one.
    const isConstant = (flags & ts.NodeFlags.Const) !== 0;
    for (const { name, type, initializer } of declarations) {
      if (!ts.isIdentifier(name)) continue;
      found.set(name.text, { isConstant, type: type?.getText(file) ?? (initializer && literalType(initializer)) });
    }
  }
  return found;
}

/** A value of the command line is shown as far as this. */
const maxShown = 60;

const findings = /\[\d+\]:(\d+):\d+ - error TS\d+/g;

/** Of each parameter that the check of types refused, which it is and how it is written. */
export function refusedParameters(traceback: string, { written }: Injected): string[] {
  const refused = [...traceback.matchAll(findings)].map(([, line]) => parameterAt(written, Number(line)));
  return [...new Set(refused)].filter((each) => each !== undefined).map(described);
}

/** A type may be written over several lines. The first line is a comment. */
function parameterAt(written: readonly Written[], line: number): Written | undefined {
  let last = 1;
  return written.find(({ code }) => (last += code.split('\n').length) >= line);
}

function described({ name, text, type, value }: Written): string {
  const shown = `-p ${name}=${text.length > maxShown ? `${text.slice(0, maxShown)}…` : text}`;
  if (type === undefined) return `${shown} does not fit "${name}" as the notebook declares it.`;
  return `${shown} is ${kindOf(value)}, and "${name}" is declared as ${type.replaceAll(/\s+/g, ' ')}. ${hintFor(name, type)}`;
}

function kindOf(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return 'text';
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object';
  return typeof value === 'bigint' ? 'a bigint' : 'a number';
}

function hintFor(name: string, type: string): string {
  const example = examples[type] ?? (type.endsWith('[]') ? `'NAME=["a", "b"]'` : undefined);
  if (example === undefined) return 'Write a value of that type in JSON.';
  return `Write for instance -p ${example.replace('NAME', () => name)}.`;
}

/** As a shell takes them. */
const examples: Readonly<Record<string, string>> = {
  number: 'NAME=10',
  bigint: 'NAME=10',
  boolean: 'NAME=true',
  string: `'NAME="text"'`,
  'number[]': "'NAME=[1, 2]'",
};
