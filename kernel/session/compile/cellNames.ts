import ts from 'typescript-6';

/** Returns the names that a cell declares at its top level and does not export itself, in text order. */
export function declaredNames(file: ts.SourceFile): string[] {
  const names = new Set<string>();
  for (const statement of file.statements) {
    if (isExported(statement)) continue;
    for (const name of namesOf(statement)) names.add(name);
  }
  return [...names];
}

const known = new WeakMap<ts.SourceFile, ReadonlySet<string>>();

/** Returns the names of types and values that a file declares at its top level. */
export function namesIn(file: ts.SourceFile): ReadonlySet<string> {
  const names = known.get(file) ?? new Set(file.statements.flatMap(namesOf));
  known.set(file, names);
  return names;
}

/** Returns the names of types and values that one top-level statement declares. */
export function namesOf(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement)) return listNames(statement.declarationList);
  if (ts.isImportDeclaration(statement)) return importedNames(statement).map(({ local }) => local.text);
  if (ts.isModuleDeclaration(statement))
    return ts.isIdentifier(statement.name) && statement.name.text !== 'global' ? [statement.name.text] : [];
  if (
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isEnumDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isImportEqualsDeclaration(statement)
  )
    return statement.name ? [statement.name.text] : [];
  return hoistedNames(statement);
}

type ImportedName = {
  local: ts.Identifier;
  /** The exported name in the module; `*` for the module itself. */
  imported: string;
  isTypeOnly: boolean;
};

/** Returns the names that an import declaration binds. */
export function importedNames({ importClause }: ts.ImportDeclaration): ImportedName[] {
  if (!importClause) return [];
  const isTypeOnly = importClause.phaseModifier === ts.SyntaxKind.TypeKeyword;
  const names: ImportedName[] = [];
  if (importClause.name) names.push({ local: importClause.name, imported: 'default', isTypeOnly });
  const bindings = importClause.namedBindings;
  if (bindings && ts.isNamespaceImport(bindings)) names.push({ local: bindings.name, imported: '*', isTypeOnly });
  if (bindings && ts.isNamedImports(bindings))
    for (const each of bindings.elements)
      names.push({
        local: each.name,
        imported: (each.propertyName ?? each.name).text,
        isTypeOnly: isTypeOnly || each.isTypeOnly,
      });
  return names;
}

export const boundNames = (name: ts.BindingName): string[] => boundIdentifiers(name).map(({ text }) => text);

export function boundIdentifiers(name: ts.BindingName): ts.Identifier[] {
  if (ts.isIdentifier(name)) return [name];
  return name.elements.flatMap((element) => (ts.isOmittedExpression(element) ? [] : boundIdentifiers(element.name)));
}

/**
 * Whether a `var` in this node belongs to the node and not to the cell. A `var` in a block or a loop belongs to the
 * cell.
 */
export const opensVarScope = (node: ts.Node): boolean =>
  ts.isFunctionLike(node) || ts.isModuleDeclaration(node) || ts.isClassLike(node);

export const isBlockScoped = (list: ts.VariableDeclarationList): boolean =>
  (list.flags & ts.NodeFlags.BlockScoped) !== 0;

/** Whether a statement has nothing to run: `declare …`. */
export const isAmbient = (node: ts.Node): boolean => hasModifier(node, ts.SyntaxKind.DeclareKeyword);
const isExported = (node: ts.Node): boolean => hasModifier(node, ts.SyntaxKind.ExportKeyword);
export const isDefaultExport = (node: ts.Node): boolean => hasModifier(node, ts.SyntaxKind.DefaultKeyword);

function hasModifier(node: ts.Node, kind: ts.SyntaxKind): boolean {
  return ts.canHaveModifiers(node) && (ts.getModifiers(node)?.some((modifier) => modifier.kind === kind) ?? false);
}

const listNames = (list: ts.VariableDeclarationList): string[] =>
  list.declarations.flatMap((declaration) => boundNames(declaration.name));

function hoistedNames(statement: ts.Statement): string[] {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if (opensVarScope(node)) return;
    if (ts.isVariableDeclarationList(node) && !isBlockScoped(node)) names.push(...listNames(node));
    ts.forEachChild(node, visit);
  };
  visit(statement);
  return names;
}

export const isExportModifier = ({ kind }: ts.ModifierLike): boolean =>
  kind === ts.SyntaxKind.ExportKeyword || kind === ts.SyntaxKind.DefaultKeyword;

/**
 * Whether a list is declared by `using` or `await using`. Compares all bits of the flags, because the flags of `using`
 * share bits with the flags of `const` and `let`.
 */
export function isDisposed(list: ts.VariableDeclarationList): boolean {
  const kind: number = list.flags & ts.NodeFlags.BlockScoped;
  const disposed: readonly number[] = [ts.NodeFlags.Using, ts.NodeFlags.AwaitUsing];
  return disposed.includes(kind);
}
