import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import ts from 'typescript-6';
import { fileProblem } from '#processes/fileProblem.ts';
import type { ComputedFunction, OnError } from '#shared/jobs/computedFunction.ts';
import type { FunctionSource } from '#shared/jobs/jobMessages.ts';
import { shownPath } from './bundle.ts';
import { checkFunctionOptions, type FunctionOptions, invalid } from './functionOptions.ts';
import { literalOf } from './literals.ts';
import { typescriptFunction } from './typescriptFunction.ts';
import { exportedCall, isUdf, namedCall } from './udfCalls.ts';

// A file that exports `udf({ … }, (row) => …)`. Options are read from the syntax tree, and the bundle contains the
// function instead of the call, so that no code of the file runs before the user consents.

type Edit = { readonly start: number; readonly end: number; readonly text: string };

/**
 * Returns the module to bundle: the file with each `udf` call replaced by its function.
 * If `local` is set, the constant of this name becomes the only export, so that the bundler drops the other functions
 * and their imports.
 */
export function functionModule(file: ts.SourceFile, local: string | undefined): string {
  const edits: Edit[] = [];
  const visit = (node: ts.Node): void => {
    const fn = ts.isCallExpression(node) && isUdf(node.expression) ? node.arguments[1] : undefined;
    if (fn) edits.push({ start: node.getStart(file), end: node.end, text: `(${fn.getText(file)})` });
    else ts.forEachChild(node, visit);
  };
  for (const statement of file.statements) {
    if (ts.isImportDeclaration(statement)) edits.push(...importEdits(file, statement));
    else {
      if (local !== undefined) edits.push(...exportEdits(file, statement));
      if (!ts.isExportDeclaration(statement)) visit(statement);
    }
  }
  let { text } = file;
  for (const { start, end, text: by } of edits.toSorted((a, b) => b.start - a.start))
    text = text.slice(0, start) + by + text.slice(end);
  return local === undefined ? text : `${text}\nexport { ${local} as default };`;
}

const without = (start: number, end: number): Edit => ({ start, end, text: '' });

/** Removes `export`, so that only the declaration remains. */
function exportEdits(file: ts.SourceFile, statement: ts.Statement): Edit[] {
  if (ts.isExportDeclaration(statement)) return [without(statement.getStart(file), statement.end)];
  if (ts.isExportAssignment(statement)) return [without(statement.getStart(file), statement.expression.getStart(file))];
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
  return modifiers
    .filter(({ kind }) => kind === ts.SyntaxKind.ExportKeyword || kind === ts.SyntaxKind.DefaultKeyword)
    .map((modifier) => without(modifier.getStart(file), modifier.end));
}

/**
 * Rewrites imports of `lance-catalog`, because this module does not exist where functions run. An import of its `arrow`
 * becomes an import of apache-arrow.
 */
function importEdits(file: ts.SourceFile, statement: ts.ImportDeclaration): Edit[] {
  const { importClause, moduleSpecifier } = statement;
  if (!ts.isStringLiteral(moduleSpecifier) || moduleSpecifier.text !== 'lance-catalog') return [];
  const bindings = importClause?.namedBindings;
  const elements = bindings && ts.isNamedImports(bindings) ? bindings.elements : [];
  const arrow = elements.find((each) => (each.propertyName ?? each.name).text === 'arrow');
  const others = elements.filter(
    (each) => !each.isTypeOnly && !['udf', 'arrow'].includes((each.propertyName ?? each.name).text),
  );
  const kept = [
    ...(arrow ? [`import * as ${arrow.name.text} from 'apache-arrow';`] : []),
    // Types need no import. Imports of other values are kept, so that the bundler reports an error that names
    // `lance-catalog`.
    ...(others.length > 0
      ? [`import { ${others.map((each) => each.getText(file)).join(', ')} } from 'lance-catalog';`]
      : []),
  ];
  return [{ start: statement.getStart(file), end: statement.end, text: kept.join(' ') }];
}

/**
 * Parses a file of functions. The parser recovers from syntax errors by guessing, so a file with any error is refused:
 * the code that would run would not be what the author wrote.
 * @throws JobError FunctionInvalid with the position of the first syntax error
 */
export function parsedFile(path: string, text: string): ts.SourceFile {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const [first] = (file as { parseDiagnostics?: readonly ts.DiagnosticWithLocation[] }).parseDiagnostics ?? [];
  if (!first) return file;
  const { line, character } = file.getLineAndCharacterOfPosition(first.start);
  const said = ts.flattenDiagnosticMessageText(first.messageText, ' ').replace(/\.$/, '');
  throw invalid(
    `${shownPath(path)} can't be compiled: ${said} (line ${line + 1}, column ${character + 1}).`,
    'Fix the code.',
  );
}

/**
 * Reads the function that a TypeScript file exports, as default or by name.
 * @throws JobError FunctionInvalid, FunctionNotPortable
 */
export async function fileFunction(
  source: Extract<FunctionSource, { kind: 'typescript' }>,
  path: string,
  onError: OnError | undefined,
  signal: AbortSignal,
): Promise<ComputedFunction> {
  const shown = shownPath(path);
  const text = await readFile(path, { encoding: 'utf8', signal }).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw invalid(`Can't read "${shown}", the file of the function: ${fileProblem(cause)}.`, 'Check the path.', cause);
  });
  const file = parsedFile(path, text);
  const exported = source.export ?? 'default';
  const found = exportedCall(file, exported);
  if (!found) {
    const what = exported === 'default' ? `${shown} has no default export` : `${shown} exports no "${exported}"`;
    throw invalid(
      `${what} that is a call of udf.`,
      "Write export default udf({ … }, (row) => …), with udf imported from 'lance-catalog'.",
    );
  }
  const [given, fn] = found.call.arguments;
  if (!given || !fn)
    throw invalid(`The udf call in ${shown} lacks its options or its function.`, 'Write udf({ … }, (row) => …).');
  const said = literalOf(given, file);
  const defaults = { name: exported === 'default' ? basename(path).replace(/\.\w+$/, '') : exported };
  const named = {
    ...(source.name !== undefined && { name: source.name }),
    ...(source.version !== undefined && { version: source.version }),
  };
  const options = checkFunctionOptions({ ...defaults, ...asObject(said), ...named, ...(onError && { onError }) });
  const contents = functionModule(file, found.local);
  return typescriptFunction(options, moduleOf(path, contents), text);
}

/**
 * Returns a function of a file that a notebook has imported. Its options are known, because the file has run.
 * @throws JobError FunctionInvalid, FunctionNotPortable
 */
export function functionOfRunning(path: string, options: FunctionOptions): ComputedFunction {
  const text = readFileSync(path, 'utf8');
  const file = parsedFile(path, text);
  const found = namedCall(file, options.name);
  if (found) return typescriptFunction(options, moduleOf(path, functionModule(file, found.local)), text);
  throw invalid(
    `The function "${options.name}" of ${shownPath(path)} is not a top-level constant of the file.`,
    `Write export const … = udf({ name: '${options.name}', … }, (row) => …) at its top level.`,
  );
}

const moduleOf = (path: string, contents: string) => ({
  contents,
  folder: dirname(path),
  name: basename(path),
  isJsx: path.endsWith('x'),
});

const asObject = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {});
