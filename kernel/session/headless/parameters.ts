import ts from 'typescript-6';
import { isCodeCell, newCodeCell, tagsOf, type CodeCell, type Notebook } from './notebookFile.ts';
import { literalType } from './literalType.ts';
import { literal } from './parameterValues.ts';

/** The tags by which programs that run notebooks agree on parameters. */
const parametersTag = 'parameters';
const injectedTag = 'injected-parameters';

/** How a cell declares a name; the type as code, where it is written or plain to see. */
type Declared = { isConstant: boolean; type: string | undefined };

/**
 * Puts values in place of those that the cell tagged `parameters` gives, by a cell below it (or in place of such a cell of
 * an earlier run; without either, at the top).
 * @returns names that the cell of parameters does not declare; all of them where there is no such cell
 */
export function injectParameters(notebook: Notebook, values: ReadonlyMap<string, unknown>): string[] {
  const { cells } = notebook;
  const tagged = (tag: string) => cells.findIndex((cell) => isCodeCell(cell) && tagsOf(cell).includes(tag));
  const before = tagged(parametersTag);
  const earlier = tagged(injectedTag);
  const declared = declaredIn(cells[before]?.source ?? '');
  const injected = newCodeCell(sourceOf(values, declared), [injectedTag]);
  if (earlier >= 0) cells[earlier] = again(injected, cells[earlier]!.id);
  else cells.splice(before + 1, 0, injected);
  return [...values.keys()].filter((name) => !declared.has(name));
}

/** The same cell for whoever compares the results of two runs. */
const again = (cell: CodeCell, id: string): CodeCell => ({ ...cell, id });

function sourceOf(values: ReadonlyMap<string, unknown>, declared: ReadonlyMap<string, Declared>): string {
  const statements = [...values].map(([name, value]) => statement(name, value, declared.get(name)));
  return ['// Parameters', ...statements].join('\n');
}

/**
 * A variable is assigned, so that its type is checked and functions above see the value. A constant is declared anew with
 * its type; where none can be told, by `let`, for `const limit = 5` would be of the type `5`.
 */
function statement(name: string, value: unknown, declared: Declared | undefined): string {
  // JSON has no way to write a small one.
  const isBigint = declared?.type === 'bigint' && Number.isSafeInteger(value);
  const code = literal(isBigint ? BigInt(value as number) : value);
  if (declared && !declared.isConstant) return `${name} = ${code};`;
  return declared?.type === undefined ? `let ${name} = ${code};` : `const ${name}: ${declared.type} = ${code};`;
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
