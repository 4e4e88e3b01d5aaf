import ts from 'typescript-6';
import type { NotebookLanguage } from '#shared/notebookLanguage.ts';
import { isCodeCell, newCodeCell, tagsOf, type CodeCell, type Notebook } from './notebookFile.ts';
import { literalType } from './literalType.ts';
import { literal, type Parameter } from './parameterValues.ts';

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
