import ts from 'typescript-6';
import {
  boundIdentifiers,
  boundNames,
  importedNames,
  isBlockScoped,
  isExportModifier,
  namesIn,
  namesOf,
  opensVarScope,
} from './cellNames.ts';

// The declarations of a cell, as text. Later cells are checked against them. As in tslab, an earlier cell is never
// checked again; only its declarations are read.

/** Whether a name is a value at run time, and whether it is a type. */
type Meaning = { value: boolean; type: boolean };

/** Returns the emitted declarations of a cell without their export modifiers. */
export function ownDeclarations(emitted: string): string {
  const file = ts.createSourceFile('cell.d.ts', emitted, ts.ScriptTarget.Latest, false);
  const kept: string[] = [];
  const hasDefault = file.statements.some(ts.isExportAssignment);
  for (const statement of file.statements) {
    if (ts.isExportDeclaration(statement) || ts.isExportAssignment(statement)) continue;
    // `_default` is the compiler's name for the type of `export default`.
    if (hasDefault && namesOf(statement).includes('_default')) continue;
    kept.push(withoutExport(statement, file));
  }
  return kept.map((text) => `${text}\n`).join('');
}

/**
 * Returns the declarations of earlier cells that the cell does not replace.
 * @param previous all declarations of earlier cells, as text and as files
 */
export function remainingDeclarations(
  checker: ts.TypeChecker,
  cell: ts.SourceFile,
  previous: { text: string; files: readonly ts.SourceFile[] },
): string {
  const replaced = meanings(checker, cell);
  const isAdded = cell.statements.some((each) => ts.isModuleDeclaration(each) && namesOf(each).length === 0);
  const names = [...replaced.keys()];
  if (!isAdded && previous.files.every((file) => !names.some((name) => namesIn(file).has(name)))) return previous.text;
  /** A set, because the additions of a cell to modules occur twice if the cell ran twice, but must be declared once. */
  const kept = new Set<string>();
  /** Names whose type a cell has replaced while their value remains. They are declared as `any`. */
  const loose = new Set<string>();
  for (const file of previous.files) keepOf(file, { checker, replaced, kept, loose });
  for (const name of loose) kept.add(`declare let ${name}: any;`);
  return [...kept].map((text) => `${text}\n`).join('');
}

type Remaining = {
  checker: ts.TypeChecker;
  replaced: ReadonlyMap<string, Meaning>;
  kept: Set<string>;
  loose: Set<string>;
};

function keepOf(file: ts.SourceFile, { checker, replaced, kept, loose }: Remaining): void {
  for (const statement of file.statements) {
    const names = namesOf(statement);
    // A statement without a name is `export {}` or an addition to a module or the globals. `export {}` is dropped here,
    // because it is added again when the text is used.
    if (names.length === 0) {
      if (ts.isModuleDeclaration(statement)) kept.add(statement.getText(file));
    } else if (names.every((name) => !replaced.has(name))) kept.add(statement.getFullText(file).trim());
    else for (const part of partOf(statement, file, checker, replaced, loose)) kept.add(part);
  }
}

function partOf(
  statement: ts.Statement,
  file: ts.SourceFile,
  checker: ts.TypeChecker,
  replaced: ReadonlyMap<string, Meaning>,
  loose: Set<string>,
): string[] {
  const whole = statement.getText(file);
  if (ts.isVariableStatement(statement)) {
    const list = statement.declarationList;
    const kept = list.declarations.filter(({ name }) => !boundNames(name).some((each) => replaced.get(each)?.value));
    const keyword = list.flags & ts.NodeFlags.Const ? 'const' : list.flags & ts.NodeFlags.Let ? 'let' : 'var';
    return kept.map((each) => `declare ${keyword} ${each.getText(file)};`);
  }
  if (ts.isImportDeclaration(statement)) return importPart(statement, file, checker, replaced);
  const [name = ''] = namesOf(statement);
  const by = replaced.get(name) ?? { value: false, type: false };
  if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) return by.type ? [] : [whole];
  if (ts.isFunctionDeclaration(statement)) return by.value ? [] : [whole];
  // A class, an enum or a namespace is both a value and a type; TypeScript can't declare only the value or only the
  // type.
  if (by.type && !by.value) loose.add(name);
  return [];
}

function importPart(
  statement: ts.ImportDeclaration,
  file: ts.SourceFile,
  checker: ts.TypeChecker,
  replaced: ReadonlyMap<string, Meaning>,
): string[] {
  const from = statement.moduleSpecifier.getText(file);
  return importedNames(statement).flatMap(({ local, imported, isTypeOnly }) => {
    const by = replaced.get(local.text);
    if (by) {
      const is = meaningOf(checker, local, isTypeOnly);
      if ((is.value && by.value) || (is.type && by.type)) return [];
    }
    const type = isTypeOnly ? 'type ' : '';
    if (imported === '*') return [`import ${type}* as ${local.text} from ${from};`];
    return [`import ${type}{ ${imported} as ${local.text} } from ${from};`];
  });
}

/** Returns the meanings of the names that a cell declares. */
function meanings(checker: ts.TypeChecker, cell: ts.SourceFile): Map<string, Meaning> {
  const found = new Map<string, Meaning>();
  const add = (name: string, { value, type }: Meaning) => {
    const known = found.get(name);
    found.set(name, { value: value || (known?.value ?? false), type: type || (known?.type ?? false) });
  };
  for (const statement of cell.statements) {
    if (ts.isImportDeclaration(statement)) {
      for (const { local, isTypeOnly } of importedNames(statement))
        add(local.text, meaningOf(checker, local, isTypeOnly));
    } else if (ts.isImportEqualsDeclaration(statement))
      add(statement.name.text, meaningOf(checker, statement.name, statement.isTypeOnly));
    else for (const name of namesOf(statement)) add(name, statementMeaning(statement));
  }
  return found;
}

function statementMeaning(statement: ts.Statement): Meaning {
  if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) return { value: false, type: true };
  const isBoth =
    ts.isClassDeclaration(statement) || ts.isEnumDeclaration(statement) || ts.isModuleDeclaration(statement);
  return { value: true, type: isBoth };
}

function meaningOf(checker: ts.TypeChecker, name: ts.Identifier, isTypeOnly: boolean): Meaning {
  let symbol = checker.getSymbolAtLocation(name);
  if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  // A missing module may export anything, so a name from it counts as a value and a type. A name that is imported as a
  // type only counts as a type.
  if (!symbol || checker.isUnknownSymbol(symbol)) return { value: !isTypeOnly, type: true };
  const type = (symbol.flags & (ts.SymbolFlags.Type | ts.SymbolFlags.Namespace)) !== 0;
  return { value: !isTypeOnly && (symbol.flags & ts.SymbolFlags.Value) !== 0, type };
}

/**
 * Declares each `var` in a block or a loop. Such a `var` is a notebook variable, but the compiler's declarations omit
 * it.
 */
export function hoistedDeclarations(checker: ts.TypeChecker, cell: ts.SourceFile): string {
  const found = new Map<string, string>();
  const visit = (node: ts.Node): void => {
    if (opensVarScope(node)) return;
    if (ts.isVariableDeclarationList(node) && !isBlockScoped(node))
      for (const { name } of node.declarations)
        for (const each of boundIdentifiers(name)) found.set(each.text, typeText(checker, each));
    ts.forEachChild(node, visit);
  };
  for (const statement of cell.statements) if (!ts.isVariableStatement(statement)) visit(statement);
  return [...found].map(([name, type]) => `declare var ${name}: ${type};\n`).join('');
}

const typeText = (checker: ts.TypeChecker, name: ts.Identifier): string =>
  checker.typeToString(checker.getTypeAtLocation(name), undefined, ts.TypeFormatFlags.NoTruncation);

function withoutExport(statement: ts.Statement, file: ts.SourceFile): string {
  const text = statement.getFullText(file).trim();
  if (!ts.canHaveModifiers(statement)) return text;
  const modifiers = ts.getModifiers(statement)?.filter(isExportModifier) ?? [];
  const start = statement.getFullStart() + statement.getFullText(file).indexOf(text);
  return modifiers.reduceRight(
    (rest, modifier) => rest.slice(0, modifier.getStart(file) - start) + rest.slice(modifier.end - start).trimStart(),
    text,
  );
}
